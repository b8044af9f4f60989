import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SettlementToken, WalletChange } from './types.ts';
import {
  byNetwork,
  delayText,
  heldAddresses,
  isProvenWallet,
  sumOnItsWay,
  tokenNames,
} from './wallet-words.ts';

const token = (network: string, symbol: string): SettlementToken => ({
  tokenId: `${network}::${symbol}`.toLowerCase(),
  ...{ symbol, network, decimals: 6, address: '0x', chainId: '1', explorer: '', closedReason: '' as const },
});
const tokens = [token('Base', 'USDC'), token('Polygon', 'USDC'), token('Base', 'EURC')];

const change = (fields: Partial<WalletChange>): WalletChange => ({
  ...{ changeId: 'acg_1', kind: 'add', status: 'done', accountName: 'Till', accountAddress: '0xA' },
  previousAddress: '',
  ...{ settlementCurrencies: [], settlementMode: '', isProven: true, accountId: 'acc_1' },
  ...{ effectiveAt: '', createAt: '', requestedBy: '', ...fields },
});
const account = { accountId: 'acc_1', accountAddress: '0xA' };

test('tokens stand together with their network, in the order of the list', () => {
  assert.deepEqual(
    byNetwork(tokens).map(({ network, tokens: own }) => [network, own.map(({ symbol }) => symbol)]),
    [
      ['Base', ['USDC', 'EURC']],
      ['Polygon', ['USDC']],
    ],
  );
});

test('a token that the installation no longer has is named by its id', () => {
  assert.deepEqual(tokenNames(['base::usdc', 'old::usdc'], tokens), ['USDC on Base', 'old::usdc']);
});

test('the change that gave the account its address tells whether the wallet is proven', () => {
  assert.equal(isProvenWallet(account, [change({})]), true);
  assert.equal(isProvenWallet(account, [change({ isProven: false })]), false);
});

test('a change that waits, or that gave another address, proves nothing', () => {
  assert.equal(isProvenWallet(account, [change({ status: 'waiting' })]), undefined);
  assert.equal(isProvenWallet(account, [change({ accountAddress: '0xB' })]), undefined);
  assert.equal(isProvenWallet(account, [change({ accountId: 'acc_2' })]), undefined);
});

test('a wallet lists each address that it had with its time, the first included', () => {
  const moved = (accountAddress: string, previousAddress: string, effectiveAt: string) =>
    change({ kind: 'address', accountAddress, previousAddress, effectiveAt });
  const changes = [moved('0xC', '0xB', '2030-03-01 00:00:00'), moved('0xB', '0xA', '2030-02-01 00:00:00')];
  const now = { accountId: 'acc_1', accountAddress: '0xC', createAt: '2030-01-01 00:00:00' };
  const others = [
    change({ kind: 'address', accountId: 'acc_2', previousAddress: '0xE' }),
    change({ kind: 'address', status: 'cancelled', accountAddress: '0xF', previousAddress: '0xC' }),
  ];
  assert.deepEqual(heldAddresses(now, [...changes, ...others]), [
    { address: '0xC', from: '2030-03-01 00:00:00', to: '' },
    { address: '0xB', from: '2030-02-01 00:00:00', to: '2030-03-01 00:00:00' },
    { address: '0xA', from: '2030-01-01 00:00:00', to: '2030-02-01 00:00:00' },
  ]);
  assert.deepEqual(heldAddresses(now, []), [{ address: '0xC', from: now.createAt, to: '' }]);
});

test('a delay is told in the largest unit that fits', () => {
  const texts = [86_400, 129_600, 5_400, 45].map((seconds) => delayText(seconds));
  assert.deepEqual(texts, ['1 day', '36 hours', '90 minutes', '45 seconds']);
});

test('what is on its way to a wallet is summed over tokens and states', () => {
  const row = (accountId: string, netValue: string) => ({ accountId, netValue });
  const rows = [row('acc_1', '9007199254740993'), row('acc_2', '5'), row('acc_1', '1')];
  assert.equal(sumOnItsWay(rows, 'acc_1'), 9_007_199_254_740_994n);
  assert.equal(sumOnItsWay(rows, 'acc_3'), 0n);
});
