import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { statement } from '@florin/pg';
import { reportRestoration, systemClock } from '@florin/server/operator';
import { bookViolations, ordersIn } from '../chaos/chaos-check.ts';
import { mineChain } from '../chaos/chaos-faults.ts';
import { buy, fundBuyers, type Sale } from '../chaos/chaos-payers.ts';
import { type ChaosWorld, startChaosWorld } from '../chaos/chaos-world.ts';
import { type ArchivedPostgres, installRecovery, startArchivedPostgres } from './archived-postgres.ts';

const buyerCount = 4;
const calmMs = 8_000;
const healingMs = 240_000;

const sessionStates = statement({
  name: 'recovery_sessions',
  columns: { session_id: 'text', status: 'text', order_id: 'text' },
  text: 'select session_id, status, order_id from sessions',
});
const stoppedChains = statement({
  name: 'recovery_stopped',
  columns: { reasons: 'text[]' },
  text: 'select array_agg(stopped_reason order by chain_id) as reasons from chain_cursors',
});

const seenTimelines = statement({
  name: 'recovery_timelines',
  columns: { timeline: 'text' },
  text: 'select timeline from database_timeline',
});

let postgres: ArchivedPostgres;
let world: ChaosWorld;

/** Registers the drill as a test: a database is lost under load, and restored to a moment. */
export function drillRecovery(toolName: Parameters<typeof startArchivedPostgres>[0]): void {
  before(async () => {
    installRecovery();
    postgres = await startArchivedPostgres(toolName);
    const none = async () => undefined;
    const { url } = postgres;
    world = await startChaosWorld(async () => ({ url, replicas: 1, crash: none, revive: none, stop: none }));
  });
  after(async () => {
    await world?.close();
    await postgres?.close();
  });
  test(`a lost database is restored to a moment by ${toolName}: what the chains know comes back, and nothing is settled twice`, (t) =>
    loseAndRestore(t, toolName === 'pgbackrest'));
}

async function loseAndRestore(t: TestContext, hasIncrements: boolean): Promise<void> {
  const seconds = (ms: number) => Math.round(ms / 100) / 10;
  const mining = new AbortController();
  const chains = world.chains.map((chain) => mineChain(chain, mining.signal));
  const buyers = await fundBuyers(world, buyerCount);
  const [ending, givingUp] = [new AbortController(), new AbortController()];
  const sales: Sale[] = [];
  const payers = buyers.map((buyer) =>
    buy(world, buyer, sales, { ending: ending.signal, givingUp: givingUp.signal }),
  );
  await untilLooked();
  await systemClock.sleep(calmMs);
  t.diagnostic(`full backup under load: ${JSON.stringify(await postgres.backUp('full'))}`);
  await systemClock.sleep(calmMs);
  if (hasIncrements)
    t.diagnostic(`incremental backup under load: ${JSON.stringify(await postgres.backUp('incr'))}`);
  await systemClock.sleep(calmMs);
  // Acknowledged before the moment: on a slow machine others are while the database is asked for it.
  const known = sales.map(({ sessionId }) => sessionId);
  // The moment before the mistake, by the database's clock.
  const [clock] = await postgres.ask('select clock_timestamp() as now');
  const moment = clock?.['now'] as Date;
  // Each buyer may wait for the answer to a request of before.
  const mostBefore = sales.length + buyerCount;
  await systemClock.sleep(calmMs);
  await until('nothing was sold after the moment', async () => sales.length > mostBefore);
  ending.abort();
  await Promise.all(payers);
  // The last segment of WAL is archived, as `archive_timeout` does it.
  await postgres.ask('select pg_switch_wal()');
  await systemClock.sleep(calmMs);
  await Promise.all(world.members.map((member) => member.process.kill()));
  await postgres.destroy();

  const start = performance.now();
  await postgres.restoreTo(moment);
  t.diagnostic(`restored to the moment in ${seconds(performance.now() - start)} s`);
  const restarted = performance.now();
  await Promise.all(world.members.map((member) => member.process.start()));
  await untilNoticed();
  await untilReleased();
  t.diagnostic(
    `settlement was released ${seconds(performance.now() - restarted)} s after the service's start`,
  );
  await untilCompleted();
  t.diagnostic(`everything known was completed after ${seconds(performance.now() - restarted)} s`);
  mining.abort();
  await Promise.all([...chains, ...world.members.map((member) => member.process.stop())]);

  const stored = new Map((await world.db.query(sessionStates)).map((row) => [row.session_id, row]));
  assert.deepEqual(
    known.filter((sessionId) => !stored.has(sessionId)),
    [],
    'all of the moment are there',
  );
  const lost = sales.filter(({ sessionId }) => !stored.has(sessionId));
  const paid = await ordersIn(world, 'Paid');
  const settled = await ordersIn(world, 'Settled');
  assert.equal(new Set(settled).size, settled.length, 'nothing is settled twice');
  const orders = new Set([...stored.values()].map((row) => row.order_id));
  const foreign = paid.filter((orderId) => !orders.has(orderId));
  const report = await reportRestoration(world.db);
  assert.deepEqual(report?.unmatched.map(({ orderId }) => orderId).sort(), foreign.sort());
  assert.ok(report !== undefined && Math.abs(report.takenAt.getTime() - moment.getTime()) < 5_000);
  assert.deepEqual(await bookViolations(world), []);
  t.diagnostic(
    `${sales.length} sessions, of which ${lost.length} were lost with the ${calmMs / 1_000} s after the moment; ` +
      `${foreign.length} payments of them are in the report`,
  );
  assert.ok(lost.length > 0, 'the moment was before the end');
}

/** On a slow machine the worker starts late. A restore to a moment before its first look at the database changes nothing for it. */
async function untilLooked(): Promise<void> {
  await until('no worker has started', async () => (await world.db.query(seenTimelines)).length > 0);
}

/** The transaction that notes a restore stops all chains. On a slow machine some are released before every process has started. */
async function untilNoticed(): Promise<void> {
  await until('the restore was not noticed', async () => (await reportRestoration(world.db)) !== undefined);
}

async function untilReleased(): Promise<void> {
  await until('settlement was not released', async () => {
    const [row] = await world.db.query(stoppedChains);
    return row?.reasons?.every((reason) => reason === '') === true;
  });
}

/** Every payment whose session is there is completed. */
async function untilCompleted(): Promise<void> {
  await until('payments are open', async () => {
    const paid = new Set(await ordersIn(world, 'Paid'));
    const rows = await world.db.query(sessionStates);
    return rows.every((row) => !paid.has(row.order_id) || row.status === 'completed');
  });
}

async function until(problem: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + healingMs;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > end)
      throw new Error(`${problem}: ${world.members.map(({ process }) => process.output).join('\n')}`);
    await systemClock.sleep(200);
  }
}
