import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Branding, Delivery, PaymentLinkCreated, Refund, Session, SessionView } from '@florin/sdk';
import { systemClock } from '@florin/server/operator';
import { addOrder, happen, MerchantWorld } from '@florin/server/testing';
import { Webhook as Verifier } from 'standardwebhooks';
import type { CliOutside } from './command.ts';
import { merchantFamily } from './merchant-family.ts';
import { type PlainReceiver, startPlainReceiver } from './plain-receiver.fixture.ts';
import { type CliResult, runProgram } from './program.ts';

let world: MerchantWorld;
let receiver: PlainReceiver;
let url: string;
let key: string;
let accountId: string;
const folder = mkdtempSync(join(tmpdir(), 'florin-cli-story-'));

before(async () => {
  receiver = await startPlainReceiver();
  world = await MerchantWorld.open();
  url = await world.server.listen({ host: '127.0.0.1', port: 0 });
  const merchantId = await world.addMerchant();
  accountId = await world.addAccount(merchantId);
  key = await world.addKey(merchantId);
});
after(async () => {
  await world.close();
  await receiver.close();
  rmSync(folder, { recursive: true });
});

interface Run {
  readonly told: string[];
  readonly emitted: string[];
  readonly end: AbortController;
  readonly result: Promise<CliResult>;
}

const settings = { name: 'florin', description: 'merchant', version: '0', families: [merchantFamily] };

/** Runs a command line against the world's API, with the key from the environment. */
function start(
  args: readonly string[],
  environment: Record<string, string> = {},
  clock: CliOutside['clock'] = systemClock,
): Run {
  const [told, emitted]: [string[], string[]] = [[], []];
  const end = new AbortController();
  const result = runProgram(settings, args, {
    environment: { FLORIN_URL: url, FLORIN_KEY: key, XDG_CONFIG_HOME: folder, ...environment },
    clock,
    folder,
    tell: (sentence) => told.push(sentence),
    emit: (line) => emitted.push(line),
    ending: () => end.signal,
  });
  return { told, emitted, end, result };
}

async function run(args: readonly string[]): Promise<CliResult> {
  return start(args).result;
}

/** Runs a command that must succeed and returns its JSON. */
async function json<Answer>(...args: readonly string[]): Promise<Answer> {
  const result = await run([...args, '--json']);
  assert.deepEqual({ ...result, stdout: '' }, { exitCode: 0, stdout: '', stderr: '' }, result.stdout);
  return JSON.parse(result.stdout) as Answer;
}

const post = (path: string, body: object) => world.send('POST', path, { key, body });

/** The newest event: later ones are certain to be seen, even when a command starts late. */
async function newestEvent(): Promise<string> {
  return (await world.send('GET', '/event/list/1/1', { key })).data.events[0].id;
}

