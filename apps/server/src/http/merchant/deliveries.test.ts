import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';

const finishDelivery = statement({
  name: 'deliveries_test_finish',
  parameters: { deliveryId: 'text', status: 'text', attemptedAt: 'timestamptz' },
  text: `with finished as (
     update deliveries set status = :status, next_attempt_at = null, attempt_count = 1 where delivery_id = :deliveryId
     returning delivery_id
   )
   insert into delivery_attempts
     (delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body)
   select delivery_id, 1, :attemptedAt, 500, 12, 'status 500', 'no' from finished`,
});

const logAttempt = statement({
  name: 'deliveries_test_log_attempt',
  parameters: {
    deliveryId: 'text',
    attempt: 'int4',
    attemptedAt: 'timestamptz',
    httpStatus: 'int4',
    error: 'text',
    responseBody: 'text',
    requestUrl: 'text',
  },
  text: `insert into delivery_attempts
     (delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body, request_url)
   values (:deliveryId, :attempt, :attemptedAt, :httpStatus, 7, :error, :responseBody, :requestUrl)`,
});

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

async function addWebhook(subscribedEvents = ['product.*']) {
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const post = (path: string, body: object) => world.send('POST', path, { key, body });
  const fields = { webhookName: 'Hook', webhookUrl: 'https://shop.example.com/', subscribedEvents };
  const { webhookId } = (await post('/webhook/create', fields)).data;
  const list = async (page = 1, size = 10) =>
    (await world.send('GET', `/webhook/delivery/list/${webhookId}/${page}/${size}`, { key })).data;
  return { merchantId, key, webhookId, post, list };
}

// proves W6.18
test('a test goes only to its webhook, regardless of its subscriptions, and waits for no other test', async () => {
  const { key, webhookId, post, list } = await addWebhook();
  const other = { webhookName: 'All', webhookUrl: 'https://all.example.com/', subscribedEvents: ['*'] };
  const bystander = (await post('/webhook/create', other)).data.webhookId;
  const { eventId, deliveryId } = (await post('/webhook/test', { webhookId })).data;
  assert.match(eventId, /^evt_[0-9A-Za-z]{22}$/);
  assert.match(deliveryId, /^dlv_[0-9A-Za-z]{22}$/);
  const event = await world.send('GET', `/event/${eventId}`, { key });
  assert.deepEqual(event.data, {
    id: eventId,
    type: 'webhook.test',
    apiVersion: 'v1',
    timestamp: '2030-01-01T00:00:00.000Z',
    sequence: 1,
    data: { message: 'A test of the webhook Hook' },
  });
  const expected = {
    deliveryId,
    eventId,
    eventType: 'webhook.test',
    status: 'pending',
    attempts: [],
    nextAttemptAt: '2030-01-01 00:00:00',
    createAt: '2030-01-01 00:00:00',
  };
  assert.deepEqual(await list(), {
    total: 1,
    page: 1,
    size: 10,
    hasMore: false,
    nextCursor: '',
    deliveries: [expected],
  });
  const again = (await post('/webhook/test', { webhookId })).data;
  assert.equal((await world.send('GET', `/event/${again.eventId}`, { key })).data.sequence, 1);
  const elsewhere = await world.send('GET', `/webhook/delivery/list/${bystander}/1/10`, { key });
  assert.equal(elsewhere.data.total, 0);
});

test('a test of an inactive webhook is skipped, of an unknown one refused', async () => {
  const { webhookId, post, list } = await addWebhook();
  await post('/webhook/disable', { webhookId });
  assert.equal((await post('/webhook/test', { webhookId })).code, 0);
  const [delivery] = (await list()).deliveries;
  assert.deepEqual([delivery.status, delivery.nextAttemptAt], ['skipped', null]);
  assert.equal((await post('/webhook/test', { webhookId: 'wkid_none' })).code, 100501);
});

