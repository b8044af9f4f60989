import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chooseLanguage } from '@florin/checkout';
import { type ErrorName, Refusal } from '@florin/protocol/error.ts';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { zeroAddress } from 'viem';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { ChangeJournal } from '../../../test/fuzz/change-journal.ts';
import { checkoutOptionsOf } from '../../../test/harness/checkout-fixture.ts';
import { localLimits } from '../../../test/harness/local-limits.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { defaultRateLimits, limitedDoor } from '../rate-limit.ts';
import { buildServer } from '../server.ts';
import { checkoutDoor } from './checkout-door.ts';
import { wordsOfRefusal } from './refusal-words.ts';

let world: MerchantWorld;
let journal: ChangeJournal;
let pages: FastifyInstance;
let linkId: string;
let linkVersion: string;
let key: string;
let accountId: string;

const most = 5;

before(async () => {
  world = await MerchantWorld.open();
  const signedRequests = { count: most, seconds: 60, burst: most };
  const door = checkoutDoor(checkoutOptionsOf(world));
  pages = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      limitedDoor('checkout', door, localLimits({ ...defaultRateLimits, signedRequests }, world.clock)),
    ],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  const product = { name: 'Green tea', commonPrices: [2_500_000] };
  const { productId } = (await world.send('POST', '/product/create', { key, body: product })).data;
  const body = {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 2_500_000 }],
  };
  const link = (await world.send('POST', '/payment/link/create', { key, body })).data;
  linkId = link.linkId;
  linkVersion = link.versionCode;
  journal = await ChangeJournal.install(world.database.url);
});
after(async () => {
  await journal.close();
  await pages.close();
  await world.close();
});

/** Each request comes from its own address, unless one is given. */
let addresses = 0;
function nextAddress(): string {
  addresses += 1;
  return `10.0.0.${addresses}`;
}
function post(
  url: string,
  fields: Record<string, string>,
  headers: Record<string, string>,
  remoteAddress = nextAddress(),
): Promise<LightMyRequestResponse> {
  return pages.inject({
    method: 'POST',
    url,
    remoteAddress,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  });
}

const own = { 'sec-fetch-site': 'same-origin' };

test('a form of our own page begins a session, and only the fragment contains its secret', async () => {
  const reply = await post(`/link/${linkId}?lang=de`, { linkVersion }, own);
  assert.equal(reply.statusCode, 303);
  assert.match(String(reply.headers.location), /^\/checkout\/sess_[0-9A-Za-z]{22}\?lang=de#[0-9A-Za-z]{22}$/);
  assert.deepEqual([reply.body, reply.headers['cache-control']], ['', 'no-store']);
});

// proves W2.9
test('a session of the hosted link page has sessionType lnk, and its link as business id', async () => {
  const begun = await post(`/link/${linkId}`, { linkVersion }, own);
  const sessionId = /sess_[0-9A-Za-z]{22}/.exec(String(begun.headers.location))?.[0];
  const { session } = (await world.send('GET', `/session/${sessionId}`, { key })).data;
  const { sessionType, businessType, businessId, status } = session;
  assert.deepEqual(
    { sessionType, businessType, businessId, status },
    { sessionType: 'lnk', businessType: 'payment_link', businessId: linkId, status: 'initialized' },
  );
});

test('a form from another site, or without an origin, changes nothing and leads to the page', async () => {
  const begun = await post(`/link/${linkId}`, { linkVersion }, own);
  const session = String(begun.headers.location).split('#')[0] ?? '';
  const deposit = { tokenId: 'ethereum::usdc', payer: `0x${'d4'.repeat(20)}`, payerEmail: '' };
  await journal.take();
  const strangers: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: world.deps.origin },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ];
  for (const headers of strangers) {
    for (const [url, fields, page] of [
      [`/link/${linkId}`, { linkVersion }, `/link/${linkId}`],
      [`${session}/deposit`, deposit, session],
    ] as const) {
      const reply = await post(url, fields, headers);
      assert.deepEqual([reply.statusCode, reply.headers.location], [303, page], JSON.stringify(headers));
    }
  }
  assert.deepEqual(await journal.take(), []);
  // A browser without Sec-Fetch-Site whose origin is ours.
  assert.equal((await post(`${session}/deposit`, deposit, { origin: world.deps.origin })).statusCode, 200);
});

