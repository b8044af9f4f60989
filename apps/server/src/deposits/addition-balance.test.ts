import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rpc } from '@florin/evm';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { decodeFunctionData, erc20Abi, pad, toHex } from 'viem';
import type { Log } from '#telemetry/log.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { depositPolicy } from '../../test/harness/deposit-moves.ts';
import { readAdditionBalances, reportAdditions } from './addition-balance.ts';

const settlers = [`0x${'51'.repeat(20)}`, `0x${'52'.repeat(20)}`] as const;
const holdings = new Map<string, bigint>();

/** A node that knows only balances. */
const rpc: Rpc = {
  request: async () => {
    throw new Error('nothing else is asked');
  },
  async batch(calls) {
    return calls.map(({ params }) => {
      const { to, data } = params[0] as { to: Hex; data: Hex };
      const { args } = decodeFunctionData({ abi: erc20Abi, data });
      const held = holdings.get(`${to} ${String(args[0])}`.toLowerCase()) ?? 0n;
      return { result: pad(toHex(held)) };
    });
  },
};

const [chain] = fixtureChains.all;
assert.ok(chain !== undefined);
const [usdc, usdt] = chain.tokens;
assert.ok(usdc !== undefined && usdt !== undefined);
const hold = (token: Hex, settler: Hex, amount: bigint) =>
  holdings.set(`${token} ${settler}`.toLowerCase(), amount);

test('an operator who adds nothing needs no tokens', async () => {
  assert.deepEqual(await readAdditionBalances(rpc, chain, settlers, undefined), []);
  assert.deepEqual(await readAdditionBalances(rpc, chain, settlers, depositPolicy), []);
});

test('settlers together should hold a day’s additions of each token, and a shortage is logged once', async () => {
  const logged: unknown[] = [];
  const log: Log = {
    info: (event, fields) => void logged.push([event, fields?.['token']]),
    warn: () => assert.fail(),
    error: (event, _error, fields) => void logged.push([event, fields?.['token']]),
  };
  const policy = { ...depositPolicy, addedAboveFee: microUsd(1n) };
  const read = () => readAdditionBalances(rpc, chain, settlers, policy);
  hold(usdc.address, settlers[0], 60_000_000n);
  hold(usdc.address, settlers[1], 40_000_000n);
  hold(usdt.address, settlers[1], 99_999_999n);
  assert.deepEqual(await read(), [
    { token: usdc, balance: 100_000_000n, needed: 100_000_000n },
    { token: usdt, balance: 99_999_999n, needed: 100_000_000n },
  ]);
  const low = new Set<string>();
  const check = async () => reportAdditions(log, await read(), low);
  await check();
  await check();
  hold(usdt.address, settlers[0], 1n);
  await check();
  assert.deepEqual(logged, [
    ['deposits.additions_low', 'ethereum::usdt'],
    ['deposits.additions_enough', 'ethereum::usdt'],
  ]);
});