// proves W6.19
test('deliveries are listed newest first with their attempts', async () => {
  const { post, list } = await addWebhook();
  await post('/product/create', { name: 'Tea', commonPrices: [1] });
  await post('/product/create', { name: 'Cup', commonPrices: [2] });
  const [newest, oldest] = (await list()).deliveries;
  await world.database.db.query(finishDelivery, {
    deliveryId: oldest.deliveryId,
    status: 'failed',
    attemptedAt: world.clock.now(),
  });
  const second = await list(2, 1);
  assert.deepEqual([second.total, second.page, second.size, second.hasMore], [2, 2, 1, false]);
  assert.deepEqual(second.deliveries, [
    {
      ...oldest,
      status: 'failed',
      nextAttemptAt: null,
      attempts: [
        {
          attempt: 1,
          at: '2030-01-01 00:00:00',
          httpStatus: 500,
          latencyMs: 12,
          error: 'status 500',
          responseBody: 'no',
        },
      ],
    },
  ]);
  const first = await list(1, 1);
  assert.deepEqual([first.hasMore, first.deliveries], [true, [newest]]);
});

test('deliveries of another merchant’s webhook are as unknown as the webhook', async () => {
  const { webhookId } = await addWebhook();
  const stranger = await addWebhook();
  const reply = await world.send('GET', `/webhook/delivery/list/${webhookId}/1/10`, { key: stranger.key });
  assert.equal(reply.code, 100501);
  const path = `/webhook/delivery/list/${webhookId}/0/10`;
  assert.equal((await world.send('GET', path, { key: stranger.key })).code, 400101);
});

const finished: readonly (readonly [rule: string, status: string])[] = [
  // proves W6.20
  ['a delivery that has succeeded is sent again', 'succeeded'],
  ['a delivery that has failed is sent again', 'failed'],
  ['a delivery that was skipped is sent again', 'skipped'],
];
for (const [rule, status] of finished) {
  test(rule, async () => {
    const { post, list } = await addWebhook();
    await post('/product/create', { name: 'Tea', commonPrices: [1] });
    const [delivery] = (await list()).deliveries;
    await world.database.db.query(finishDelivery, {
      deliveryId: delivery.deliveryId,
      status,
      attemptedAt: world.clock.now(),
    });
    const reply = await post('/webhook/delivery/resend', { deliveryId: delivery.deliveryId });
    assert.deepEqual(reply.data, { success: true });
    const [again] = (await list()).deliveries;
    assert.deepEqual(
      [again.eventId, again.status, again.nextAttemptAt, again.attempts.length],
      [delivery.eventId, 'pending', '2030-01-01 00:00:00', 1],
    );
  });
}

// proves W6.20
test('a resent delivery waits while its webhook is inactive', async () => {
  const { webhookId, post, list } = await addWebhook();
  await post('/product/create', { name: 'Tea', commonPrices: [1] });
  const [delivery] = (await list()).deliveries;
  await world.database.db.query(finishDelivery, {
    deliveryId: delivery.deliveryId,
    status: 'failed',
    attemptedAt: world.clock.now(),
  });
  await post('/webhook/disable', { webhookId });
  await post('/webhook/delivery/resend', { deliveryId: delivery.deliveryId });
  const [parked] = (await list()).deliveries;
  assert.deepEqual([parked.status, parked.nextAttemptAt], ['pending', null]);
  await post('/webhook/enable', { webhookId });
  assert.equal((await list()).deliveries[0].nextAttemptAt, '2030-01-01 00:00:00');
});

test('deliveries that are unknown, of other merchants or of deleted webhooks are 100505', async () => {
  const { webhookId, post, list } = await addWebhook();
  const stranger = await addWebhook();
  await post('/product/create', { name: 'Tea', commonPrices: [1] });
  const { deliveryId } = (await list()).deliveries[0];
  assert.equal((await post('/webhook/delivery/resend', { deliveryId: 'dlv_none' })).code, 100505);
  assert.equal((await stranger.post('/webhook/delivery/resend', { deliveryId })).code, 100505);
  await post('/webhook/remove', { webhookId });
  assert.equal((await post('/webhook/delivery/resend', { deliveryId })).code, 100505);
});

