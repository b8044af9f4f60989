import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { systemClock } from '@florin/server/operator';
import { findViolations, settleDown } from '../chaos/chaos-check.ts';
import { mineChain } from '../chaos/chaos-faults.ts';
import { buy, fundBuyers, type Sale } from '../chaos/chaos-payers.ts';
import { type ChaosWorld, startChaosWorld } from '../chaos/chaos-world.ts';
import { type Cluster, type ClusterNode, installCluster, startCluster } from './cluster.ts';
import { type Cost, costOf, loadOf, nextPromotion } from './load.ts';

/** The time that the service may take once a primary takes writes. */
const beyondLimitSeconds = 5;
/** Patroni's ttl of 20 s, and what a promotion takes: in-flight requests outlast a failover. */
const waitSeconds = 28;
const buyerCount = 4;
const calmMs = 6_000;
const healingMs = 300_000;

const sessionCount = statement({
  name: 'failover_sessions',
  columns: { sessions: 'int8' },
  text: 'select count(*) as sessions from sessions',
});

let cluster: Cluster;
let world: ChaosWorld;
before(async () => {
  installCluster();
  cluster = await startCluster();
  const none = async () => undefined;
  const { url } = cluster;
  world = await startChaosWorld(async () => ({
    url,
    waitSeconds,
    replicas: 1,
    crash: none,
    revive: none,
    stop: none,
  }));
});
after(async () => {
  await world?.close();
  await cluster?.close();
});

const completedCount = statement({
  name: 'failover_completed',
  columns: { sessions: 'int8' },
  text: "select count(*) as sessions from sessions where status = 'completed'",
});

/** Only web answers requests, so that its start can be waited for. A payment is completed when each role has started. */
async function untilEachRoleWorks(): Promise<void> {
  for (const end = performance.now() + healingMs; performance.now() < end; await systemClock.sleep(200)) {
    const [row] = await world.db.query(completedCount);
    if (row !== undefined && row.sessions > 0n) return;
  }
  throw new Error('no payment was completed');
}

interface Fault {
  readonly name: string;
  strike(primary: ClusterNode): Promise<void> | void;
  mend(primary: ClusterNode): void;
  /** Requests that may fail: those whose statement was on its way. */
  readonly mayFail: number;
}

const faults: readonly Fault[] = [
  {
    name: 'the power of the primary is cut',
    strike: (primary) => cluster.cutPower(primary),
    mend: (primary) => cluster.returnPower(primary),
    mayFail: 40,
  },
  {
    name: 'the postmaster is killed, and Patroni starts it again',
    strike: (primary) => cluster.killPostmaster(primary),
    mend: () => {},
    mayFail: 40,
  },
  {
    name: 'a planned switchover',
    strike: (primary) => cluster.switchOver(primary),
    mend: () => {},
    mayFail: 40,
  },
];

test('no session and no payment is lost or stored twice by a failover, and every role recovers by itself', async (t) => {
  const buyers = await fundBuyers(world, buyerCount);
  const [shopping, mining, loading] = [new AbortController(), new AbortController(), new AbortController()];
  const chains = world.chains.map((chain) => mineChain(chain, mining.signal));
  const sales: Sale[] = [];
  const givingUp = new AbortController();
  // A failed drill must not go on, or its process never ends.
  t.after(() => {
    for (const each of [shopping, mining, loading, givingUp]) each.abort();
  });
  const payers = buyers.map((buyer) =>
    buy(world, buyer, sales, { ending: shopping.signal, givingUp: givingUp.signal }),
  );
  const load = loadOf(world);
  const clients = load.run(loading.signal);
  await untilEachRoleWorks();
  for (const fault of faults) {
    await systemClock.sleep(calmMs);
    const cost = await costOfFault(fault, load.requests);
    t.diagnostic(`${fault.name}: ${JSON.stringify(cost)}`);
    assert.ok(cost.beyondSeconds <= beyondLimitSeconds, `${fault.name}: ${cost.beyondSeconds} s beyond`);
    if (cost.failed > fault.mayFail)
      for (const { name, process } of world.members)
        t.diagnostic(`the last output of ${name}:\n${process.output}`);
    assert.ok(cost.failed <= fault.mayFail, `${fault.name}: ${cost.failed} requests failed`);
  }
  loading.abort();
  await clients;
  // What failed was stored or was not. Repeated with its key, each request has one session.
  const sessions = new Set<string>();
  for (const { sessionId, repeat } of load.requests) sessions.add(sessionId ?? (await repeat()));
  assert.equal(sessions.size, load.requests.length);
  shopping.abort();
  const patience = systemClock.sleep(healingMs, givingUp.signal).then(() => givingUp.abort());
  await Promise.all(payers);
  givingUp.abort();
  await patience;
  const left = await settleDown(world, healingMs);
  mining.abort();
  await Promise.all(chains);
  const ended = world.members.filter(({ process }) => !process.isAlive());
  for (const { name, process } of ended) t.diagnostic(`the last output of ${name}:\n${process.output}`);
  assert.deepEqual(
    ended.map(({ name }) => name),
    [],
    'every process went on',
  );
  await Promise.all(world.members.map((member) => member.process.stop()));
  const [stored] = await world.db.query(sessionCount);
  assert.equal(
    Number(stored?.sessions),
    new Set([...sessions, ...sales.map(({ sessionId }) => sessionId)]).size,
  );
  const loaded = [...sessions].map((sessionId) => ({
    sessionId,
    settlementToken: '',
    payChain: '',
    orderId: '',
  }));
  const violations = [...left, ...(await findViolations(world, [...sales, ...loaded]))];
  if (violations.length > 0)
    for (const { name, process } of world.members)
      t.diagnostic(`the last output of ${name}:\n${process.output}`);
  assert.deepEqual(violations, []);
  const paid = sales.filter(({ orderId }) => orderId !== '').length;
  t.diagnostic(`${stored?.sessions} sessions stored, ${paid} payments`);
  assert.ok(paid > 0, 'payments were made');
});

async function costOfFault(fault: Fault, requests: Parameters<typeof costOf>[0]): Promise<Cost> {
  const primary = await cluster.untilWhole();
  const promotion = nextPromotion(cluster, primary);
  const at = performance.now();
  await fault.strike(primary);
  const { at: promotedAt } = await promotion;
  await systemClock.sleep(calmMs);
  const until = performance.now();
  fault.mend(primary);
  await cluster.untilWhole();
  return costOf(requests, { at, promotedAt, until });
}
