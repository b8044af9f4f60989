import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { erc20Abi, paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeFunctionData } from 'viem';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { verifyLedger } from '#ledger/seal.ts';
import { acceptDifferences, releaseStopped } from '#reconcile/reconcile.ts';
import type { BooksStatus, ChainStatus } from '#reconcile/status.ts';
import { jsonLog } from '#telemetry/log.ts';
import { startService } from '../../src/service/service.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { addresses } from './roles.ts';
import { checkout } from './story-fixture.ts';

const entriesByKind = statement({
  name: 'books_story_kinds',
  columns: { kind: 'text', entries: 'int8' },
  text: `select kind, count(*) as entries from ledger_entries where chain_id = 31337 group by kind order by kind`,
});

const alarms: string[] = [];
let life: Life;
before(async () => {
  life = await Life.start((options) => {
    const log = jsonLog('silent');
    const error = (event: string, cause: unknown, fields?: Parameters<typeof log.error>[2]) => {
      alarms.push(event);
      log.error(event, cause, fields);
    };
    return startService({ ...options, log: { ...log, error }, reconcileIntervalMs: 150 });
  });
  life.mine();
});
after(() => life.close());

async function status(): Promise<BooksStatus> {
  return (await (await fetch(`${life.options.origin}/status`)).json()) as BooksStatus;
}

function ethereumIn({ chains }: BooksStatus): ChainStatus | undefined {
  return chains.find(({ chain }) => chain === 'ethereum');
}

async function head(): Promise<bigint> {
  return BigInt((await life.ethereum.anvil.request('eth_blockNumber')) as Hex);
}

/** Waits for a comparison of books and chain at a block that is newer than this call. */
async function reconciled(): Promise<BooksStatus> {
  const from = await head();
  return life.eventually(
    status,
    (all) => BigInt(ethereumIn(all)?.reconciledBlock ?? '0') > from && all.isBalanced,
    'the books to agree',
  );
}

async function pay(token = life.ethereum.token('usdc'), settlementToken = 'ethereum::usdc'): Promise<string> {
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  const sessionId = await checkout(life, 1_000_000, settlementToken);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  return sessionId;
}

/** Sends a call from any address without its key; returns the transaction's hash. */
async function callAs(from: Hex, to: Hex, data: Hex): Promise<string> {
  const { anvil } = life.ethereum;
  await anvil.request('anvil_setBalance', [from, '0x56bc75e2d63100000']);
  await anvil.request('anvil_impersonateAccount', [from]);
  const hash = await anvil.request('eth_sendTransaction', [{ from, to, data, gas: '0x7a120' }]);
  await anvil.request('anvil_stopImpersonatingAccount', [from]);
  return String(hash);
}

/** The block of a transaction, once it is mined. */
async function blockOf(hash: string): Promise<bigint> {
  const receipt = await life.eventually(
    () => life.ethereum.anvil.request('eth_getTransactionReceipt', [hash]),
    (found) => found !== null,
    `the receipt of ${hash}`,
  );
  return BigInt((receipt as { blockNumber: Hex }).blockNumber);
}

function transferData(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
}

test('every movement on the chains has an entry, and the books equal the chains to the last unit', async () => {
  const token = life.ethereum.token('usdc');
  const { gateway, vault } = life.ethereum.chain;
  await life.sessionIn(await pay(), 'completed');
  await life.sessionIn(await pay(token, 'base::usdc'), 'completed');
  const stranger = new Payer(life);
  await stranger.fund(life.ethereum, token, 1_000n);
  await callAs(stranger.address, token.address, transferData(gateway, 300n));
  await callAs(stranger.address, token.address, transferData(vault, 500n));
  await life.ethereum.call(vault, 'PayoutVault', 'withdraw', [token.address, stranger.address, 70n]);
  const withdrawal = { abi: paymentGatewayAbi, functionName: 'withdrawFees', args: [token.address] } as const;
  await callAs(stranger.address, gateway, encodeFunctionData(withdrawal));
  const all = await reconciled();
  assert.deepEqual(
    all.chains.flatMap(({ balances }) => balances).filter(({ difference }) => difference !== '0'),
    [],
  );
  const { db } = life.database;
  const kinds = await db.query(entriesByKind);
  assert.deepEqual(
    kinds.filter(({ kind }) => kind !== 'float_deposit'),
    [
      { kind: 'fee_withdrawal', entries: 1n },
      { kind: 'float_withdrawal', entries: 1n },
      { kind: 'payment', entries: 2n },
      { kind: 'settlement', entries: 2n },
      { kind: 'unmatched', entries: 1n },
    ],
  );
  const balances = await ledgerBalances(db);
  const of = (account: string) =>
    balances.find((balance) => balance.account === account && balance.asset === 'ethereum::usdc')?.balance ??
    0n;
  assert.equal(of('unmatched'), -300n);
  assert.equal(of('fees'), -1n, 'all but one unit was withdrawn');
  assert.equal(of('fees:due'), 0n);
  assert.equal(await life.ethereum.balanceOf(token, addresses.feeRecipient), 2_000n + 6_000n - 1n);
  assert.deepEqual(
    (await ledgerSums(db)).filter(({ total }) => total !== 0n),
    [],
  );
});

