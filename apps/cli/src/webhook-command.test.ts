import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '@florin/server/operator';
import { MerchantWorld } from '@florin/server/testing';
import { Webhook as Verifier } from 'standardwebhooks';
import { type CliResult, runCli } from './cli.ts';
import { type PlainReceiver, startPlainReceiver } from './plain-receiver.fixture.ts';

let world: MerchantWorld;
let receiver: PlainReceiver;
let api: string;
let key: string;

before(async () => {
  receiver = await startPlainReceiver();
  world = await MerchantWorld.open();
  api = `${await world.server.listen({ host: '127.0.0.1', port: 0 })}/payment/v1`;
  key = await world.addKey(await world.addMerchant());
});
after(async () => {
  await world.close();
  await receiver.close();
});

interface Run {
  readonly told: string[];
  readonly end: AbortController;
  readonly result: Promise<CliResult>;
}

/** Runs a command line against the world's API, with the key from the environment. */
function start(args: readonly string[], environment: Record<string, string> = {}): Run {
  const told: string[] = [];
  const end = new AbortController();
  const result = runCli(args, {
    environment: { FLORIN_API_URL: api, FLORIN_API_KEY: key, ...environment },
    clock: systemClock,
    random: systemRandom,
    tell: (sentence) => told.push(sentence),
    ending: () => end.signal,
  });
  return { told, end, result };
}

async function run(args: readonly string[]): Promise<CliResult> {
  return start(args).result;
}

const post = (path: string, body: object) => world.send('POST', path, { key, body });

/** The newest event: later ones are certain to be seen, even when a command starts late. */
async function newestEvent(): Promise<string> {
  return (await world.send('GET', '/event/list/1/1', { key })).data.events[0].id;
}

