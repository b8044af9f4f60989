import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import { partOf } from './delivery-part.ts';
import { emit } from './event.ts';
import { continueSweep } from './housekeeping.ts';
import { ordinalBefore, sweepStep } from './sweep.sql.ts';
import {
  addWebhook,
  newOwner,
  openOutboxWorld,
  selectDeliveries,
  systemRandom,
  testOutbox,
} from './test-world.ts';
import { disableWebhook, enableWebhook, lockQueuesOf, removeWebhook } from './webhook.ts';

const database = await openOutboxWorld();
after(() => database.close());
const { db } = database;
const deps = testOutbox();
const worker = database.worker();
const start = new Date(Math.floor(Date.now() / 1000) * 1000 - 86_400_000);

const parkAll = statement({
  name: 'fixture_park_all',
  parameters: { webhookId: 'text' },
  text: `update deliveries set next_attempt_at = null where webhook_id = :webhookId and status = 'pending'`,
});
const countOpenSweeps = statement({
  name: 'fixture_count_sweeps',
  parameters: { webhookId: 'text' },
  columns: { open: 'int4' },
  text: 'select count(*)::int as open from delivery_sweeps where webhook_id = :webhookId',
});
const firstSince = statement({
  name: 'fixture_first_since',
  parameters: { webhookId: 'text', createdAt: 'timestamptz' },
  columns: { first: 'int8?', earlier: 'int8?' },
  text: `select min(ordinal) filter (where created_at >= :createdAt) as first, max(ordinal) filter (where created_at < :createdAt) as earlier
   from deliveries where webhook_id = :webhookId`,
});
const addDeliveries = statement({
  name: 'fixture_add_deliveries',
  parameters: { merchantId: 'text', webhookId: 'text', objectId: 'text', createdAts: 'timestamptz[]' },
  text: `with times as (select * from unnest(:createdAts::timestamptz[]) with ordinality as times (created_at, place)),
   event as (
     insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
     select 'evt_' || :objectId || '-' || place, :merchantId, 'thing.created', :objectId, place, '{}', created_at from times order by place
     returning event_id, sequence
   )
   insert into deliveries
     (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, created_at)
   select 'dlv_' || :objectId || '-' || place, 'evt_' || :objectId || '-' || place, :webhookId, :merchantId, :objectId, place, 'skipped', created_at
   from times order by place`,
});

const selectParts = statement({
  name: 'fixture_parts_of_owners',
  parameters: { ownerIds: 'text[]' },
  columns: { owner_id: 'text', part: 'int8' },
  text: `select owner_id, ${partOf('owner_id')} as part
   from unnest(:ownerIds::text[]) with ordinality as owners (owner_id, place) order by place`,
});

interface Target {
  readonly ownerId: string;
  readonly webhookId: string;
}

const inTransaction = db.transaction;
const disable = (target: Target) => inTransaction((transaction) => disableWebhook(transaction, deps, target));
const remove = (target: Target) => inTransaction((transaction) => removeWebhook(transaction, deps, target));
const enable = (target: Target, replaySince?: Date) =>
  inTransaction((transaction) => enableWebhook(transaction, deps, { ...target, replaySince }));
const continueAfter = (previous: bigint) => continueSweep(worker, previous);

async function target(): Promise<Target> {
  const ownerId = newOwner();
  const { webhookId } = await addWebhook(db, ownerId);
  return { ownerId, webhookId };
}

const partsOf = (hooks: readonly Target[]) =>
  db.query(selectParts, { ownerIds: hooks.map(({ ownerId }) => ownerId) });

/** Raises events, two of each object, one second apart. */
async function raise({ ownerId }: Target, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    ownerId,
    type: 'order.paid' as const,
    objectId: `${ownerId}-${index % Math.ceil(count / 2)}`,
    dataJson: '{}',
    at: new Date(start.getTime() + index * 1000),
  }));
  await inTransaction((transaction) => emit(transaction, systemRandom, events));
}

