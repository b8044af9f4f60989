import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { encodeEventTopics } from 'viem';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { fuzzFactor } from '../fuzz/seed.ts';
import type { Life } from './life.ts';
import { startLifeWithProcess } from './life-with-process.ts';
import { Payer } from './payer.ts';
import type { ServiceProcess } from './service-process.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
let service: ServiceProcess;
before(async () => {
  ({ life, service } = await startLifeWithProcess());
});
after(() => life.close());

/** Longer than a whole payment takes here, so that the kills hit all of its parts. */
const longestWaitMs = 1_500;
/** Two in `npm test`, ten in `npm run test:deep`. */
const killCount = 2 * fuzzFactor;

/** The orders of all events with one name on both chains, once per event. */
async function ordersIn(eventName: 'Paid' | 'Settled' | 'PaidOut'): Promise<string[]> {
  const abi = [...paymentGatewayAbi, ...payoutVaultAbi];
  const [selector] = encodeEventTopics({ abi, eventName });
  const found: string[] = [];
  for (const { anvil, chain } of [life.ethereum, life.base]) {
    const filter = {
      fromBlock: '0x0',
      toBlock: 'latest',
      address: [chain.gateway, chain.vault],
      topics: [selector],
    };
    const logs = (await anvil.request('eth_getLogs', [filter])) as { topics: string[] }[];
    found.push(...logs.map((log) => log.topics[1] ?? ''));
  }
  return found;
}

// proves W4.18
test('SIGKILL at random points of payments loses nothing and repeats nothing', async (t) => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 100_000_000n);
  const sessions: { sessionId: string; isCrossChain: boolean }[] = [];
  for (let index = 0; index < killCount; index += 1) {
    const isCrossChain = index % 2 === 1;
    const sessionId = await checkout(life, 1_000_000, isCrossChain ? 'base::usdc' : 'ethereum::usdc');
    sessions.push({ sessionId, isCrossChain });
    await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
    const waitMs = Math.floor(systemRandom.fraction() * longestWaitMs);
    t.diagnostic(`kill ${index + 1} comes ${waitMs} ms after the payment was sent`);
    await systemClock.sleep(waitMs);
    await service.kill();
    await service.start();
  }
  for (const { sessionId } of sessions) await life.sessionIn(sessionId, 'completed');

  assert.equal(
    await life.ethereum.balanceOf(token, payer.address),
    100_000_000n - BigInt(killCount) * 1_000_000n,
    'each session was paid once',
  );
  const half = BigInt(killCount / 2);
  assert.equal(await life.ethereum.balanceOf(token, life.merchantWallet), half * 998_000n);
  assert.equal(await life.base.balanceOf(life.base.token('usdc'), life.merchantWallet), half * 994_000n);
  for (const [eventName, count] of [
    ['Paid', killCount],
    ['Settled', killCount],
    ['PaidOut', killCount / 2],
  ] as const) {
    const orders = await ordersIn(eventName);
    assert.equal(orders.length, count, eventName);
    assert.equal(new Set(orders).size, count, eventName);
  }

  for (const { sessionId } of sessions) {
    const events = await life.eventOf(sessionId, 'session.completed');
    assert.deepEqual(
      events.map((event) => `${event.sequence} ${event.type}`),
      [
        '1 session.created',
        '2 session.payment_detected',
        '3 session.paid',
        '4 session.settling',
        '5 session.completed',
      ],
    );
  }
  assert.deepEqual(
    (await ledgerSums(life.database.db)).filter((sum) => sum.total !== 0n),
    [],
  );
  const balances = await ledgerBalances(life.database.db);
  const gateway = balances.find((balance) => balance.account === 'gateway:ethereum');
  assert.equal(gateway?.balance, await life.ethereum.balanceOf(token, life.ethereum.chain.gateway));
});
