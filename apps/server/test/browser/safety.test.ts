import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { statement } from '@florin/pg';
import { visibleText } from '@florin/protocol/visible-text.ts';
import type { Browser } from 'playwright-core';
import { fuzzFactor } from '../fuzz/seed.ts';
import { openChromium, openPage } from './chromium.ts';
import { injectStub, PageWorld } from './page-world.ts';
import { scriptCorpus } from './script-corpus.ts';
import { makePhone, openedBy, walletApps } from './wallet-app.ts';

let world: PageWorld;
let browser: Browser;

before(async () => {
  browser = await openChromium();
  world = await PageWorld.open();
});
after(async () => {
  await browser.close();
  await world.close();
});

/** A link with a payload in every text that a merchant controls; `textOf` gives that of a field by its number. */
async function addHostileLink(textOf: (field: number) => string): Promise<string> {
  const productId = await world.addProduct({
    name: nameOf(textOf(1)),
    description: textOf(2),
    attributes: [{ name: nameOf(textOf(3).slice(0, 40)), value: textOf(4) }],
  });
  await world.nameMerchant(textOf(5));
  return world.addLink({
    linkName: nameOf(textOf(0)),
    customSuccessText: textOf(6),
    customDisabledText: textOf(7),
    lineItems: [{ itemType: 'product', productId, quantity: 2, unitPrice: 12_500_000 }],
  });
}
const fields = 8;

/** A payload as a name can have it: other characters than visible ones are refused. */
const nameOf = (payload: string) => visibleText(payload).trim() || 'x';

/**
 * The payloads of each link, by field. In `npm test` every payload is in one field of one link, and in
 * `npm run test:deep` in every field.
 */
const hostileLinks =
  fuzzFactor > 1
    ? scriptCorpus.map((payload) => () => payload)
    : Array.from({ length: Math.ceil(scriptCorpus.length / fields) }, (_none, link) => {
        return (field: number) => scriptCorpus[(link * fields + field) % scriptCorpus.length] ?? '';
      });

test('on a phone without a wallet each app is offered by a link that it reads, to this session and without its secret', async () => {
  const { page } = await openPage(browser, { phone: true });
  await makePhone(page);
  const { path } = await world.begin(await world.addLink());
  await world.visit(page, path);
  await page.locator('#apps a').first().waitFor();
  const links = await page.locator('#apps a').evaluateAll((all) => all.map((each) => String(each)));
  // A link passes servers of the app's maker, which must not learn the secret. The page can be paid without it.
  const url = `${world.origin}${path.replace(/#.*/, '')}`;
  assert.deepEqual(
    links.map(openedBy),
    walletApps.map((name) => ({ name, url })),
  );
  await page.close();
});

test('no text of a merchant runs as a script: any payload, in any field, before and after the payment', async () => {
  const { page, complaints } = await openPage(browser);
  let ran = 0;
  await page.exposeFunction('__x', () => {
    ran += 1;
  });
  page.on('dialog', (dialog) => {
    ran += 1;
    void dialog.dismiss();
  });
  for (const textOf of hostileLinks) {
    const linkId = await addHostileLink(textOf);
    await world.visit(page, `/link/${linkId}`);
    await page.locator('#no-wallet').waitFor();
    const { path } = await world.addPaid(linkId);
    await world.visit(page, path);
    await page.locator('.success').waitFor();
    const shown = await page.locator('.title').textContent();
    assert.equal(shown, nameOf(textOf(0)));
    await world.disableLink(linkId);
    await world.visit(page, `/link/${linkId}`);
  }
  assert.deepEqual([ran, complaints.errors], [0, []]);
  await page.close();
});

test("a wallet's name and icon are only text and an image to the page", async () => {
  const { page } = await openPage(browser);
  await page.addInitScript(`globalThis.__x = () => { globalThis.ran = true; };
    addEventListener('eip6963:requestProvider', () => dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: {
      info: { uuid: 'a"><img src=x onerror=__x()>', name: '<img src=x onerror=__x()>', icon: 'https://evil.example/x.png' },
      provider: { request: async () => { throw new Error('<img src=x onerror=__x()>'); } } } })));`);
  await world.visit(page, `/link/${await world.addLink()}`);
  await page.locator('.wallet').click();
  await page.locator('#problem').filter({ hasText: 'Try again. (<img' }).waitFor();
  assert.deepEqual(
    await page.evaluate('[globalThis.ran === true, document.querySelectorAll(".wallet img").length]'),
    [false, 0],
  );
  await page.close();
});

