import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { largestLink, largestProduct, largestSession } from '../../../test/harness/largest.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { addPaidSession } from '../../../test/harness/payment-fixture.ts';
import { shownText } from '../operations/events.ts';

const bodyById = statement({
  name: 'events_test_body',
  parameters: { eventId: 'text' },
  columns: { body: 'text' },
  text: 'select body from events where event_id = :eventId',
});

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const dayMs = 24 * 3_600_000;

interface ShownEvent {
  id: string;
  type: string;
}

/** A merchant with three products, created, and one archived: four events. */
async function addShop() {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  for (const name of ['Tea', 'Cup', 'Pot']) {
    await world.send('POST', '/product/create', { key, body: { name, commonPrices: [1] } });
  }
  const [product] = (await world.send('GET', '/product/list/1/1', { key })).data.products;
  await world.send('POST', '/product/archive', { key, body: { productId: product.productId } });
  const list = async (path: string) => (await world.send('GET', `/event/list/${path}`, { key })).data;
  return { merchantId, key, list };
}

const types = (page: { events: ShownEvent[] }) => page.events.map(({ type }) => type);
const ids = (page: { events: ShownEvent[] }) => page.events.map(({ id }) => id);

// proves W6.31
test('events are listed newest first, page by page', async () => {
  const { list } = await addShop();
  const all = await list('1/10');
  assert.deepEqual([all.total, all.page, all.size, all.hasMore], [4, 1, 10, false]);
  assert.deepEqual(types(all), ['product.archived', ...Array(3).fill('product.created')]);
  const second = await list('2/3');
  assert.deepEqual([second.hasMore, ids(second)], [false, ids(all).slice(3)]);
});

// proves W6.31
test('a type or a pattern filters them, and an unknown one is 100504', async () => {
  const { key, list } = await addShop();
  assert.deepEqual(types(await list('1/10?type=product.archived')), ['product.archived']);
  assert.equal((await list('1/10?type=product.*')).total, 4);
  assert.equal((await list('1/10?type=session.*')).total, 0);
  assert.equal((await world.send('GET', '/event/list/1/10?type=product.eaten', { key })).code, 100504);
});

test('listing after an event returns the later events, oldest first', async () => {
  const { key, list } = await addShop();
  const all = ids(await list('1/10')).reverse();
  const rest = await list(`1/2?after=${all[0]}`);
  assert.deepEqual([rest.total, rest.hasMore, ids(rest)], [3, true, all.slice(1, 3)]);
  assert.deepEqual(ids(await list(`1/2?after=${all[2]}&type=product.archived`)), all.slice(3));
  assert.deepEqual(ids(await list(`1/2?after=${all[3]}`)), []);
  assert.equal((await world.send('GET', '/event/list/1/10?after=evt_none', { key })).code, 100506);
});

test('an unknown, repeated or empty filter is refused', async () => {
  const { key } = await addShop();
  for (const [query, param] of [
    ['tpye=product.created', 'tpye'],
    ['type=a&type=b', 'type'],
    ['after=', 'after'],
  ]) {
    const reply = await world.send('GET', `/event/list/1/10?${query}`, { key });
    assert.deepEqual([reply.code, JSON.parse(reply.text).error.param], [400101, param]);
  }
});

// proves W6.31
test('an event is read byte for byte, metadata included', async () => {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const productData = '{"productName":"Tea"}';
  const item = `{"itemType":"one_time","quantity":1,"unitPrice":1000000,"productData":${productData}}`;
  const metadata = '{"a":1.0e2,"a":"\\u00e9", "b":[ 1 ]}';
  const terms = `"accountId":"${accountId}","settlementToken":"ethereum::usdc","lineItems":[${item}]`;
  const body = `{${terms},"metadata":${metadata}}`;
  const { sessionId } = (await world.send('POST', '/session/checkout/create', { key, body })).data;
  const { events } = (await world.send('GET', '/event/list/1/1', { key })).data;
  const [row] = await world.database.db.query(bodyById, { eventId: events[0].id });
  const read = await world.send('GET', `/event/${events[0].id}`, { key });
  assert.equal(read.text, `{"code":0,"message":"success","data":${row?.body}}`);
  assert.ok(read.text.includes(metadata));
  assert.equal(read.data.data.session.sessionId, sessionId);
});