async function tally({ ownerId, webhookId }: Target): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const row of await db.query(selectDeliveries, { merchantId: ownerId })) {
    if (row.webhook_id !== webhookId) continue;
    const key = row.status === 'pending' && row.next_attempt_at === null ? 'paused' : row.status;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

async function openSweeps({ webhookId }: Target): Promise<number> {
  return (await db.query(countOpenSweeps, { webhookId }))[0]?.open ?? -1;
}

/** Continues until no sweep is left, and returns the number of steps. */
async function finishAll(): Promise<number> {
  let last: bigint | undefined = await continueAfter(0n);
  let steps = 0;
  for (; last !== undefined; steps += 1) last = await continueAfter(last);
  return steps;
}

test('a long replay takes several steps, oldest first, and is complete', async () => {
  const hook = await target();
  await disable(hook);
  await raise(hook, 2 * sweepStep + 10);
  await enable(hook, start);
  assert.deepEqual(await tally(hook), { pending: sweepStep, skipped: sweepStep + 10 });
  const rows = await db.query(selectDeliveries, { merchantId: hook.ownerId });
  assert.equal(
    rows.slice(0, sweepStep).every((row) => row.status === 'pending'),
    true,
  );
  assert.equal(await finishAll(), 2);
  assert.deepEqual(await tally(hook), { pending: 2 * sweepStep + 10 });
  assert.equal(await openSweeps(hook), 0);
});

// proves W6.30
test('a replay does not send events from before its time', async () => {
  const hook = await target();
  await disable(hook);
  await raise(hook, 1500);
  await enable(hook, new Date(start.getTime() + 1400 * 1000));
  await finishAll();
  assert.deepEqual(await tally(hook), { pending: 100, skipped: 1400 });
});

test('paused deliveries are resumed in steps, and stay paused if the webhook is disabled meanwhile', async () => {
  const hook = await target();
  await raise(hook, 2 * sweepStep + 10);
  await disable(hook);
  await db.query(parkAll, { webhookId: hook.webhookId });
  await enable(hook);
  assert.deepEqual(await tally(hook), { pending: sweepStep, paused: sweepStep + 10 });
  await disable(hook);
  assert.equal(await finishAll(), 1);
  assert.deepEqual(await tally(hook), { paused: 2 * sweepStep + 10 });
  await enable(hook);
  await enable(hook, new Date(start.getTime() + 86_400_000));
  assert.equal(await finishAll(), 2);
  assert.deepEqual(await tally(hook), { pending: 2 * sweepStep + 10 });
});

test('pending deliveries of a removed webhook are skipped, even during other sweeps', async () => {
  const hook = await target();
  await raise(hook, 2 * sweepStep + 10);
  await disable(hook);
  await db.query(parkAll, { webhookId: hook.webhookId });
  await enable(hook, start);
  await remove(hook);
  assert.equal(await openSweeps(hook), 1);
  await finishAll();
  assert.deepEqual(await tally(hook), { skipped: 2 * sweepStep + 10 });
});

test('sweeps of several webhooks take turns', async () => {
  const hooks = [await target(), await target()];
  for (const hook of hooks) {
    await disable(hook);
    await raise(hook, 2 * sweepStep + 10);
    await enable(hook, start);
  }
  const first = await continueAfter(0n);
  const second = await continueAfter(first ?? 0n);
  assert.notEqual(second, first);
  assert.equal(await continueAfter(second ?? 0n), first);
  await finishAll();
  for (const hook of hooks) assert.deepEqual(await tally(hook), { pending: 2 * sweepStep + 10 });
});

test('a locked owner stops neither a look for sweeps nor those of owners in other parts', async () => {
  const hooks = await Promise.all(Array.from({ length: 30 }, target));
  const [locked] = hooks;
  assert.ok(locked !== undefined);
  await inTransaction(async (transaction) => {
    await lockQueuesOf(transaction, locked.ownerId);
    assert.equal(await continueAfter(0n), undefined);
  });
  const free = (await partsOf(hooks)).find(({ part }, _, [first]) => part !== first?.part);
  const other = hooks.find(({ ownerId }) => ownerId === free?.owner_id);
  assert.ok(other !== undefined);
  for (const hook of [locked, other]) {
    await disable(hook);
    await raise(hook, sweepStep + 10);
    await enable(hook, start);
  }
  const failures: string[] = [];
  const patient = { ...worker, log: { error: (event: string) => failures.push(event) } };
  await inTransaction(async (transaction) => {
    await lockQueuesOf(transaction, locked.ownerId);
    const first = await continueSweep(patient, 0n);
    assert.deepEqual([failures, await openSweeps(locked)], [['webhooks.sweep_failed'], 1]);
    await continueSweep(patient, first ?? 0n);
    assert.deepEqual([failures.length, await openSweeps(other)], [1, 0]);
  });
  await finishAll();
  for (const hook of [locked, other]) assert.deepEqual(await tally(hook), { pending: sweepStep + 10 });
});

test('binary search finds the first delivery of a time, with gaps and equal times', async () => {
  const hook = await target();
  const other = await target();
  for (let round = 0; round < 20; round += 1) {
    const [place] = systemRandom.bytes(1);
    const size = 1 + ((place ?? 0) % 7);
    // Ordinals of other webhooks leave gaps.
    const { ownerId, webhookId } = round % 3 === 2 ? other : hook;
    const times = Array.from(
      { length: size },
      () => new Date(start.getTime() + Math.floor(round / 2) * 1000),
    );
    await db.query(addDeliveries, {
      merchantId: ownerId,
      webhookId,
      objectId: `${webhookId}-${round}`,
      createdAts: times,
    });
  }
  for (let second = -1; second <= 11; second += 1) {
    const since = new Date(start.getTime() + second * 1000);
    const [expected] = await db.query(firstSince, { webhookId: hook.webhookId, createdAt: since });
    const [found] = await db.query(ordinalBefore, { webhookId: hook.webhookId, time: since });
    const ordinal = found?.ordinal ?? -1n;
    // Every ordinal from the previous delivery on is right: no delivery of the webhook lies between.
    assert.deepEqual(
      [ordinal >= (expected?.earlier ?? 0n), ordinal < (expected?.first ?? ordinal + 1n)],
      [true, true],
    );
  }
});
