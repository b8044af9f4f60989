import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import sharp from 'sharp';
import { cardDrawer, cardSize } from '#catalog/images/link-card.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { ChangeJournal } from '../../../test/fuzz/change-journal.ts';
import { checkoutOptionsOf } from '../../../test/harness/checkout-fixture.ts';
import { deepOnly } from '../../../test/harness/deep-only.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { buildServer } from '../server.ts';
import { checkoutDoor } from './checkout-door.ts';

let world: MerchantWorld;
let journal: ChangeJournal;
let pages: FastifyInstance;
let key: string;
let accountId: string;

before(async () => {
  world = await MerchantWorld.open();
  const { origin } = world.deps;
  pages = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    // A picture takes real time.
    doors: [
      checkoutDoor({ ...checkoutOptionsOf(world), clock: { ...world.clock, sleep: systemClock.sleep } }),
    ],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  journal = await ChangeJournal.install(world.database.url);
});
after(async () => {
  await journal.close();
  await pages.close();
  await world.close();
});

async function addLink(changes: object = {}): Promise<{ linkId: string; linkUrl: string }> {
  const product = { name: 'Green tea', commonPrices: [2_500_000] };
  const { productId } = (await world.send('POST', '/product/create', { key, body: product })).data;
  const body = {
    linkType: 'fixed',
    linkName: 'Tea shop',
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 2, unitPrice: 2_500_000 }],
    ...changes,
  };
  return (await world.send('POST', '/payment/link/create', { key, body })).data;
}

async function view(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; type: unknown; text: string }> {
  const { pathname } = new URL(url, world.deps.origin);
  const reply = await pages.inject({ url: pathname, headers });
  return { status: reply.statusCode, type: reply.headers['content-type'], text: reply.body };
}

// proves S1.3, S3.8, W1.1
test('the URLs of links and sessions lead to hosted pages that name what is paid, and viewing them writes no row', async () => {
  const { linkId, linkUrl } = await addLink();
  const disabled = await addLink({ customDisabledText: 'Back in spring' });
  await world.send('POST', '/payment/link/disable', { key, body: { linkId: disabled.linkId } });
  const ended = await addLink({ activeUntil: Math.floor(world.clock.time / 1000) + 60 });
  world.clock.time += 60_000;
  const lineItems = [
    { itemType: 'one_time', quantity: 1, unitPrice: 7_250_000, productData: { productName: 'Gift card' } },
  ];
  const session = (
    await world.send('POST', '/session/checkout/create', {
      key,
      body: { accountId, settlementToken: 'ethereum::usdc', lineItems },
    })
  ).data;
  await journal.take();
  const html = 'text/html; charset=utf-8';
  const seen: [url: string, status: number, words: string[]][] = [
    [linkUrl, 200, ['$5.00', 'Tea shop', 'Green tea']],
    [disabled.linkUrl, 200, ['Back in spring']],
    [ended.linkUrl, 200, ['This payment link has ended.']],
    [session.paymentUrl, 200, ['$7.25', 'Gift card']],
    [`/link/${linkId}x`, 404, []],
    ['/checkout/sess_none', 404, []],
  ];
  for (const [url, status, words] of seen) {
    for (let time = 0; time < 3; time += 1) {
      const page = await view(url);
      assert.deepEqual([page.status, page.type], [status, html], url);
      for (const word of words) assert.ok(page.text.includes(word), `${url}: ${word}`);
    }
  }
  assert.deepEqual(await journal.take(), []);
});

test('payers who have not paid have a way back to the shop, with what became of the session', async () => {
  const cancelUrl = 'https://shop.example/cart?s={SESSION_ID}';
  const { linkUrl } = await addLink({ cancelUrl });
  const lineItems = [
    { itemType: 'one_time', quantity: 1, unitPrice: 7_250_000, productData: { productName: 'Gift card' } },
  ];
  const body = { accountId, settlementToken: 'ethereum::usdc', lineItems, cancelUrl, autoReturn: 'never' };
  const { sessionId, paymentUrl } = (await world.send('POST', '/session/checkout/create', { key, body }))
    .data;
  const backOf = async (url: string) =>
    /href="(https:\/\/shop\.example\/cart[^"]*)"/.exec((await view(url)).text)?.[1]?.replaceAll('&amp;', '&');
  assert.equal(await backOf(linkUrl), 'https://shop.example/cart?s=&florin_status=open');
  assert.equal(await backOf(paymentUrl), `https://shop.example/cart?s=${sessionId}&florin_status=open`);
  await world.send('POST', '/session/checkout/cancel', { key, body: { sessionId } });
  assert.equal(await backOf(paymentUrl), `https://shop.example/cart?s=${sessionId}&florin_status=cancelled`);
  const read = (await world.send('GET', `/session/${sessionId}`, { key })).data;
  assert.deepEqual([read.session.cancelUrl, read.session.autoReturn], [cancelUrl, 'never']);
});