// proves W6.5
test('a restricted key sees in events the same fields as in sessions', async () => {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const { sessionId } = await addPaidSession(world, { key, accountId });
  const readOnly = await world.addKey(merchantId, { preset: 'read_only' });
  const fulfilment = await world.addKey(merchantId, { preset: 'fulfilment' });
  const path = '/event/list/1/1?type=session.paid';
  for (const [reader, email] of [
    [readOnly, ''],
    [fulfilment, 'payer@example.com'],
  ]) {
    const shown = await world.send('GET', path, { key: reader ?? '' });
    const read = await world.send('GET', `/session/${sessionId}`, { key: reader ?? '' });
    const [event] = shown.data.events;
    assert.deepEqual(event.data, read.data);
    assert.deepEqual([event.data.session.clientCode, event.data.session.payerEmail], ['****', email]);
  }
  const whole = (await world.send('GET', path, { key })).data.events[0].data.session;
  assert.equal(whole.payerEmail, 'payer@example.com');
  assert.ok(whole.paymentUrl.endsWith(`#${whole.clientCode}`));
});

// proves W6.31
test('another merchant’s event is unknown, and a 90-day-old one is gone', async () => {
  const { key, list } = await addShop();
  const stranger = await addShop();
  const [eventId] = ids(await list('1/1'));
  const read = (reader: string) => world.send('GET', `/event/${eventId}`, { key: reader });
  assert.deepEqual([(await read(key)).code, (await read(stranger.key)).code], [0, 100506]);
  const path = `/event/list/1/10?after=${eventId}`;
  assert.equal((await world.send('GET', path, { key: stranger.key })).code, 100506);
  const now = world.clock.time;
  world.clock.time = now + 90 * dayMs - 1;
  assert.deepEqual([(await read(key)).code, (await list('1/10')).total], [0, 4]);
  world.clock.time = now + 90 * dayMs;
  assert.deepEqual([(await read(key)).code, (await list('1/10')).total], [100506, 0]);
  world.clock.time = now;
});

// proves W6.9
test('the event of a session or link over 64 KiB omits productData, and keeps its metadata byte for byte', async () => {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const send = async (path: string, body: unknown) => (await world.send('POST', path, { key, body })).data;
  const metadata =
    '{"productData":1,"productData":2, "n":1.0e400,"lineItems":{"items":[{"productData":"kept"}]}}';
  const large = JSON.stringify({ ...largestSession(accountId), metadata: {} }).replace(
    '"metadata":{}',
    () => `"metadata":${metadata}`,
  );
  const { sessionId } = await send('/session/checkout/create', large);
  await send('/session/checkout/cancel', { sessionId });
  const { productId } = await send('/product/create', largestProduct);
  const { linkId } = await send('/payment/link/create', largestLink(accountId, productId));
  await send('/payment/link/disable', { linkId });
  const { events } = (await world.send('GET', '/event/list/1/10', { key })).data;
  const shortened = events.filter((event: ShownEvent & { truncated?: true }) => event.truncated);
  assert.deepEqual(types({ events: shortened }), [
    'payment.link.disabled',
    'payment.link.created',
    'session.cancelled',
    'session.created',
  ]);
  for (const { id, data } of shortened) {
    const { items } = (data.link ?? data.session).lineItems;
    assert.ok(items.length > 2 && items.every((item: object) => !('productData' in item)));
    const [row] = await world.database.db.query(bodyById, { eventId: id });
    if (data.session) assert.ok(row?.body.includes(`,"metadata":${metadata}}`));
  }
});

test('hiding restricted fields changes only those values', () => {
  const metadata = '{"clientCode":"kept","payerEmail":"kept", "n":1.0e400,"n":2}';
  const text = (code: string, email: string, url: string) =>
    `{"id":"evt_1","sequence":3,"data":{"exception":{},"session":{"clientCode":"${code}","payerEmail":"${email}",` +
    `"paymentUrl":"${url}","metadata":${metadata}},"transaction":{"payerEmail":"kept"}}}`;
  const whole = text('a\\"b', 'payer@example.com', 'https://x.example/checkout/s#a');
  const cases = [
    ['secret', true, whole],
    ['secret', false, text('a\\"b', '', 'https://x.example/checkout/s#a')],
    ['restricted', true, text('****', 'payer@example.com', 'https://x.example/checkout/s')],
    ['restricted', false, text('****', '', 'https://x.example/checkout/s')],
  ] as const;
  for (const [kind, maySeePayer, expected] of cases) {
    const permissions = new Set(maySeePayer ? ['payer_pii:read' as const] : []);
    assert.equal(shownText({ kind, permissions }, whole), expected);
  }
  const other = '{"id":"evt_1","data":{"product":{"clientCode":"kept"}}}';
  assert.equal(shownText({ kind: 'restricted', permissions: new Set() }, other), other);
});