test('a link, a session, its payment at the receiver, and its refund: all from the command line', async () => {
  const link = await json<PaymentLinkCreated>(
    'links',
    'create',
    '--name',
    'Tip',
    '--token',
    'ethereum::usdc',
  );
  assert.deepEqual([link.linkType, link.accountId, link.feeModel], ['custom', accountId, 1]);
  assert.match((await run(['links', 'list'])).stdout, new RegExp(`^LINK .*\n${link.linkId} +active +any `));

  const shown = (await run(['links', 'create', '--name', 'Tip', '--token', 'ethereum::usdc'])).stdout;
  assert.equal(shown.match(/user_priced/g)?.length, 1, shown);

  const most = await json<Session>(
    'sessions',
    'create',
    '--token',
    'ethereum::usdc',
    '--item',
    'Tea=1*10000',
  );
  assert.equal(most.amount, 10_000_000_000);
  const lineItems = [
    { itemType: 'one_time', quantity: 10_001, unitPrice: 1, productData: { productName: 'Tea' } },
  ];
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems };
  assert.equal((await post('/session/checkout/create', body)).code, 400_101);

  const listening = start(['listen', receiver.url, '--events', 'session.paid']);
  await until(() => listening.told.length > 0);
  const item = ['--item', 'Flat white=4.50*2', '--metadata', 'order=A-1042'];
  const session = await json<Session>('sessions', 'create', '--token', 'ethereum::usdc', ...item);
  assert.deepEqual([session.amount, session.metadata], [9_000_000, { order: 'A-1042' }]);
  await happen(world, await addOrder(world, session.sessionId), 'Paid');
  await until(() => receiver.requests.length === 1);
  listening.end.abort();
  assert.equal((await listening.result).stdout, 'forwarded 1, of which 1 were accepted\n');
  const secret = (await run(['listen', '--print-secret'])).stdout.trim();
  const [request] = receiver.requests;
  const event = new Verifier(secret).verify(
    request?.body ?? '',
    request?.headers as Record<string, string>,
  ) as { type: string; data: { session: { sessionId: string } } };
  assert.deepEqual([event.type, event.data.session.sessionId], ['session.paid', session.sessionId]);

  const paid = await json<SessionView[]>('sessions', 'list', '--status', 'paid');
  assert.deepEqual(
    paid.map((view) => view.session.sessionId),
    [session.sessionId],
  );
  const view = (await run(['sessions', 'retrieve', session.sessionId])).stdout;
  assert.match(view, /^amount +\$9\.00$/m);
  assert.match(view, /^expirationTime +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m);
  assert.match(view, /^createAt +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/m);
  assert.match(
    view,
    /^lineItems +lineItemId li_.*, quantity 2, unitPrice \$4\.50, productData productName Flat white/m,
  );
  assert.match(view, /^metadata\.order +A-1042$/m);
  assert.match(view, /^transaction\.orderId +0x/m);
  assert.doesNotMatch(view, /[{}]/);
  const refund = await json<Refund>('refunds', 'create', '--session', session.sessionId, '--reason', 'cold');
  assert.deepEqual([refund.amount, refund.status, refund.reason], [9_000_000, 'pending', 'cold']);
  const again = await run(['refunds', 'create', '--session', session.sessionId, '--amount', '1', '--json']);
  assert.equal(again.exitCode, 1);
  assert.equal(again.stderr, '');
  const { error } = JSON.parse(again.stdout);
  assert.match(error.docUrl, /\/docs\/errors\/1007\d\d$/);
  const sentence = await run(['refunds', 'create', '--session', session.sessionId, '--amount', '1']);
  assert.equal(sentence.stderr, `${error.slug}: ${error.message}, see ${error.docUrl}\n`);
  receiver.requests.length = 0;
});

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
    `FAIL  ${line}  500; again in 5 s`,
    `FAIL  ${line}  attempt 2: 500; again in 5 min`,
    `FAIL  ${line}  attempt 3: 500; again in 30 min`,
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
  assert.deepEqual(JSON.parse((await listening.result).stdout), { forwarded: 1, taken: 0 });
  const lines = listening.emitted.map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ attempt, isTaken, httpStatus }) => [attempt, isTaken, httpStatus]),
    Array.from({ length: 10 }, (_, index) => [index + 1, false, 503]),
  );
  assert.equal(receiver.requests.length, 10);
});