test('a form says why it refuses a refund address', async () => {
  const begun = await post(`/link/${linkId}`, { linkVersion }, own);
  const session = String(begun.headers.location).split('#')[0] ?? '';
  const gateway = world.deps.chains.all[0]?.gateway ?? '';
  const { refundWrong, refundLost } = chooseLanguage('en', undefined).texts;
  for (const [payer, problem] of [
    ['0x1234', refundWrong],
    // One wrong character of a checksummed address.
    ['0xAb5801a7D398351b8bE11C439e05C5B3259aeC9c', refundWrong],
    [zeroAddress, refundLost],
    [gateway, refundLost],
  ]) {
    const fields = { tokenId: 'ethereum::usdc', payer: payer ?? '', payerEmail: '' };
    const reply = await post(`${session}/deposit`, fields, own);
    const shown = /id="form-problem">([^<]*)</.exec(reply.body)?.[1];
    assert.equal(shown, problem, payer);
  }
});

test('forms share the script’s rate limit for an address', async () => {
  const codes: number[] = [];
  for (let time = 0; time <= most; time += 1) {
    codes.push((await post(`/link/${linkId}`, { linkVersion }, own, '10.1.0.1')).statusCode);
  }
  assert.deepEqual(codes, [...Array.from({ length: most }, () => 303), 429]);
});

test('a form is accepted only from our own pages, and only up to its size limit', async () => {
  const large = await post(`/link/${linkId}`, { linkVersion, more: 'x'.repeat(5_000) }, own);
  const reply = await post('/checkout/api/session', { linkId, linkVersion }, own);
  const unknown = await post('/link/lnk_none', { linkVersion }, own);
  assert.deepEqual([large.statusCode, reply.statusCode, unknown.statusCode], [413, 415, 404]);
});

test('the page of a payment keeps the title that its link had when the payment began', async () => {
  const { productId } = (
    await world.send('POST', '/product/create', {
      key,
      body: { name: 'Black tea', commonPrices: [2_500_000] },
    })
  ).data;
  const terms = {
    ...{ accountId, settlementToken: 'ethereum::usdc', feeModel: 1 },
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 2_500_000 }],
  };
  const body = { linkType: 'fixed', linkName: 'Spring sale', ...terms };
  const link = (await world.send('POST', '/payment/link/create', { key, body })).data;
  const begun = await post(`/link/${link.linkId}`, { linkVersion: link.versionCode }, own);
  const url = new URL(begun.headers.location ?? '', world.deps.origin).pathname;
  for (const linkName of ['Summer sale', 'Autumn sale']) {
    world.clock.time += 1_000;
    const shown = (await world.send('GET', `/payment/link/${link.linkId}`, { key })).data;
    const update = { linkId: link.linkId, linkType: 'fixed', ...terms, lineItems: shown.lineItems, linkName };
    const { code, message } = await world.send('POST', '/payment/link/update', { key, body: update });
    assert.equal(code, 0, message);
  }
  const { body: page } = await pages.inject({ url });
  assert.deepEqual(
    ['Spring sale', 'Summer sale', 'Autumn sale'].map((title) => page.includes(title)),
    [true, false, false],
  );
  assert.match((await pages.inject({ url: `/link/${link.linkId}` })).body, /Autumn sale/);
});

test('a refusal is told in the language of the reader, and by its code where the page has no words for it', () => {
  const german = chooseLanguage('de', undefined);
  const told = (slug: ErrorName) =>
    wordsOfRefusal(german, new Refusal(slug, 'some detail'), `0x${'ab'.repeat(20)}`);
  assert.equal(told('session_expired'), 'Die Zeit zum Bezahlen ist abgelaufen.');
  assert.equal(
    told('payer_mismatch'),
    'Nur die Wallet 0xabab…abab kann diese Zahlung ausführen. Verbinden Sie diese.',
  );
  assert.equal(
    told('internal'),
    'Bezahlen ist zurzeit nicht möglich. Versuchen Sie es später erneut. (999999)',
  );
});