// proves W6.22
test('a delivery is read with its body, its requests without signatures, and the changes between attempts', async () => {
  const { merchantId, key, webhookId, post, list } = await addWebhook(['product.*']);
  await post('/product/create', { name: 'Tea', commonPrices: [1] });
  const [{ deliveryId, eventId }] = (await list()).deliveries;
  const attempts = [
    [1, 500, 'status 500', 'no', 'https://old.example.com/?token=s3cret'],
    [2, 500, 'status 500', 'no', 'https://shop.example.com/'],
    [3, 204, '', '', 'https://shop.example.com/'],
  ] as const;
  for (const [attempt, status, error, body, url] of attempts)
    await world.database.db.query(logAttempt, {
      deliveryId,
      attempt,
      attemptedAt: new Date(1_893_456_000_000),
      httpStatus: status,
      error,
      responseBody: body,
      requestUrl: url,
    });
  const { data } = await world.send('GET', `/webhook/delivery/detail/${deliveryId}`, { key });
  const event = await world.send('GET', `/event/${eventId}`, { key });
  assert.equal(event.text.includes(`"data":${data.body}`), true);
  assert.equal(data.webhookId, webhookId);
  assert.deepEqual(data.attempts[0], {
    attempt: 1,
    at: '2030-01-01 00:00:00',
    request: {
      url: 'https://old.example.com/?token=s3cret',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Florin-Webhooks/1',
        'accept-encoding': 'identity',
        'webhook-id': eventId,
        'webhook-timestamp': '1893456000',
      },
    },
    httpStatus: 500,
    latencyMs: 7,
    error: 'status 500',
    responseBody: 'no',
    changes: [],
  });
  assert.deepEqual(
    data.attempts.map((attempt: { changes: string[] }) => attempt.changes),
    [[], ['url'], ['httpStatus', 'error', 'responseBody']],
  );
  const reader = await world.addKey(merchantId, { preset: 'read_only' });
  const masked = await world.send('GET', `/webhook/delivery/detail/${deliveryId}`, { key: reader });
  assert.equal(masked.data.attempts[0].request.url, 'https://old.example.com/?token=****');
  const stranger = await world.addKey(await world.addMerchant());
  const other = await world.send('GET', `/webhook/delivery/detail/${deliveryId}`, { key: stranger });
  assert.equal(other.code, 100505);
});

// proves W6.23
test('a test may carry an example event of any type, marked as an example', async () => {
  const { key, webhookId, post } = await addWebhook();
  const { eventId } = (await post('/webhook/test', { webhookId, eventType: 'session.completed' })).data;
  const { data } = await world.send('GET', `/event/${eventId}`, { key });
  assert.deepEqual(
    [data.type, data.sequence, data.fixture, data.data.session.status],
    ['session.completed', 1, true, 'completed'],
  );
  const unknown = await post('/webhook/test', { webhookId, eventType: 'session.payed' });
  assert.equal(unknown.code, 400101);
});

test('deliveries are sent again by time and by event through the API', async () => {
  const { webhookId, post, list } = await addWebhook();
  await post('/webhook/disable', { webhookId });
  await post('/product/create', { name: 'Tea', commonPrices: [1] });
  const [{ eventId }] = (await list()).deliveries;
  const range = await post('/webhook/delivery/resend/all', { webhookId, since: 0 });
  assert.deepEqual([range.data.success, range.data.resent, range.data.hasMore], [true, 1, false]);
  assert.equal((await list()).deliveries[0].status, 'pending');
  assert.equal((await post('/webhook/delivery/resend/all', { eventId })).data.resent, 0);
  for (const body of [{}, { webhookId }, { eventId, since: 1 }, { eventId, until: 1 }]) {
    assert.equal((await post('/webhook/delivery/resend/all', body)).code, 400101);
  }
  assert.equal(
    (await post('/webhook/delivery/resend/all', { webhookId, since: 0, statuses: ['lost'] })).code,
    400101,
  );
});