test('listen without a receiver shows raised events', async () => {
  const tailing = start(['listen', '--events', 'product.created', '--from', await newestEvent()]);
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
    [['listen', 'ftp://x'], /^the receiver is ftp:\/\/x: give a receiver/],
    [['listen', 'http://x/', '--events', 'session'], /^--events has session: /],
    [['listen', 'http://x/', '--secret', 'abc'], /^--secret is not a key/],
    [
      ['trigger', 'session.payed', '--webhook', 'wkid_1'],
      /^session\.payed is not an event type; the types are account\.created, /,
    ],
    [['trigger', 'session.paid'], /^give --webhook or --forward-to; for a real payment give --local, /],
    [['resend'], /^give the id of an event or a delivery/],
    [['resend', '--webhook', 'wkid_1', '--since', 'yesterday'], /^--since is yesterday: give a time/],
    [
      ['resend', '--webhook', 'wkid_1', '--since', '1', '--statuses', 'lost'],
      /^--statuses has lost: choose among succeeded, failed, skipped/,
    ],
    [
      ['resend', 'evt_1', 'evt_2'],
      /^error: too many arguments for 'resend'\. Expected 1 argument but got 2: evt_1, evt_2\./,
    ],
    [['sessions', 'create', '--token', 'base::usdc'], /^--item or --product is missing\n/],
    [['sessions', 'create', '--item', 'Tea=3'], /^--token is missing/],
    [
      ['sessions', 'create', '--item', 'Tea=1.2345678'],
      /^--item is 1\.2345678: give US dollars such as 4\.50/,
    ],
    [['sessions', 'create', '--item', 'Tea=1*10001'], /^--item is 10001: give a number from 1 to 10000/],
    [['sessions', 'create', '--item', 'Tea'], /^--item is Tea: give a name and a price/],
    [['sessions', 'create', '--body', '[]'], /^--body is no JSON object/],
    [['sessions', 'create', '--body', '{'], /^--body is no JSON: /],
    [['sessions', 'list', '--limit', '0'], /^--limit is 0: give a number from 1 to 10000/],
    [['links', 'create', '--token', 'base::usdc'], /^--name is missing/],
  ];
  for (const [args, message] of cases) {
    const result = await run(args);
    assert.equal(result.exitCode, 2, args.join(' '));
    assert.match(result.stderr, message);
  }
});

test('the API’s refusal is shown with its slug and page, and an unreachable API is named', async () => {
  const unknown = await run(['resend', 'dlv_none']);
  assert.deepEqual([unknown.exitCode, unknown.stdout], [1, '']);
  assert.match(
    unknown.stderr,
    /^delivery_not_found: .*\(100505\), see https:\/\/\S+\/docs\/errors\/100505\n$/,
  );
  const away = await start(['resend', 'dlv_none'], { FLORIN_URL: 'http://127.0.0.1:9' }).result;
  assert.equal(away.stderr, 'connection_failed: no connection to http://127.0.0.1:9\n');
});

test('logs shows deliveries of every webhook, and the requests and answers of one', async () => {
  const deliveries = await json<(Delivery & { webhookId: string })[]>('logs', '--limit', '3');
  assert.ok(deliveries.length === 3 && (deliveries[0]?.createAt ?? '') >= (deliveries[2]?.createAt ?? ''));
  const { deliveryId, webhookId } = deliveries[0] ?? assert.fail();
  assert.match(
    (await run(['logs', webhookId])).stdout,
    /^DELIVERY +CREATED \(UTC\) +EVENT +STATUS +ATTEMPTS +LAST +NEXT \(UTC\)\n/,
  );
  const one = await run(['logs', deliveryId]);
  assert.match(one.stdout, new RegExp(`^\\S+  evt_\\w+  to ${webhookId}: \\w+\n(.*\n)*\\{.*\\}\n$`));
});

test('branding changes what the options name, and keeps the rest', async () => {
  const shop = ['--embed-origin', 'https://shop.example'];
  await json('branding', 'update', '--color', '#0b6b4d', '--legal-name', 'Tea Ltd', ...shop);
  const { updateAt: _at, ...brand } = await json<Branding>('branding', 'update', '--corner-radius', '4');
  assert.deepEqual(
    [brand.color, brand.legalName, brand.cornerRadius, brand.embedOrigins],
    ['#0b6b4d', 'Tea Ltd', 4, ['https://shop.example']],
  );
  assert.deepEqual((await json<Branding>('branding', 'update', '--embed-origin', '')).embedOrigins, []);
  const none = await run(['branding', 'update']);
  assert.deepEqual([none.exitCode, none.stderr.includes('name what to change')], [2, true]);
});

test('exceptions are listed', async () => {
  assert.deepEqual(await json('exceptions', 'list'), []);
  const { stderr } = await run(['exceptions', 'accept', 'exc_none']);
  assert.match(stderr, /^exception_not_found: /);
});

/** Asks every 20 ms; gives up late, for slow machines. */
async function until(isDone: () => boolean): Promise<void> {
  const end = performance.now() + 120_000;
  while (!isDone()) {
    if (performance.now() > end) throw new Error('waited in vain');
    await delay(20);
  }
}
