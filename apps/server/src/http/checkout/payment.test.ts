import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chooseLanguage } from '@florin/checkout';
import { statement } from '@florin/pg';
import type { FastifyInstance } from 'fastify';
import { getAddress, toHex } from 'viem';
import { unsignedOrderSeconds } from '#orders/order-limit.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { checkoutOptionsOf } from '../../../test/harness/checkout-fixture.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addPaidSession, takeBack } from '../../../test/harness/payment-fixture.ts';
import { withStops } from '../../../test/harness/token-closing.ts';
import { buildServer } from '../server.ts';
import { checkoutDoor } from './checkout-door.ts';

const putCursor = statement({
  name: 'checkout_payment_test_cursor',
  parameters: { chainId: 'int8', headTime: 'timestamptz' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at)
   values (:chainId, 9, '0x', :headTime, 3, '0x', :headTime, :headTime)
   on conflict (chain_id) do update set head_time = :headTime, final_time = :headTime, halted_reason = ''`,
});

const putPayment = statement({
  name: 'checkout_payment_test_paid',
  parameters: { orderId: 'text' },
  text: `insert into chain_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name,
     order_id, arguments, is_final)
   select 1, 9, '0x', count(*), '0x', now(), 'gateway', 'Paid', :orderId, '{}', false from chain_events`,
});

const putWinner = statement({
  name: 'checkout_payment_test_winner',
  parameters: { sessionId: 'text', initiateTx: 'text', orderId: 'text' },
  text: 'update sessions set initiate_tx = :initiateTx, order_id = :orderId where session_id = :sessionId',
});

const putRefunded = statement({
  name: 'checkout_payment_test_refunded',
  parameters: { sessionId: 'text', refundedAmount: 'int8' },
  text: 'update sessions set refunded_amount = :refundedAmount where session_id = :sessionId',
});

const putSeen = statement({
  name: 'checkout_payment_test_seen',
  parameters: { orderId: 'text', txHash: 'text', blockTime: 'timestamptz' },
  text: `insert into chain_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name,
     order_id, arguments, is_final)
   select chain_id, 9, '0x', 99, :txHash, :blockTime, 'gateway', 'Paid', order_id, '{}', false from orders where order_id = :orderId`,
});

/** An address for a number. */
const addressOf = (number: number) => getAddress(`0x${number.toString(16).padStart(40, 'a')}`);

const limits = { ofNetwork: 3, inAll: 5 };
let world: MerchantWorld;
let pages: FastifyInstance;
let key = '';
const stopped = new Set<string>();
let accountId = '';
before(async () => {
  world = await MerchantWorld.open();
  pages = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      checkoutDoor({
        ...{ ...checkoutOptionsOf(world), orderLimits: limits },
        chains: withStops(world.deps.chains, stopped),
      }),
    ],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
});
after(async () => {
  await pages.close();
  await world.close();
});

const nowSeconds = () => Math.floor(world.clock.time / 1_000);

/** A session that is payable for a day. */
async function newSession(): Promise<string> {
  const body = {
    ...{ accountId, settlementToken: 'ethereum::usdc', feeModel: 2, expirationTime: nowSeconds() + 86_400 },
    lineItems: [
      { itemType: 'one_time', quantity: 1, unitPrice: 10_000_000, productData: { productName: 'Tea' } },
    ],
  };
  return (await world.send('POST', '/session/checkout/create', { key, body })).data.sessionId;
}

async function prepare(
  sessionId: string,
  payer: number,
  remoteAddress = '10.0.0.1',
  tokenId = 'ethereum::usdc',
  secret = '',
) {
  const response = await pages.inject({
    method: 'POST',
    url: '/checkout/api/prepare',
    remoteAddress,
    headers: { 'accept-language': 'de', ...(secret === '' ? {} : { 'x-client-code': secret }) },
    payload: { sessionId, tokenId, payer: addressOf(payer), payerEmail: '' },
  });
  const { code, data, message } = response.json();
  return { status: response.statusCode, retryAfter: response.headers['retry-after'], code, data, message };
}

const cancel = async (sessionId: string) =>
  (await world.send('POST', '/session/checkout/cancel', { key, body: { sessionId } })).code;
const read = async (sessionId: string) =>
  (await world.send('GET', `/session/${sessionId}`, { key })).data.session;
/** A block of that time becomes final. */
const finalAt = (seconds: number) =>
  world.database.db.query(putCursor, {
    chainId: world.deps.chains.token('ethereum::usdc')?.chainId ?? 0,
    headTime: new Date(seconds * 1_000),
  });

test('a page whose token to settle in is stopped says that payment is not possible, and offers no way', async () => {
  const sessionId = await newSession();
  const page = async () => (await pages.inject(`/checkout/${sessionId}`)).payload;
  const says = '<p class="problem">Payment is not possible at the moment';
  assert.equal((await page()).includes(says), false);
  stopped.add('ethereum::usdc');
  assert.equal((await page()).includes(says), true);
  stopped.clear();
});

test('an order without a payer’s signature expires after an hour, or earlier with its session', async () => {
  const sessionId = await newSession();
  const first = await prepare(sessionId, 0xd1);
  assert.deepEqual([first.code, first.data.deadline], [0, String(nowSeconds() + unsignedOrderSeconds)]);
  world.clock.time += 86_400_000 - 60_000;
  const last = await prepare(sessionId, 0xd1);
  assert.equal(last.data.deadline, String(nowSeconds() + 60));
});

test('a repeated request within the first half of an order’s life shows the same order and address', async () => {
  const sessionId = await newSession();
  const first = await prepare(sessionId, 0xd1);
  world.clock.time += (unsignedOrderSeconds / 2) * 1_000;
  const second = await prepare(sessionId, 0xd1, '10.9.0.1');
  assert.deepEqual(
    [second.data.orderId, second.data.alternatives],
    [first.data.orderId, first.data.alternatives],
  );
  world.clock.time += 1_000;
  const third = await prepare(sessionId, 0xd1);
  assert.equal(third.data.deadline, String(nowSeconds() + unsignedOrderSeconds));
});

// proves W2.10
test('a wrong client code is 100202 in every request, and signs nothing', async () => {
  const sessionId = await newSession();
  const { clientCode } = await read(sessionId);
  const payer = addressOf(0xd1);
  const token = world.deps.chains.token('ethereum::usdc')?.address;
  const requests = [
    {
      url: '/checkout/api/prepare',
      payload: { sessionId, tokenId: 'ethereum::usdc', payer, payerEmail: '' },
    },
    {
      url: '/checkout/api/claim',
      payload: { sessionId, orderId: toHex(1, { size: 32 }), token, purpose: 'rescue' },
    },
    { url: `/checkout/api/session/${sessionId}/receipt` },
    { url: `/checkout/api/session/${sessionId}/places` },
  ];
  const answersFor = async (code: string) => {
    const answers: [code: number, words: string | undefined][] = [];
    for (const { url, payload } of requests) {
      const headers = { 'x-client-code': code, 'accept-language': 'fr' };
      const body = payload === undefined ? {} : ({ method: 'POST', payload } as const);
      const reply = (await pages.inject({ url, headers, ...body })).json();
      answers.push([reply.code, reply.data?.words]);
    }
    return answers;
  };
  const codesFor = async (code: string) => (await answersFor(code)).map(([code]) => code);
  // The payer reads what to do about it: to try again later would not help.
  const { secretWrong } = chooseLanguage('fr', undefined).texts;
  const refused: [number, string] = [100_202, secretWrong];
  assert.deepEqual(await answersFor('x'.repeat(clientCode.length)), [refused, refused, refused, refused]);
  assert.equal((await read(sessionId)).signedOnce, 0);
  const codes = await codesFor(clientCode);
  assert.equal(codes.includes(100_202), false);
  // By this one a page checks its secret before there is a receipt.
  assert.equal(codes.at(-1), 0);
});

const setHalted = statement({
  name: 'checkout_payment_test_halted',
  parameters: { haltedReason: 'text' },
  text: 'update chain_cursors set halted_reason = :haltedReason',
});

test('a session whose payment a reorg took back has no receipt, nor one whose chain is halted', async () => {
  const { sessionId, order } = await addPaidSession(world, { key, accountId });
  const { clientCode } = await read(sessionId);
  const receiptCode = async () => {
    const url = `/checkout/api/session/${sessionId}/receipt`;
    return (await pages.inject({ url, headers: { 'x-client-code': clientCode } })).json().code;
  };
  assert.equal(await receiptCode(), 0);
  const { db } = world.database;
  await db.query(putCursor, { chainId: order.chainId, headTime: world.clock.now() });
  await db.query(setHalted, { haltedReason: 'reorg' });
  assert.equal(await receiptCode(), 100_201);
  await db.query(setHalted, { haltedReason: '' });
  assert.equal(await receiptCode(), 0);
  await takeBack(world, order);
  assert.equal(await receiptCode(), 100_201);
});

const putReturn = statement({
  name: 'checkout_payment_test_return',
  parameters: { orderId: 'text', eventName: 'text', txHash: 'text' },
  text: `with blocks as (
     insert into chain_blocks (chain_id, block_number, block_hash, parent_hash, block_time)
     select chain_id, 9, '0x', '0x', now() from orders where order_id = :orderId on conflict do nothing
   )
   insert into chain_events (chain_id, block_number, block_hash, log_index, tx_hash, block_time, contract, event_name,
     order_id, arguments, is_final)
   select chain_id, 9, '0x', (select count(*) from chain_events), :txHash, now(), 'gateway', :eventName, order_id, '{}', true
   from orders where order_id = :orderId`,
});

const putReturned = statement({
  name: 'checkout_payment_test_returned',
  parameters: { orderId: 'text', resolvedTx: 'text' },
  text: `insert into exceptions (exception_id, merchant_id, session_id, order_id, kind, token_id, amount_in_token, payer, tx_hash,
     status, resolved_tx, created_at, updated_at)
   select 'exc_' || :resolvedTx, s.merchant_id, s.session_id, o.order_id, 'overpaid', o.token_id, 5000000, o.payer, '',
     'resolved', :resolvedTx, now(), now()
   from orders o join sessions s on s.session_id = o.session_id where o.order_id = :orderId`,
});

test('while the chain of a return is halted, no page tells that the money is back, also where the payment is older', async () => {
  const { db } = world.database;
  const shown = async (sessionId: string) => {
    const { state } = (await pages.inject({ url: `/checkout/api/session/${sessionId}` })).json().data;
    return [state.isInDoubt, state.refunded, state.exceptions.length, state.isPayable];
  };
  for (const [eventName, amount, told] of [
    ['SettlementRefunded', 7n, [undefined, '7', 0, false]],
    ['Rescued', 0n, [undefined, '0', 1, false]],
  ] as const) {
    const { sessionId, order } = await addPaidSession(world, { key, accountId });
    const { orderId, chainId } = order;
    await db.query(putCursor, { chainId, headTime: world.clock.now() });
    await db.query(putRefunded, { sessionId, refundedAmount: amount });
    await db.query(putReturn, { orderId, eventName, txHash: `0x${eventName}` });
    if (eventName === 'Rescued') await db.query(putReturned, { orderId, resolvedTx: `0x${eventName}` });
    assert.deepEqual(await shown(sessionId), told, eventName);
    await db.query(setHalted, { haltedReason: 'reorg' });
    assert.deepEqual(await shown(sessionId), [true, '0', 0, false], eventName);
    await db.query(setHalted, { haltedReason: '' });
    assert.deepEqual(await shown(sessionId), told, eventName);
  }
});

const storedEmails = statement({
  name: 'checkout_payment_test_emails',
  parameters: { sessionId: 'text' },
  columns: { payer_email: 'text', payer_language: 'text', with_secret: 'bool' },
  text: 'select payer_email, payer_language, with_secret from orders where session_id = :sessionId',
});

test('an e-mail address that comes with the secret replaces that of a stranger, and so does none; a stranger replaces nothing', async (t) => {
  const options = checkoutOptionsOf(world);
  const deposits = {
    ...{ underpaidPpm: 0, underpaidAmount: undefined, latePayment: 'ask', lateHours: 24 },
    ...{ addedAboveFee: options.gasless?.minAmount, addedPerDay: options.gasless?.minAmount },
  };
  const gasless = { ...options.gasless, deposits } as NonNullable<typeof options.gasless>;
  const server = await buildServer({
    ...{ log: silentLog, random: systemRandom, origin: world.deps.origin },
    ready: async () => ({ ready: true, checks: {} }),
    doors: [checkoutDoor({ ...options, gasless, orderLimits: limits })],
  });
  t.after(() => server.close());
  const sessionId = await newSession();
  const { clientCode } = await read(sessionId);
  const payer = addressOf(0xd1);
  const give = async (payerEmail: string, secret = '') => {
    const headers = { 'accept-language': 'de', ...(secret === '' ? {} : { 'x-client-code': secret }) };
    const payload = { sessionId, tokenId: 'ethereum::usdc', payer, payerEmail };
    const response = await server.inject({ method: 'POST', url: '/checkout/api/prepare', headers, payload });
    assert.equal(response.json().code, 0);
    const rows = await world.database.db.query(storedEmails, { sessionId });
    // The wallet's order, and that of its deposit address.
    const [first, second, ...others] = rows.map(
      (row) => `${row.payer_email} ${row.payer_language} ${row.with_secret}`,
    );
    assert.deepEqual([second, others], [first, []]);
    return first;
  };
  assert.equal(await give('thief@evil.com'), 'thief@evil.com de false');
  assert.equal(await give('honest@example.com', clientCode), 'honest@example.com de true');
  assert.equal(await give('thief@evil.com'), 'honest@example.com de true');
  assert.equal(await give('', clientCode), ' de true');
  assert.equal(await give('thief@evil.com'), ' de true');
});

test('payable orders of a session are limited for each network and in total, apart with its secret and without', async () => {
  const sessionId = await newSession();
  for (let payer = 1; payer <= limits.ofNetwork; payer += 1)
    assert.equal((await prepare(sessionId, payer)).code, 0);
  const refused = await prepare(sessionId, 90);
  assert.deepEqual(
    [refused.status, refused.code, refused.retryAfter],
    [429, 900_101, String(unsignedOrderSeconds + 1)],
  );
  // The page shows these; the message is the same in every language.
  assert.match(refused.data.words, /^Zu viele Anfragen\. .*61 Minuten/);
  assert.match(refused.message, /^Too many requests/);
  // A repeat takes no extra place.
  assert.equal((await prepare(sessionId, 1)).code, 0);
  for (let payer = 91; payer <= 92; payer += 1)
    assert.equal((await prepare(sessionId, payer, `10.0.${payer}.1`)).code, 0);
  assert.equal((await prepare(sessionId, 93, '10.0.93.1')).code, 900_101);
  assert.equal((await prepare(await newSession(), 94)).code, 0);
  const { clientCode } = await read(sessionId);
  const withSecret = (payer: number, remoteAddress?: string) =>
    prepare(sessionId, payer, remoteAddress, 'ethereum::usdc', clientCode);
  // Strangers use up only their own share, also in the owner's network. An order of theirs that the owner asks for again
  // moves to the owner's.
  const owned = [];
  for (const payer of [95, 96, 1, 97]) owned.push((await withSecret(payer)).code);
  assert.deepEqual(owned, [0, 0, 0, 900_101]);
  assert.equal((await prepare(sessionId, 98)).code, 0);
  assert.equal((await prepare(sessionId, 99)).code, 900_101);
  assert.equal((await withSecret(2)).code, 900_101);
  assert.equal((await withSecret(95)).code, 0);
  for (const payer of [97, 2]) assert.equal((await withSecret(payer, '10.0.97.1')).code, 0);
  assert.equal((await withSecret(100, '10.0.98.1')).code, 900_101);
  world.clock.time += (unsignedOrderSeconds + 1) * 1_000;
  assert.equal((await prepare(sessionId, 93)).code, 0);
});

test('a session is cancelled once a final block is later than every order, and not before', async () => {
  const sessionId = await newSession();
  const { data } = await prepare(sessionId, 0xd1);
  assert.equal(await cancel(sessionId), 100_207);
  // Our clock does not decide what the chain still accepts.
  world.clock.time += 2 * unsignedOrderSeconds * 1_000;
  await finalAt(Number(data.deadline));
  assert.equal(await cancel(sessionId), 100_207);
  assert.equal((await read(sessionId)).signedOnce, 1);
  await finalAt(Number(data.deadline) + 1);
  assert.equal(await cancel(sessionId), 0);
  const { status, signedOnce } = await read(sessionId);
  assert.deepEqual([status, signedOnce], ['cancelled', 0]);
  assert.deepEqual(
    (await world.eventsOf(sessionId)).map(({ type }) => type),
    ['session.created', 'session.cancelled'],
  );
});

test('a session with a payment in a block is not cancelled, even when the final block is late enough', async () => {
  const sessionId = await newSession();
  const { data } = await prepare(sessionId, 0xd1);
  await world.database.db.query(putPayment, { orderId: data.orderId });
  await finalAt(Number(data.deadline) + 1);
  assert.equal(await cancel(sessionId), 100_207);
});

test('after payments on two chains the page names the network of the one that paid', async () => {
  const sessionId = await newSession();
  const first = (await prepare(sessionId, 0xd1)).data.orderId;
  const second = (await prepare(sessionId, 0xd2, '10.0.0.2', 'base::usdc')).data.orderId;
  for (const tokenId of ['ethereum::usdc', 'base::usdc'])
    await world.database.db.query(putCursor, {
      chainId: world.deps.chains.token(tokenId)?.chainId ?? 0,
      headTime: new Date(world.clock.time),
    });
  await world.database.db.query(putSeen, {
    orderId: first,
    txHash: '0xa1',
    blockTime: new Date(world.clock.time),
  });
  await world.database.db.query(putSeen, {
    orderId: second,
    txHash: '0xb2',
    blockTime: new Date(world.clock.time + 1_000),
  });
  const seen = async () => {
    const response = await pages.inject({ url: `/checkout/api/session/${sessionId}` });
    const { initiateTx, payment } = response.json().data.state;
    return [initiateTx, payment?.tokenId];
  };
  await world.database.db.query(putWinner, { sessionId, initiateTx: '0xa1', orderId: '' });
  assert.deepEqual(await seen(), ['0xa1', 'ethereum::usdc']);
  await world.database.db.query(putWinner, { sessionId, initiateTx: '0xb2', orderId: second });
  assert.deepEqual(await seen(), ['0xb2', 'base::usdc']);
});

test('a payment counts as refunded in full once the payer has back everything paid, fee included', async () => {
  const sessionId = await newSession();
  const { orderId, amountInToken } = (await prepare(sessionId, 0xd1)).data;
  await world.database.db.query(putWinner, { sessionId, initiateTx: '0xa1', orderId });
  const refundedWith = async (amount: bigint) => {
    await world.database.db.query(putRefunded, { sessionId, refundedAmount: amount });
    const response = await pages.inject({ url: `/checkout/api/session/${sessionId}` });
    return response.json().data.state.isRefunded;
  };
  assert.equal(await refundedWith(0n), false);
  assert.equal(await refundedWith(10_000_000n), false);
  assert.equal(await refundedWith(BigInt(amountInToken)), true);
});