test('listen forwards raised events, in order, byte for byte, signed with the printed secret', async () => {
  await post('/product/create', { name: 'Before', commonPrices: [1] });
  const from = await newestEvent();
  const listening = start(['listen', '--forward-to', receiver.url, '--events', 'product.*', '--from', from]);
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

test('listen continues after an event, and shows what its receiver refuses', async () => {
  const { data } = await world.send('GET', '/event/list/1/2', { key });
  const [newest, before] = data.events;
  receiver.requests.length = 0;
  receiver.status = 500;
  const listening = start(['listen', '--forward-to', receiver.url, '--from', before.id]);
  await until(() => listening.told.length === 2);
  receiver.status = 204;
  listening.end.abort();
  assert.equal((await listening.result).stdout, 'forwarded 1, of which 0 were accepted\n');
  assert.match(listening.told[1] ?? '', new RegExp(`^FAIL  \\S+  \\S+  ${newest.id}  500 in \\d+ ms$`));
});

test('events shows raised events', async () => {
  const tailing = start(['events', '--events', 'product.created', '--from', await newestEvent()]);
  const { productId } = (await post('/product/create', { name: 'Pot', commonPrices: [1] })).data;
  await until(() => tailing.told.some((line) => line.includes(productId)));
  tailing.end.abort();
  assert.match(tailing.told.at(-1) ?? '', new RegExp(`  product.created  ${productId}  evt_\\w+$`));
  assert.equal((await tailing.result).exitCode, 0);
});

test('trigger sends an example event to a webhook, or straight to a receiver', async () => {
  const webhook = (
    await post('/webhook/create', {
      webhookName: 'Shop',
      webhookUrl: 'https://shop.example.com/',
      subscribedEvents: ['*'],
    })
  ).data;
  const sent = await run(['trigger', 'session.paid', '--webhook', webhook.webhookId, '--json']);
  const { eventId } = JSON.parse(sent.stdout);
  const event = (await world.send('GET', `/event/${eventId}`, { key })).data;
  assert.deepEqual([event.type, event.fixture, event.data.session.status], ['session.paid', true, 'paid']);

  receiver.requests.length = 0;
  const local = await run([
    'trigger',
    'refund.failed',
    '--forward-to',
    receiver.url,
    '--secret',
    webhook.key,
  ]);
  assert.match(local.stdout, /^sent refund.failed as evt_\w{22} to \S+: 204 in \d+ ms\n$/);
  const [request] = receiver.requests;
  const verified = new Verifier(webhook.key).verify(
    request?.body ?? '',
    request?.headers as Record<string, string>,
  ) as { type: string; fixture: boolean };
  assert.deepEqual([verified.type, verified.fixture], ['refund.failed', true]);
});

test('resend takes a delivery, an event, or the deliveries of a time', async () => {
  const { webhookId } = (
    await post('/webhook/create', {
      webhookName: 'Off',
      webhookUrl: 'https://off.example.com/',
      subscribedEvents: ['product.*'],
    })
  ).data;
  await post('/webhook/disable', { webhookId });
  await post('/product/create', { name: 'Jar', commonPrices: [1] });
  await post('/product/create', { name: 'Lid', commonPrices: [1] });
  const list = async () =>
    (await world.send('GET', `/webhook/delivery/list/${webhookId}/1/10`, { key })).data.deliveries as {
      deliveryId: string;
      eventId: string;
      status: string;
    }[];
  const [second, first] = await list();
  const one = await run(['resend', first?.deliveryId ?? '']);
  assert.equal(one.stdout, `${first?.deliveryId} is sent again\n`);
  const event = await run(['resend', second?.eventId ?? '', '--webhook', webhookId]);
  assert.equal(event.stdout, 'deliveries sent again: 1\n');
  assert.deepEqual(
    (await list()).map(({ status }) => status),
    ['pending', 'pending'],
  );
  const none = await run(['resend', '--webhook', webhookId, '--since', '2020-01-01T00:00:00Z']);
  assert.equal(none.stdout, 'deliveries sent again: 0\n');
});

test('input that is not understood is reported without calling the API', async () => {
  const cases: [string[], RegExp][] = [
    [['listen', '--forward-to', 'ftp://x'], /^--forward-to is ftp:\/\/x: give a URL/],
    [['listen', '--forward-to', 'http://x/', '--events', 'session'], /^--events has session: /],
    [
      ['trigger', 'session.payed', '--webhook', 'wkid_1'],
      /^session\.payed is not an event type; the types are account\.created, /,
    ],
    [['trigger', 'session.paid'], /^give --webhook or --forward-to\n/],
    [['resend'], /^give the id of an event or a delivery/],
    [['resend', '--webhook', 'wkid_1', '--since', 'yesterday'], /^--since is yesterday: give a time/],
    [
      ['resend', 'evt_1', 'evt_2'],
      /^error: too many arguments for 'resend'\. Expected 1 argument but got 2: evt_1, evt_2\./,
    ],
  ];
  for (const [args, message] of cases) {
    const result = await run(args);
    assert.equal(result.exitCode, 2);
    assert.match(result.stderr, message);
  }
});

test('the API’s refusal is shown with its own message, and an unreachable API is named', async () => {
  const unknown = await run(['resend', 'dlv_none']);
  assert.deepEqual([unknown.exitCode, unknown.stdout], [1, '']);
  assert.match(unknown.stderr, /^100505 /);
  const away = await start(['resend', 'dlv_none', '--api', 'http://127.0.0.1:9']).result;
  assert.match(away.stderr, /^http:\/\/127\.0\.0\.1:9 does not answer: /);
});

test('without an API and a world, a command reports what to specify', async () => {
  const empty = fileURLToPath(new URL('./', import.meta.url));
  const environment = { FLORIN_API_URL: '', FLORIN_API_KEY: '', FLORIN_HOME: empty };
  const { FLORIN_HOME } = environment;
  const result = await runCli(['events'], {
    environment: { FLORIN_HOME },
    clock: systemClock,
    random: systemRandom,
    tell: () => {},
  });
  assert.equal(result.exitCode, 2);
  assert.match(result.stderr, /^no API: give --api and --key/);
});

/** Asks every 20 ms; gives up late, for slow machines. */
async function until(isDone: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!isDone()) {
    if (performance.now() > end) throw new Error('waited in vain');
    await systemClock.sleep(20);
  }
}
