import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { addUpLists } from '#db/list-count.ts';
import { archiveSessions } from '#sessions/archive.ts';
import { eraseOld, erasePayer } from '#sessions/erasure.ts';
import { indexSessions } from '#sessions/search-index.ts';
import { expireSessions, lockSession } from '#sessions/session.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import {
  addLateDeposit,
  addOrder,
  addPaidSession,
  addSession,
  happen,
} from '../../../test/harness/payment-fixture.ts';

const dayMs = 86_400_000;
const policy = { unpaidAfterDays: 90, paidAfterDays: 730 };

const archivedIds = statement({
  name: 'archive_test_archived',
  columns: { session_id: 'text' },
  text: 'select session_id from sessions_archive',
});
const deleteSession = statement({
  name: 'archive_test_delete',
  parameters: { sessionId: 'text' },
  text: 'delete from sessions where session_id = :sessionId',
});
const receivedOf = statement({
  name: 'archive_test_received',
  parameters: { sessionId: 'text' },
  columns: { kind: 'text' },
  text: 'select kind from summary_values where session_id = :sessionId order by kind',
});
const everywhere = statement({
  name: 'archive_test_everywhere',
  parameters: { text: 'text' },
  columns: { place: 'text' },
  text: `select 'sessions' as place from sessions s where strpos(s::text, :text) > 0
     union select 'orders' from orders o where strpos(o::text, :text) > 0
     union select 'events' from events e where strpos(e.body, :text) > 0
     union select 'mails' from mails where recipient = lower(:text)
     union select 'bounces' from mail_bounces where address = lower(:text)`,
});
// The address of e-mails is in lower case.
const mailAndBounce = statement({
  name: 'archive_test_mail',
  parameters: { email: 'text' },
  text: `with mailed as (
     insert into mails (fact, recipient, kind, language, status, next_attempt_at, created_at, finished_at)
     values ('told ' || :email, lower(:email), 'receipt', '', 'bounced', now(), now(), now())
   )
   insert into mail_bounces (address, reason, bounced_at) values (lower(:email), 'no such mailbox', now())`,
});
// No chain is followed here, by whose time a session with an order would expire.
const expireByHand = statement({
  name: 'archive_test_expire',
  parameters: { sessionId: 'text' },
  text: "update sessions set status = 'expired' where session_id = :sessionId",
});
const archiveByHand = statement({
  name: 'archive_test_move',
  parameters: { sessionId: 'text' },
  text: `with gone as (delete from only sessions where session_id = :sessionId returning *)
   insert into sessions_archive select * from gone`,
});
// What a later migration must give both tables: the move copies columns by their place.
const shapes = statement({
  name: 'archive_test_shapes',
  columns: { columns: 'text[]', row_triggers: 'text[]' },
  text: `select
     array(select attname || ' ' || format_type(atttypid, atttypmod) from pg_attribute
       where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum)::text[] as columns,
     array(select tgname from pg_trigger where tgrelid = c.oid and not tgisinternal and tgtype & 1 = 1 order by 1)::text[]
       as row_triggers
   from pg_class c where c.oid in ('sessions'::regclass, 'sessions_archive'::regclass)`,
});
const waitingForLocks = statement({
  name: 'archive_test_waiting',
  columns: { waiting: 'int8' },
  text: `select count(*) as waiting from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock'`,
});

let world: MerchantWorld;
let merchantId: string;
let key: string;
let accountId: string;
before(async () => {
  world = await MerchantWorld.open();
  merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
});
after(() => world.close());

const db = () => world.database.db;
const daysAhead = (days: number) => new Date(world.clock.now().getTime() + days * dayMs);
const archive = (now: Date) =>
  db().transaction((transaction) => archiveSessions(transaction, policy, now, 100));
const archived = async () => (await db().query(archivedIds)).map((row) => row.session_id);
const expireAll = () => {
  const clock = { ...world.clock, now: () => daysAhead(1) };
  return db().transaction((transaction) => expireSessions(transaction, { ...world.deps, clock }, 100));
};

async function addCompleted(payerEmail = 'payer@example.com'): Promise<string> {
  const { sessionId, order } = await addPaidSession(world, { key, accountId, payerEmail });
  await happen(world, order, 'Settled', {
    arguments: { to: order.order.to, netValue: '1', feeValue: '1' },
  });
  return sessionId;
}

/** Everything that a merchant reads of its sessions. */
async function everythingRead(sessionIds: readonly string[]): Promise<unknown> {
  while (await db().transaction((transaction) => indexSessions(transaction)));
  const read = async (path: string) => (await world.send('GET', path, { key })).data;
  const statuses = ['initialized', 'paid', 'completed', 'expired', 'cancelled'];
  return {
    each: await Promise.all(sessionIds.map((sessionId) => read(`/session/${sessionId}`))),
    history: await Promise.all(sessionIds.map((sessionId) => read(`/session/history/${sessionId}`))),
    lists: await Promise.all(statuses.map((status) => read(`/session/list/${status}/1/3`))),
    all: [await read('/session/list/1/3'), await read('/session/list/2/3')],
    found: (await world.send('POST', '/session/search', { key, body: { text: 'Tea' } })).data,
  };
}