test("a wallet's name and its error lose what turns or hides text", async () => {
  const { page } = await openPage(browser);
  await page.addInitScript(`addEventListener('eip6963:requestProvider', () => {
    for (const [uuid, name] of [['a', 'Good\\u202e\\u200bWal\\u0007let'], ['b', '\\u2066\\u2069']])
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: {
        info: { uuid, name, icon: '' },
        provider: { request: async () => { throw new Error('no\\u202e reason'); } } } }));
  });`);
  await world.visit(page, `/link/${await world.addLink()}`);
  await page.locator('.wallet').first().click();
  await page.locator('#problem').getByText('nothing was paid. Try again. (no reason)').waitFor();
  assert.deepEqual(await page.locator('.wallet bdi').allTextContents(), ['GoodWallet', 'Browser wallet']);
  await page.close();
});

test('foreign code cannot run: the policy refuses inline scripts, HTML from text, and frames', async () => {
  const { page } = await openPage(browser);
  await injectStub(page);
  await world.visit(page, `/link/${await world.addLink()}`);
  await page.locator('.wallet').waitFor();
  const refused = await page.evaluate(`(async () => {
    const seen = [];
    addEventListener('securitypolicyviolation', ({ effectiveDirective }) => seen.push(effectiveDirective));
    const script = document.createElement('script');
    try { script.textContent = 'globalThis.ran = true'; document.body.append(script); } catch { seen.push('text'); }
    try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch { seen.push('html'); }
    const image = new Image();
    image.src = 'https://evil.example/x.png';
    await fetch('https://evil.example/').catch(() => seen.push('fetch'));
    globalThis.refused = seen;
    return [globalThis.ran === true, seen.includes('html'), seen.includes('fetch')];
  })()`);
  assert.deepEqual(refused, [false, true, true]);
  // The browser reports these violations later.
  await page.waitForFunction(`['img-src', 'connect-src'].every((name) => globalThis.refused.includes(name))`);
  await page.goto('about:blank');
  await page.close();
});

/** The headers of every page and of the script, which browsers enforce. */
test('pages and the script have their headers', async () => {
  const headersOf = async (path: string) => {
    const reply = await fetch(`${world.origin}${path}`);
    return { headers: Object.fromEntries(reply.headers), text: await reply.text() };
  };
  const link = await headersOf(`/link/${await world.addLink()}`);
  const nonce = /script-src 'nonce-([^']+)'/.exec(link.headers['content-security-policy'] ?? '')?.[1] ?? '';
  const policy = [
    "default-src 'none'",
    "script-src 'nonce-N' 'strict-dynamic'",
    "style-src 'sha256-H' 'sha256-H'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const shown = (link.headers['content-security-policy'] ?? '')
    .replace(nonce, 'N')
    .replaceAll(/sha256-[^']+/g, 'sha256-H');
  assert.deepEqual([Buffer.from(nonce, 'base64').length, shown], [16, policy]);
  const names = [
    'cache-control',
    'referrer-policy',
    'x-content-type-options',
    'cross-origin-opener-policy',
    'vary',
  ];
  assert.deepEqual(
    names.map((name) => link.headers[name]),
    ['no-store', 'no-referrer', 'nosniff', 'same-origin-allow-popups', 'accept-language, accept-encoding'],
  );
  const path = /src="(\/checkout\/assets\/[^"]+)" integrity="sha384-/.exec(link.text)?.[1] ?? '';
  const script = await headersOf(path);
  assert.deepEqual(
    ['content-type', 'cache-control', 'x-content-type-options'].map((name) => script.headers[name]),
    ['text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', 'nosniff'],
  );
  assert.equal((await fetch(`${world.origin}/checkout/assets/other.js`)).status, 404);
});

