import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Branding, Delivery, PaymentLinkCreated, Refund, Session, SessionView } from '@florin/sdk';
import { addOrder, happen } from '@florin/server/testing';
import { Webhook as Verifier } from 'standardwebhooks';
import { openMerchantCli, until } from './merchant-cli.fixture.ts';
import { notMade } from './trigger-recipe.ts';

const { folder, url, receiver, world, accountId, key, start, run, json, post, close } =
  await openMerchantCli();
after(close);

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
  assert.match(
    local.stdout,
    /^sent refund.failed as evt_\w{22} to \S+: 204 in \d+ ms\nIt is an example \(fixture: true\): the SDK’s handlers .*\n$/,
  );
  const [request] = receiver.requests;
  const verified = new Verifier(webhook.key).verify(
    request?.body ?? '',
    request?.headers as Record<string, string>,
  ) as { type: string; fixture: boolean };
  assert.deepEqual([verified.type, verified.fixture], ['refund.failed', true]);
});

test('trigger makes an event happen in a local world, or says why it does not', async () => {
  mkdirSync(join(folder, '.florin'), { recursive: true });
  const manifest = { origin: url, merchantApi: url, console: url, secretKey: key, accountId };
  writeFileSync(join(folder, '.florin/world.json'), JSON.stringify(manifest));
  for (const type of [
    ...['product.created', 'product.updated', 'product.archived', 'product.unarchived', 'product.removed'],
    ...['payment.link.created', 'payment.link.updated', 'payment.link.disabled', 'payment.link.enabled'],
    ...['session.created', 'session.cancelled'],
  ]) {
    const { eventId, ...ids } = await json<{ eventId: string }>('trigger', type, '--token', 'ethereum::usdc');
    const event = (await world.send('GET', `/event/${eventId}`, { key })).data;
    const subject = String(Object.values(ids).at(-1));
    assert.deepEqual([event.type, event.fixture], [type, undefined]);
    assert.ok(subject.length > 20 && JSON.stringify(event.data).includes(subject), type);
  }
  for (const type of notMade) {
    const { exitCode, stderr } = await run(['trigger', type]);
    assert.equal(exitCode, 2);
    assert.match(
      stderr,
      new RegExp(`^trigger makes no ${type}, because .*; --webhook and --forward-to send `),
    );
  }
  rmSync(join(folder, '.florin'), { recursive: true });
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
  assert.equal(none.stdout, 'deliveries sent again: 0: no webhook had a delivery that this names\n');
});

test('input that is not understood is reported without calling the API', async () => {
  const cases: [string[], RegExp][] = [
    [['listen', 'ftp://x'], /^the receiver is ftp:\/\/x: give a receiver/],
    [['listen', 'http://127.0.0.1:9/', '--events', 'session'], /^--events has session: /],
    [['listen', 'localhost:9', '--secret', 'abc'], /^--secret is not a key/],
    [
      ['listen', 'https://shop.example.com/hook'],
      /^https:\/\/shop\.example\.com\/hook is not on this machine, and events have the secrets of payment pages: --anywhere /,
    ],
    [['listen', 'shop.example.com', '--anywhere', '--secret', 'abc'], /^--secret is not a key/],
    [
      ['trigger', 'session.payed', '--webhook', 'wkid_1'],
      /^session\.payed is not an event type: did you mean session\.paid\? The types are account\.created, /,
    ],
    [
      ['trigger', 'links.created', '--webhook', 'wkid_1'],
      /^links\.created is not an event type: did you mean payment\.link\.created\? /,
    ],
    [
      ['trigger', 'tea', '--webhook', 'wkid_1'],
      /^tea is not an event type; the types are account\.created, /,
    ],
    [['trigger', 'session.paid'], /^give --webhook or --forward-to; for a real one give --local, /],
    [['resend'], /^give the id of an event or a delivery/],
    [['resend', '--webhook', 'wkid_1', '--since', 'yesterday'], /^--since is yesterday: give a time/],
    [
      ['resend', '--webhook', 'wkid_1', '--since', '1', '--statuses', 'lost'],
      /^--statuses has lost: choose among succeeded, failed, skipped/,
    ],
    [
      ['resend', 'evt_1', 'evt_2'],
      /^too many arguments for 'resend'\. Expected 1 argument but got 2: evt_1, evt_2\./,
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
    [['webhooks', 'create', '--name', 'Shop'], /^--to is missing/],
    [['products', 'create', '--body', '{"name":"Tea"}'], /^--price is missing/],
  ];
  for (const [args, message] of cases) {
    const result = await run(args);
    assert.equal(result.exitCode, 2, args.join(' '));
    assert.match(result.stderr, message);
    // A short line behind it: a list of all options would hide the message.
    const command = args.slice(0, /^(listen|trigger|resend)$/.test(args[0] ?? '') ? 1 : 2).join(' ');
    assert.ok(result.stderr.endsWith(`\nflorin ${command} --help shows its options\n`), result.stderr);
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
  await json('branding', 'update', '--font', 'serif', ...shop);
  const changed = await json<Branding>('branding', 'show');
  const nulls = Object.fromEntries(Object.keys(changed).map((name) => [name, null]));
  const reset = await json<Branding>('branding', 'update', '--body', JSON.stringify(nulls));
  const plain = { cornerRadius: 12, font: 'system', embedOrigins: [], updateAt: reset.updateAt };
  const empty = Object.fromEntries(Object.keys(changed).map((name) => [name, '']));
  assert.deepEqual(reset, { ...empty, ...plain });
  const misspelt = await run(['branding', 'update', '--body', '{"colour":null}']);
  assert.match(misspelt.stderr, /^field_invalid: .*colour/);
  const none = await run(['branding', 'update']);
  assert.deepEqual([none.exitCode, none.stderr.includes('name what to change')], [2, true]);
});

test('exceptions are listed', async () => {
  assert.deepEqual(await json('exceptions', 'list'), []);
  const { stderr } = await run(['exceptions', 'accept', 'exc_none']);
  assert.match(stderr, /^exception_not_found: /);
});