// proves W1.8
test('the Host header changes no page', async () => {
  const { linkUrl } = await addLink();
  // New in every answer: the nonces of the page's scripts.
  const textOf = async (headers: Record<string, string> = {}) =>
    (await view(linkUrl, headers)).text.replaceAll(/nonce="[^"]+"/g, '');
  const forged = await textOf({ host: 'evil.example', 'x-forwarded-host': 'evil.example' });
  assert.ok(forged === (await textOf()), 'the page is another one');
});

/** The Open Graph facts of a page, as a chat's bot reads them. */
async function cardOf(url: string): Promise<Record<string, string>> {
  const { text } = await view(url, { 'user-agent': 'Slackbot-LinkExpanding 1.0' });
  const tags = text.matchAll(/<meta (?:property="og:|name="twitter:)([^"]+)" content="([^"]*)">/g);
  return Object.fromEntries([...tags].map(([, name = '', content = '']) => [name, content]));
}

async function pictureOf(url: string) {
  const { pathname, search } = new URL(url);
  const { statusCode, headers, rawPayload } = await pages.inject({ url: `${pathname}${search}` });
  assert.deepEqual([statusCode, headers['content-type']], [200, 'image/png']);
  const { format, width, height } = await sharp(rawPayload).metadata();
  assert.deepEqual({ format, width, height }, { format: 'png', ...cardSize });
  assert.ok(rawPayload.length < 200_000, `${rawPayload.length} bytes`);
  return rawPayload;
}

/** The colour of the strip at the lower edge. */
async function stripOf(picture: Buffer): Promise<number[]> {
  const place = { left: 600, top: 620, width: 1, height: 1 };
  return [...(await sharp(picture).removeAlpha().extract(place).raw().toBuffer())];
}

test('a chat that previews a link gets its name, its price and a picture in the merchant’s colour', async () => {
  const { linkUrl } = await addLink();
  const { image = '', ...card } = await cardOf(linkUrl);
  assert.deepEqual(card, {
    ...{
      type: 'website',
      site_name: 'Test merchant',
      title: 'Tea shop · Test merchant',
      card: 'summary_large_image',
    },
    ...{ description: '$5.00 · Test merchant', 'image:type': 'image/png', 'image:width': '1200' },
    ...{ 'image:height': '630', 'image:alt': 'Tea shop · Test merchant' },
  });
  const plain = await pictureOf(image);
  assert.ok(plain.equals(await pictureOf(image)), 'the same facts, the same picture');
  await world.send('POST', '/branding/update', { key, body: { color: '#7a1fa2', background: '#12343b' } });
  const branded = await cardOf(linkUrl);
  assert.notEqual(branded['image'], image);
  assert.deepEqual(await stripOf(await pictureOf(branded['image'] ?? '')), [0x7a, 0x1f, 0xa2]);
  assert.equal((await pages.inject({ url: '/link/lnk_none/picture.png' })).statusCode, 404);
});

test('no text of a merchant breaks the picture', deepOnly, async () => {
  const draw = cardDrawer({ clock: systemClock });
  const colors = {
    ground: '#ffffff',
    ink: '#000000',
    soft: '#555555',
    accent: '#0b6b4d',
    onAccent: '#ffffff',
  };
  const texts = [
    '',
    '👨‍👩‍👧‍👦🇩🇪',
    'متجر الشاي في المدينة القديمة',
    '</span><span foreground="red" size="9999999">&amp;&bogus;',
    'Wm'.repeat(2_500),
    'tea '.repeat(1_250),
    `T${'\u0321\u0489'.repeat(50)}`,
  ];
  for (const text of texts) {
    const picture = await draw({
      ...{ ...colors, merchant: text, title: text, amount: '$10,000,000.000001' },
      ...{ logo: undefined, hasPlate: false },
    });
    const { width, height } = await sharp(picture).metadata();
    assert.deepEqual({ width, height }, { ...cardSize }, text.slice(0, 40));
    assert.deepEqual(await stripOf(picture), [0x0b, 0x6b, 0x4d], text.slice(0, 40));
    // A title that cannot be drawn has words in its place.
    const title = { left: 80, top: 232, width: 1040, height: 170 };
    const { channels } = await sharp(picture).removeAlpha().extract(title).stats();
    assert.ok((channels[0]?.min ?? 255) < 80, text.slice(0, 40));
  }
});
