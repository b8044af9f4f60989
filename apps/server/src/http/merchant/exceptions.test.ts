import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import {
  addLateDeposit,
  addOrder,
  addPaidSession,
  addSession,
  happen,
} from '../../../test/harness/payment-fixture.ts';

let world: MerchantWorld;
let key: string;
let accountId: string;
before(async () => {
  world = await MerchantWorld.open();
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
});
after(() => world.close());

const list = async () => (await world.send('GET', '/exception/list/1/10', { key })).data;

test('exceptions are listed newest first, to their own merchant alone', async () => {
  const first = await addPaidSession(world, { key, accountId });
  const reclaim = await happen(world, first.order, 'Reclaimed');
  const second = await addPaidSession(world, { key, accountId });
  await happen(world, second.order, 'Refunded');
  const { total, page, size, hasMore, exceptions } = await list();
  assert.deepEqual([total, page, size, hasMore], [2, 1, 10, false]);
  const [, reclaimed] = exceptions;
  assert.match(reclaimed.exceptionId, /^exc_[0-9A-Za-z]{22}$/);
  const { exceptionId: _id, ...rest } = reclaimed;
  assert.deepEqual(rest, {
    kind: 'reclaimed',
    orderId: first.order.orderId,
    payer: first.order.order.payer,
    tokenId: 'ethereum::usdc',
    amountInToken: '10020000',
    txHash: reclaim.txHash,
    sessionId: first.sessionId,
    status: 'resolved',
    resolvedTx: '',
    isGone: false,
    decision: '',
    decideBy: '',
    createAt: '2030-01-01 00:00:00',
    updateAt: '2030-01-01 00:00:00',
  });
  assert.equal(exceptions[0].kind, 'refunded');
  const otherKey = await world.addKey(await world.addMerchant());
  const foreign = await world.send('GET', '/exception/list/1/10', { key: otherKey });
  assert.deepEqual(foreign.data.exceptions, []);
  const body = { exceptionId: reclaimed.exceptionId };
  assert.equal((await world.send('POST', '/exception/resolve', { key: otherKey, body })).code, 100704);
});

test('an event that is read again raises no second exception', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  await happen(world, order, 'Reclaimed');
  await happen(world, order, 'Reclaimed');
  const raised = (await world.eventsOf(sessionId)).filter(({ type }) => type === 'session.exception');
  assert.equal(raised.length, 1);
});

test('a second payment that was settled before it could go back is open once, until a person closes it', async () => {
  const sessionId = await addSession(world, { key, accountId });
  const first = await addOrder(world, sessionId);
  const second = await addOrder(world, sessionId, `0x${'e5'.repeat(20)}`);
  await happen(world, first, 'Paid');
  await happen(world, second, 'Paid');
  await happen(world, second, 'Settled');
  const kinds = async () => {
    const { exceptions } = await list();
    return exceptions
      .filter((exception: { sessionId: string }) => exception.sessionId === sessionId)
      .map(({ kind, status }: { kind: string; status: string }) => [kind, status]);
  };
  assert.deepEqual(await kinds(), [
    ['duplicate_settled', 'open'],
    ['duplicate', 'resolved'],
  ]);
  const { exceptions } = await list();
  const body = { exceptionId: exceptions[0].exceptionId };
  for (let count = 0; count < 2; count += 1)
    assert.equal((await world.send('POST', '/exception/resolve', { key, body })).code, 0);
  assert.deepEqual(await kinds(), [
    ['duplicate_settled', 'resolved'],
    ['duplicate', 'resolved'],
  ]);
});

const post = async (path: string, exceptionId: string, as = key) =>
  (await world.send('POST', path, { key: as, body: { exceptionId } })).code;
const only = async (exceptionId: string) => {
  const { exceptions } = (await world.send('GET', '/exception/list/1/100', { key })).data;
  return exceptions.find((exception: { exceptionId: string }) => exception.exceptionId === exceptionId);
};

test('the first decision about a late deposit stands, and repeating it changes nothing', async () => {
  const { exceptionId } = await addLateDeposit(world, { key, accountId });
  const held = await only(exceptionId);
  assert.deepEqual(
    [held.kind, held.status, held.decision, held.decideBy],
    ['late', 'open', '', '2030-01-01 01:00:00'],
  );
  assert.equal(await post('/exception/resolve', exceptionId), 100707);
  assert.deepEqual(await only(exceptionId), held);
  const foreignKey = await world.addKey(await world.addMerchant());
  assert.equal(await post('/exception/accept', exceptionId, foreignKey), 100704);
  const codes = await Promise.all(
    ['accept', 'refund', 'accept', 'refund'].map((decision) => post(`/exception/${decision}`, exceptionId)),
  );
  assert.deepEqual([...codes].sort(), [0, 0, 100705, 100705]);
  const { decision, status } = await only(exceptionId);
  assert.deepEqual([codes[0] === 0 ? 'accept' : 'refund', 'open'], [decision, status]);
  assert.equal(await post('/exception/resolve', exceptionId), 0);
});

test('a late deposit that becomes the payment, or goes back, ends its exception; later decisions are refused', async () => {
  const ends = [
    ['Paid', 'accept'],
    ['Rescued', 'refund'],
  ] as const;
  for (const [name, decision] of ends) {
    const { exceptionId, order } = await addLateDeposit(world, { key, accountId });
    const event = await happen(world, order, name, { arguments: { token: order.order.token, amount: '1' } });
    const { status, resolvedTx } = await only(exceptionId);
    assert.deepEqual([status, resolvedTx], ['resolved', event.txHash]);
    assert.equal(await post(`/exception/${decision}`, exceptionId), 100706);
  }
});

test('decisions about a late deposit are refused after its time, and about exceptions that need none', async () => {
  const { exceptionId } = await addLateDeposit(world, { key, accountId });
  world.clock.time += 3_600_001;
  assert.equal(await post('/exception/accept', exceptionId), 100706);
  assert.equal(await post('/exception/refund', exceptionId), 100706);
  const { order } = await addPaidSession(world, { key, accountId });
  await happen(world, order, 'Reclaimed');
  const { exceptions } = await list();
  assert.equal(await post('/exception/accept', exceptions[0].exceptionId), 100706);
});

test('a late deposit is not accepted once another payment paid its session: it goes back, and can be refused', async () => {
  const { exceptionId, order } = await addLateDeposit(world, { key, accountId });
  await happen(world, await addOrder(world, order.sessionId, `0x${'e6'.repeat(20)}`), 'Paid');
  assert.equal(await post('/exception/accept', exceptionId), 100706);
  assert.equal(await post('/exception/refund', exceptionId), 0);
});
