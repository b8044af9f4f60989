import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '@florin/server/operator';
import { Webhook as Verifier } from 'standardwebhooks';
import { openMerchantCli, until } from './merchant-cli.fixture.ts';

const { receiver, world, key, start, post, newestEvent, close } = await openMerchantCli();
after(close);

test('listen forwards raised events, in order, byte for byte, signed with the printed secret', async () => {
  await post('/product/create', { name: 'Before', commonPrices: [1] });
  const from = await newestEvent();
  const listening = start(['listen', receiver.url, '--events', 'product.*', '--from', from]);
  await until(() => listening.told.length > 0);
  const secret = /whsec_\S+/.exec(listening.told[0] ?? '')?.[0] ?? '';
  await post('/webhook/create', {
    webhookName: 'Other',
    webhookUrl: 'https://shop.example.com/',
    subscribedEvents: ['refund.*'],
  });
  const ids: string[] = [];
  for (const name of ['Tea', 'Cup']) {
    ids.push((await post('/product/create', { name, commonPrices: [1] })).data.productId);
  }
  await post('/product/archive', { productId: ids[0] });
  await until(() => receiver.requests.length === 3);
  listening.end.abort();
  assert.deepEqual(await listening.result, {
    exitCode: 0,
    stdout: 'forwarded 3, of which 3 were accepted\n',
    stderr: '',
  });
  const events = receiver.requests.map(({ body, headers }) => {
    return new Verifier(secret).verify(body, headers as Record<string, string>) as {
      id: string;
      type: string;
      data: { product: { productId: string } };
    };
  });
  assert.deepEqual(
    events.map(({ type, data }) => [type, data.product.productId]),
    [
      ['product.created', ids[0]],
      ['product.created', ids[1]],
      ['product.archived', ids[0]],
    ],
  );
  for (const [index, { id }] of events.entries()) {
    const { text } = await world.send('GET', `/event/${id}`, { key });
    assert.ok(text.includes(`"data":${receiver.requests[index]?.body}`), 'the bytes are those of the event');
  }
});

test('listen continues after an event, and tries again at the times of the service until it is accepted', async () => {
  const { data } = await world.send('GET', '/event/list/1/2', { key });
  const [newest, before] = data.events;
  receiver.requests.length = 0;
  receiver.status = 500;
  const waits: number[] = [];
  // Polls go on in real time; longer waits are noted, and the receiver recovers at the third.
  const clock = {
    ...systemClock,
    sleep: async (ms: number, signal?: AbortSignal) => {
      if (ms < 4_000) return systemClock.sleep(ms, signal);
      if (waits.push(ms) === 3) receiver.status = 204;
    },
  };
  const listening = start(['listen', '--forward-to', receiver.url, '--from', before.id], {}, clock);
  await until(() => listening.told.length === 5);
  listening.end.abort();
  assert.equal((await listening.result).stdout, 'forwarded 1, of which 1 were accepted\n');
  const verdicts = listening.told.slice(1).map((line) => line.replace(/ in \d+ ms/, ''));
  const line = `${newest.type}  ${newest.data.product.productId}  ${newest.id}`;
  assert.deepEqual(verdicts, [
    `FAIL  ${line}  500; again in 5 s; later events of ${newest.data.product.productId} wait`,
    `FAIL  ${line}  attempt 2: 500; again in 5 min; later events of ${newest.data.product.productId} wait`,
    `FAIL  ${line}  attempt 3: 500; again in 30 min; later events of ${newest.data.product.productId} wait`,
    `ok    ${line}  attempt 4: 204`,
  ]);
  assert.deepEqual(waits, [5_000, 300_000, 1_800_000]);
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size, 1);
});

test('listen --fast tries again at once and gives up after as many attempts as the service', async () => {
  const { data } = await world.send('GET', '/event/list/1/2', { key });
  receiver.requests.length = 0;
  receiver.status = 503;
  const args = ['listen', receiver.url, '--from', data.events[1].id, '--fast', '--json'];
  const listening = start(args);
  await until(() => listening.emitted.length === 10);
  receiver.status = 204;
  listening.end.abort();
  assert.equal((await listening.result).stdout, '{"forwarded":1,"taken":0}\n');
  const lines = listening.emitted.map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ attempt, isTaken, httpStatus }) => [attempt, isTaken, httpStatus]),
    Array.from({ length: 10 }, (_, index) => [index + 1, false, 503]),
  );
  assert.equal(receiver.requests.length, 10);
});

test('listen shows the first line of a refusal, and says what a wrong signature comes from', async () => {
  const from = (await world.send('GET', '/event/list/1/2', { key })).data.events[1].id;
  receiver.status = 400;
  for (const [text, shown] of [
    ['webhook_signature_wrong\n', 'webhook_signature_wrong, it verifies with another key'],
    ['\n<h1>Error\u001b[2J</h1>\nat shop.js', '<h1>Error [2J</h1>'],
  ] as const) {
    receiver.text = text;
    const listening = start(['listen', receiver.url, '--from', from]);
    await until(() => listening.told.length > 1);
    listening.end.abort();
    await listening.result;
    assert.match(listening.told[1] ?? '', / 400 in \d+ ms: .*; again in 5 s; later events of \w+ wait$/);
    assert.ok(listening.told[1]?.includes(`: ${shown}; again`), listening.told[1]);
  }
  Object.assign(receiver, { status: 204, text: '' });
});

test('listen without a receiver shows raised events', async () => {
  const tailing = start(['listen', '--events', 'product.created', '--from', await newestEvent()]);
  const { productId } = (await post('/product/create', { name: 'Pot', commonPrices: [1] })).data;
  await until(() => tailing.told.some((line) => line.includes(productId)));
  tailing.end.abort();
  assert.match(tailing.told.at(-1) ?? '', new RegExp(`  product.created  ${productId}  evt_\\w+$`));
  assert.equal((await tailing.result).exitCode, 0);
});