// proves W2.10
test('a session shows its e-mail address and receipt only to its own secret', async () => {
  const { sessionId, path } = await world.addPaid(await world.addLink());
  const code = path.split('#')[1] ?? '';
  const ask = async (clientCode?: string) => {
    const headers: Record<string, string> = clientCode === undefined ? {} : { 'x-client-code': clientCode };
    const reply = await fetch(`${world.origin}/checkout/api/session/${sessionId}/receipt`, { headers });
    return (await reply.json()) as { code: number; data: { payerEmail: string } | null };
  };
  const replies = [await ask(), await ask('x'), await ask(`${code}x`), await ask(code)];
  assert.deepEqual(
    replies.map((reply) => [reply.code, reply.data?.payerEmail]),
    [
      [100202, undefined],
      [100202, undefined],
      [100202, undefined],
      [0, 'payer@example.com'],
    ],
  );
  const state = await (await fetch(`${world.origin}/checkout/api/session/${sessionId}`)).text();
  const page = await (await fetch(`${world.origin}/checkout/${sessionId}`)).text();
  for (const text of [state, page])
    assert.deepEqual(
      [text.includes('p•••@e•••.com'), text.includes('payer@example.com'), text.includes(code)],
      [true, false, false],
    );
  // A page says whose payment it was by its secret alone, so it asks the service about a secret.
  const { page: reader } = await openPage(browser);
  for (const [secret, words] of [
    ['x', / paid to /],
    [code, 'You paid'],
  ] as const) {
    await reader.goto('about:blank');
    await world.visit(reader, `${path.split('#')[0]}#${secret}`);
    await reader.getByRole('heading', { name: words }).filter({ visible: true }).waitFor();
  }
  await reader.close();
});

/** As a version before these columns left it. */
const forgetNames = statement({
  name: 'safety_test_names',
  parameters: { sessionId: 'text' },
  text: "update sessions set receipt_merchant_name = '', receipt_legal_name = '' where session_id = :sessionId",
});

test('a receipt keeps the merchant’s names of its payment, and one from before they were kept has the present ones', async () => {
  await world.nameMerchant('Tea shop');
  await world.brand({ legalName: 'Tea & Leaves GmbH' });
  const { sessionId, path } = await world.addPaid(await world.addLink({ linkName: 'Sencha' }));
  await world.nameMerchant('Coffee shop');
  await world.brand({ legalName: 'Beans Ltd' });
  const namesShown = async () => {
    const page = await (await fetch(`${world.origin}/checkout/${sessionId}`)).text();
    const api = `${world.origin}/checkout/api/session/${sessionId}`;
    const state = await (await fetch(api)).text();
    const headers = { 'x-client-code': path.split('#')[1] ?? '' };
    const receipt = await (await fetch(`${api}/receipt`, { headers })).text();
    // The page escapes a sign of the name, and the data of its script too.
    return [page, state, receipt].map((text) =>
      ['Tea shop', 'Leaves GmbH', 'Coffee shop', 'Beans Ltd'].filter((name) => text.includes(name)),
    );
  };
  const [then, now] = [
    ['Tea shop', 'Leaves GmbH'],
    ['Coffee shop', 'Beans Ltd'],
  ];
  assert.deepEqual(await namesShown(), [then, then, then]);
  await world.world.database.db.query(forgetNames, { sessionId });
  assert.deepEqual(await namesShown(), [now, now, now]);
  await world.nameMerchant('Test merchant');
  await world.brand();
});

// proves W2.8
test('the return URL is shown only after the payment, exactly as the merchant gave it', async () => {
  const linkId = await world.addLink();
  const open = await world.begin(linkId);
  const paid = await world.addPaid(linkId);
  const pages = await Promise.all(
    [`/link/${linkId}`, open.path, paid.path].map(async (path) =>
      (await (await fetch(`${world.origin}${path}`)).text()).includes(`https://shop.example/thanks?s=`),
    ),
  );
  assert.deepEqual(pages, [false, false, true]);
  const text = await (await fetch(`${world.origin}${paid.path}`)).text();
  assert.ok(text.includes(`https://shop.example/thanks?s=${paid.sessionId}`));
});

test('the page is small: the transferred sizes of its script and of the whole page are limited', async () => {
  const html = await (await fetch(`${world.origin}/link/${await world.addLink()}?lang=ar`)).text();
  const path = /src="(\/checkout\/assets\/[^"]+)"/.exec(html)?.[1] ?? '';
  const script = await (await fetch(`${world.origin}${path}`)).text();
  const [scriptKiB, pageKiB] = [gzipSync(script).length / 1024, gzipSync(html).length / 1024];
  assert.ok(scriptKiB <= 16, `script: ${scriptKiB.toFixed(1)} KiB`);
  assert.ok(pageKiB <= 10, `page: ${pageKiB.toFixed(1)} KiB`);
  assert.ok(html.length + script.length <= 65 * 1024, `unpacked: ${html.length + script.length} bytes`);
});