test('the public status is JSON for programs, a page for people and metrics for monitoring', async () => {
  await reconciled();
  const page = await fetch(`${life.options.origin}/status`, { headers: { accept: 'text/html' } });
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  assert.match(await page.text(), /The books agree with every chain\./);
  const metrics = await (await fetch(`${life.options.origin}/status/metrics`)).text();
  assert.match(
    metrics,
    /^florin_ledger_minus_chain\{chain="ethereum",holder="gateway",token="ethereum::usdc"\} 0$/m,
  );
  assert.match(metrics, /^florin_settlement_stopped\{chain="base"\} 0$/m);
});

test('tokens that leave a contract in any other way raise an alarm within two checks, which stops settlement but not watching', async () => {
  const token = life.ethereum.token('usdc');
  assert.deepEqual(alarms, []);
  // The contract's code cannot do this, but a token with a bug can.
  const moved = await callAs(
    life.ethereum.chain.gateway,
    token.address,
    transferData(addresses.feeRecipient, 100n),
  );
  const stopped = await life.eventually(
    status,
    (all) => ethereumIn(all)?.settlement === 'stopped',
    'settlement to stop',
  );
  assert.equal(ethereumIn(stopped)?.reason, 'drift');
  assert.equal(stopped.isBalanced, false);
  assert.deepEqual(
    ethereumIn(stopped)
      ?.balances.filter(({ difference }) => difference !== '0')
      .map((found) => found.difference),
    ['100'],
  );
  assert.ok(
    BigInt(ethereumIn(stopped)?.reconciledBlock ?? '0') < (await blockOf(moved)),
    'the agreed block stays behind',
  );
  assert.deepEqual(alarms.slice(0, 2), ['reconcile.drift', 'reconcile.drift']);

  const sessionId = await pay();
  await life.sessionIn(sessionId, 'paid');
  const looked = ethereumIn(await status())?.lookedAt;
  await life.eventually(status, (all) => ethereumIn(all)?.lookedAt !== looked, 'another look');
  assert.equal((await life.session(sessionId)).session.status, 'paid');

  await acceptDifferences(life.database.db, life.ethereum.chain.chainId);
  assert.equal(await releaseStopped(life.database.db, life.ethereum.chain.chainId), 'drift');
  await life.sessionIn(sessionId, 'completed');
  await reconciled();
});

test('balances that a token changes without an event raise an alarm, too', deepOnly, async () => {
  const token = life.ethereum.token('usdt');
  await reconciled();
  const { gateway } = life.ethereum.chain;
  await life.ethereum.dealTo(token, gateway, 77n);
  const stopped = await life.eventually(
    status,
    (all) => ethereumIn(all)?.settlement === 'stopped',
    'settlement to stop',
  );
  assert.deepEqual(
    ethereumIn(stopped)?.balances.filter(({ difference }) => difference !== '0'),
    ethereumIn(stopped)?.balances.filter(
      ({ holder, token: asset }) => holder === 'gateway' && asset === 'ethereum::usdt',
    ),
  );
  await acceptDifferences(life.database.db, life.ethereum.chain.chainId);
  await releaseStopped(life.database.db, life.ethereum.chain.chainId);
  await reconciled();
});

test('the seals of all entries verify', async () => {
  const proof = await life.eventually(
    () => verifyLedger(life.database.db),
    ({ unsealed }) => unsealed === 0n,
    'every entry to be sealed',
  );
  assert.deepEqual(proof.problems, []);
});