test('sessions that ended move to the archive, and nothing that a merchant reads changes', async () => {
  const completed = await addCompleted();
  const unpaid = await addSession(world, { key, accountId });
  const cancelled = await addSession(world, { key, accountId });
  await world.send('POST', '/session/cancel', { key, body: { sessionId: cancelled } });
  await expireAll();
  const open = await addSession(world, { key, accountId });
  const ids = [completed, unpaid, cancelled, open];
  const before = await everythingRead(ids);
  assert.equal(await archive(daysAhead(89)), 0);
  assert.equal(await archive(daysAhead(92)), 2);
  assert.deepEqual((await archived()).toSorted(), [unpaid, cancelled].toSorted());
  assert.deepEqual(await everythingRead(ids), before);
  while (await db().transaction((transaction) => addUpLists(transaction, 100)));
  assert.deepEqual(await everythingRead(ids), before, 'totals that were added up');
  assert.equal(await archive(daysAhead(732)), 1);
  assert.ok((await archived()).includes(completed));
  assert.deepEqual(await everythingRead(ids), before);
});

test('a session in the archive is paid and settled like any other', async () => {
  const sessionId = await addSession(world, { key, accountId });
  const order = await addOrder(world, sessionId);
  await db().query(archiveByHand, { sessionId });
  const statusOf = async () =>
    (await world.send('GET', `/session/${sessionId}`, { key })).data.session.status;
  await happen(world, order, 'Paid');
  assert.equal(await statusOf(), 'paid');
  await happen(world, order, 'Settled', {
    arguments: { to: order.order.to, netValue: '1', feeValue: '1' },
  });
  assert.equal(await statusOf(), 'completed');
  assert.ok((await archived()).includes(sessionId));
  const kinds = (await db().query(receivedOf, { sessionId })).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['received', 'settled']);
  const list = (await world.send('GET', '/session/list/completed/1/1', { key })).data;
  assert.deepEqual([JSON.stringify(list.sessions[0]).includes(sessionId), list.total], [true, 2]);
});

test('a request that waits for a session while it moves finds it in the archive', async () => {
  const sessionId = await addSession(world, { key, accountId });
  const request = await db().transaction(async (transaction) => {
    await transaction.query(archiveByHand, { sessionId });
    const found = db().transaction((other) => lockSession(other, sessionId));
    const isWaiting = async () => ((await db().query(waitingForLocks))[0]?.waiting ?? 0n) > 0n;
    while (!(await isWaiting()));
    return { found };
  });
  assert.equal((await request.found)?.sessionId, sessionId);
});

test('a session with an open exception stays until it is resolved', async () => {
  const { exceptionId, order } = await addLateDeposit(world, { key, accountId });
  await db().query(expireByHand, { sessionId: order.sessionId });
  await archive(daysAhead(92));
  assert.equal((await archived()).includes(order.sessionId), false);
  for (const act of ['refund', 'resolve'])
    assert.equal((await world.send('POST', `/exception/${act}`, { key, body: { exceptionId } })).code, 0);
  await archive(daysAhead(92));
  assert.ok((await archived()).includes(order.sessionId));
});

test('the archive has the columns of sessions in their order, and their row triggers', async () => {
  const [one, other] = await db().query(shapes);
  assert.deepEqual(one, other);
  assert.ok((one?.columns.length ?? 0) > 30 && (one?.row_triggers.length ?? 0) > 1);
});

test('nothing deletes a session', async () => {
  const sessionId = await addSession(world, { key, accountId });
  await assert.rejects(db().query(deleteSession, { sessionId }), /never deleted/);
});

test("a payer's address is erased on request and by age, in the archive too, and other payers keep theirs", async () => {
  const [mine, other] = ['Gone@example.com', 'other@example.com'];
  for (const email of [mine, other]) {
    await addCompleted(email);
    await db().query(mailAndBounce, { email });
  }
  await archive(daysAhead(732));
  await addCompleted(mine);
  const places = async (text: string) => {
    while (await db().transaction((transaction) => indexSessions(transaction)));
    const found = (await world.send('POST', '/session/search', { key, body: { payerEmail: text } })).data;
    const stored = (await db().query(everywhere, { text })).map(({ place }) => place);
    return [...stored, ...(found.sessions.length > 0 ? ['search'] : [])].toSorted();
  };
  const all = ['bounces', 'events', 'mails', 'orders', 'search', 'sessions'];
  assert.deepEqual(await places(mine), all);
  const typedOtherwise = 'gONE@example.com';
  await addCompleted(typedOtherwise);
  assert.equal(await erasePayer(db(), mine), 3);
  for (const spelling of [mine, typedOtherwise]) assert.deepEqual(await places(spelling), []);
  assert.deepEqual(await places(other), all);
  const ages = { emailsAfterDays: 730, networksAfterDays: 30 };
  await eraseOld(db(), ages, daysAhead(729), 100);
  assert.deepEqual(await places(other), all);
  await eraseOld(db(), ages, daysAhead(732), 100);
  const left = ['bounces', 'events', 'mails'];
  assert.deepEqual(await places(other), left, 'these end by themselves after months');
});
