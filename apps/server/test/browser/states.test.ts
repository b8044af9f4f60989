import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { languages } from '@florin/checkout';
import type { ShownState } from '@florin/protocol/checkout-state.ts';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { fuzzFactor } from '../fuzz/seed.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { violationsOf } from './axe.ts';
import { openChromium, openPage } from './chromium.ts';
import { mostShift, sumShifts } from './layout-shift.ts';
import { assertChosenInForcedColors, assertOnPaper, isTooWide, smallTargets } from './page-looks.ts';
import type { PageState } from './page-state.ts';
import { PageWorld } from './page-world.ts';
import { keepSpoken } from './spoken.ts';
import { pageStates } from './states.ts';

const screens = fileURLToPath(new URL('../../../../.test/screens/', import.meta.url));
/** Set to take a picture of every state: `FLORIN_SCREENS=write`. */
const isWriting = process.env['FLORIN_SCREENS'] === 'write';

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

async function keep(page: Page, name: string): Promise<void> {
  if (!isWriting) return;
  mkdirSync(screens, { recursive: true });
  const picture = await page.screenshot({ fullPage: true });
  writeFileSync(`${screens}${name}.webp`, await sharp(picture).webp({ quality: 60, effort: 6 }).toBuffer());
}

const sizes = [
  { name: 'phone', viewport: { width: 390, height: 844 }, colorScheme: 'light' },
  { name: 'desktop', viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
] as const;
/** The other colours of each size, and paper (A4 at 96 dots per inch), are only on pictures. */
async function keepOthers(page: Page, name: string): Promise<void> {
  if (!isWriting) return;
  for (const { name: size, viewport, colorScheme } of sizes) {
    await page.setViewportSize(viewport);
    const other = colorScheme === 'light' ? 'dark' : 'light';
    await page.emulateMedia({ colorScheme: other });
    await keep(page, `${name}-${size}-${other}`);
  }
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await keep(page, `${name}-paper`);
  await page.emulateMedia({ media: 'screen' });
}

/** The narrowest page: a small phone, or a zoom of 400 % (WCAG 2.2, 1.4.10). */
const narrowest = { width: 320, height: 640 } as const;
/** A desktop's page at a zoom of 200 % (WCAG 2.2, 1.4.4). */
const zoomed = { width: 640, height: 400 } as const;

/** What differs most in structure, which is what axe judges. */
const seenByAxe = ['link', 'connected', 'ways', 'deposit', 'completed', 'claim'];

/**
 * `npm test` looks at a state in one of the sizes, in turn, and axe sees those that differ most: a look of it takes half of a
 * processor second. `npm run test:deep` does all.
 */
async function look(state: PageState, index: number): Promise<void> {
  const { page, complaints } = await openPage(browser, { phone: true });
  await state.reach(world, page, '');
  // Size and colours are a matter of style sheets alone, so that one page shows them all.
  for (const [at, { name, viewport, colorScheme }] of sizes.entries()) {
    if (fuzzFactor === 1 && !isWriting && index % sizes.length !== at) continue;
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    // Further down, the choice of languages has left the view, and axe would compare it with what no reader sees.
    await page.evaluate('scrollTo(0, 0)');
    for (const words of state.words) await page.getByText(words).first().waitFor();
    if (fuzzFactor > 1 || seenByAxe.includes(state.name))
      assert.deepEqual(await violationsOf(page), [], `${state.name} on a ${name}`);
    assert.equal(await isTooWide(page), false, `${state.name} on a ${name} scrolls sideways`);
    if (name === 'phone') assert.deepEqual(await page.evaluate(smallTargets), [], state.name);
    await keep(page, `${state.name}-${name}`);
  }
  await keepOthers(page, state.name);
  for (const size of fuzzFactor > 1 ? [zoomed, narrowest] : [narrowest]) {
    await page.setViewportSize(size);
    assert.equal(await isTooWide(page), false, `${state.name} at ${size.width} pixels scrolls sideways`);
  }
  if (state.name === 'completed') await assertOnPaper(page);
  if (state.name === 'connected') await assertChosenInForcedColors(page);
  // A missing page is a missing page to the browser, too.
  const errors = complaints.errors.filter((error) => state.name !== 'not-found' || !error.includes('404'));
  assert.deepEqual(errors, [], state.name);
  await page.close();
}

for (const [index, state] of pageStates.entries()) {
  const options = state.isDeep === true && !isWriting ? deepOnly : {};
  test(
    `the state "${state.name}" is described in words, fits every size, and has no accessibility violation`,
    options,
    () => look(state, index),
  );
}

test('every language has every state of a payment, in its own direction, without a violation', async () => {
  const passed = pageStates.filter(({ name }) => ['connected', 'completed'].includes(name));
  // `npm test` has the other direction; `npm run test:deep` every language.
  const looked = languages.filter(({ tag }) => fuzzFactor > 1 || tag === 'ar');
  for (const { tag, direction, texts } of looked) {
    const { page } = await openPage(browser, { locale: tag, phone: true });
    for (const state of passed) {
      await state.reach(world, page, `?lang=${tag}`);
      const shown = await page.evaluate('[document.documentElement.lang, document.documentElement.dir]');
      assert.deepEqual(shown, [tag, direction]);
      // Structure is the same in all languages: one look of axe at each is enough to find what texts alone can break.
      if (state.name === 'connected') {
        assert.deepEqual(await violationsOf(page), [], `${state.name} in ${tag}`);
      }
      assert.equal(await isTooWide(page), false, `${state.name} in ${tag}`);
      if (tag === 'ar' && state.name === 'connected') await keep(page, 'arabic-phone');
    }
    await page.getByText(texts.completed).first().waitFor();
    await page.close();
  }
});

test('a payer can pay with the keyboard alone, and a token that they choose stays chosen when balances come later', async () => {
  const state = pageStates.find(({ name }) => name === 'link');
  assert.ok(state);
  const { page } = await openPage(browser);
  const { promise: isChosen, resolve: answer } = Promise.withResolvers<void>();
  await page.route('**/checkout/api/balances', (route) => isChosen.then(() => route.continue()));
  await state.reach(world, page, '');
  const reach = async (selector: string) => {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(`document.activeElement?.matches(${JSON.stringify(selector)}) ?? false`))
        return;
    }
    throw new Error(`no key leads to ${selector}`);
  };
  await reach('.wallet');
  await page.keyboard.press('Enter');
  await page.locator('#pay-button').waitFor();
  await reach('#change-way');
  await page.keyboard.press('Enter');
  await reach('#ways input[type=radio]');
  await page.keyboard.press('ArrowDown');
  await page.locator('#way').getByText('USDT on Ethereum').waitFor();
  answer();
  await page.locator('#way').getByText('You have 0.00 USDT').waitFor();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Escape');
  await page.locator('#change-way:focus').waitFor();
  await reach('#pay-button');
  await page.keyboard.press('Enter');
  await page.locator('#step').filter({ hasText: 'allow exactly 25.05 USDC' }).waitFor();
  await page.close();
});

for (const phone of [true, false]) {
  test(
    `from the first view to the wallet's prompt Pay stays where it is, and the ${phone ? 'phone' : 'desktop'} page holds still`,
    phone ? {} : deepOnly,
    async () => {
      const { page } = await openPage(browser, { phone });
      await page.setViewportSize(phone ? sizes[0].viewport : sizes[1].viewport);
      await page.addInitScript(sumShifts);
      const state = pageStates.find(({ name }) => name === 'connected');
      await state?.reach(world, page, '');
      const pay = page.locator('#pay-button');
      const before = await pay.boundingBox();
      await pay.click();
      await page.locator('#waiting').waitFor();
      assert.deepEqual(await pay.boundingBox(), before);
      const shifts = Number(await page.evaluate('globalThis.shifts'));
      assert.ok(shifts < mostShift, `the page shifted by ${shifts}`);
      // The step, and what to do about it, stand in view at the button.
      for (const id of ['#step', '#ask-again', '#cancel']) {
        const box = await page.locator(id).boundingBox();
        const height = page.viewportSize()?.height ?? 0;
        assert.ok(box !== null && box.y >= 0 && box.y + box.height <= height, id);
      }
      await page.close();
    },
  );
}

for (const [name, phone] of [
  ['deposit', false],
  ['apps', true],
  ['delayed', true],
] as const) {
  test(`nothing on the page of the state "${name}" moves after it has been shown`, deepOnly, async () => {
    const { page } = await openPage(browser, { phone });
    await page.setViewportSize(phone ? sizes[0].viewport : sizes[1].viewport);
    await page.addInitScript(sumShifts);
    const state = pageStates.find((each) => each.name === name);
    await state?.reach(world, page, '');
    await page.waitForFunction(`document.documentElement.classList.contains('live')`);
    const shifts = Number(await page.evaluate('globalThis.shifts'));
    assert.ok(shifts < mostShift, `the page shifted by ${shifts}`);
    if (name === 'deposit') await assertSendableAtTop(page);
    await page.close();
  });
}

/** Amount, code and address are in view without scrolling. */
async function assertSendableAtTop(page: Page): Promise<void> {
  assert.equal(await page.evaluate('scrollY'), 0);
  const { height = 0 } = page.viewportSize() ?? {};
  let above = 0;
  // A phone cannot scan what it shows: the address comes before its code.
  for (const part of ['#deposit-title', '#deposit-address', '.address-code']) {
    const box = await page.locator(part).boundingBox();
    assert.ok(box !== null && box.y >= above && box.y + box.height <= height, part);
    above = box.y;
  }
}

test(
  'a payer whose payment becomes final goes to the shop after a moment, and one who stays is left alone',
  deepOnly,
  async () => {
    const linkId = await world.addLink({ cancelUrl: 'https://shop.example/cart' });
    const shop = /^https:\/\/shop\.example\//;
    const visits = await Promise.all(
      [true, false].map(async (stays) => {
        const { page } = await openPage(browser);
        await page.route(shop, (route) => route.fulfill({ body: 'the shop' }));
        const { sessionId, path } = await world.begin(linkId);
        await world.visit(page, path);
        const back = await page.getByRole('link', { name: 'Back to shop.example' }).getAttribute('href');
        assert.equal(back, 'https://shop.example/cart?florin_status=open');
        await world.putStatus(sessionId, 'completed');
        await page.getByText('You go back to shop.example in five seconds.').waitFor();
        if (stays) await page.getByRole('button', { name: 'Stay here' }).click();
        else await page.waitForURL(shop);
        return { page, sessionId };
      }),
    );
    // The one who stays had more time than the other needed.
    const urls = visits.map(({ page, sessionId }) =>
      page.url().replace(sessionId, 'ID').replace(world.origin, ''),
    );
    assert.match(urls[0] ?? '', /^\/checkout\/ID#/);
    assert.equal(urls[1], 'https://shop.example/thanks?s=ID&florin_status=paid');
    for (const { page } of visits) await page.close();
  },
);

test('without scripts the pages show what is paid, with what, and its state', deepOnly, async () => {
  const linkId = await world.addLink();
  const { path } = await world.addPaid(linkId);
  const { page } = await openPage(browser, { javaScriptEnabled: false });
  await page.goto(`${world.origin}/link/${linkId}`);
  const link = (await page.locator('body').textContent()) ?? '';
  await page.goto(`${world.origin}${path}`);
  const session = (await page.locator('body').textContent()) ?? '';
  for (const words of ['$25.00', 'Tea shop', 'Green tea × 2', 'USDC on Ethereum', 'USDC on Base']) {
    assert.ok(link.includes(words), words);
  }
  for (const words of ['Paid', 'The payment is final', 'Thank you!'])
    assert.ok(session.includes(words), words);
  await page.close();
});

test('an expired page tells of money that arrives later, and reads seldom: for an hour, and when its reader returns', async () => {
  const { sessionId, path } = await world.begin(await world.addLink());
  await world.addUnpaidOrder(sessionId);
  await world.putStatus(sessionId, 'expired');
  const { page } = await openPage(browser);
  let reads = 0;
  page.on('requestfinished', (request) => {
    if (request.url().includes(`/session/${sessionId}?`)) reads += 1;
  });
  await page.clock.install({ time: world.world.clock.now() });
  // No request may run out of time while the clock jumps.
  await page.addInitScript('AbortSignal.timeout = () => new AbortController().signal');
  await page.goto(`${world.origin}${path}`);
  /** Lets more time pass than the longest pause, until the page has read this often. */
  const passUntil = async (wanted: number) => {
    for (let looks = 0; looks < 300 && reads < wanted; looks += 1) {
      await page.clock.fastForward(40 * 60_000);
      await page.waitForTimeout(20);
    }
  };
  await page.locator('[data-status=expired]').waitFor();
  await passUntil(1);
  await world.putException(sessionId, 'late', 'resolved');
  await passUntil(7);
  await page.getByText('2.50 USDC came too late and went back.').waitFor();
  for (let more = 0; more < 3; more += 1) await page.clock.fastForward(40 * 60_000);
  assert.equal(reads, 7);
  const turn = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
    );
  await turn(true);
  assert.equal(reads, 7);
  await turn(false);
  // It reads at once. More time would make it read again.
  for (let looks = 0; looks < 300 && reads < 8; looks += 1) await page.waitForTimeout(20);
  assert.equal(reads, 8);
  await page.close();
});

test('money at the full price that comes after the end is named as soon as it is seen, with what becomes of it', async () => {
  for (const [exceptionPolicy, outcome, words] of [
    [{ latePayment: 'return' }, 'goes', 'too late. It goes back to the refund address'],
    [{ latePayment: 'ask', lateHours: 24 }, 'waits', 'unless the merchant accepts it'],
    [{ latePayment: 'accept', lateHours: 24 }, 'accepted', 'but it is accepted as the payment'],
  ] as const) {
    const { sessionId, path } = await world.begin(await world.addLink({ exceptionPolicy }));
    const wanted = { sessionId, payer: `0x${'d4'.repeat(20)}`, tokenId: 'ethereum::usdc', payerEmail: '' };
    await fetch(`${world.origin}/checkout/api/deposit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-client-code': path.split('#')[1] ?? '' },
      body: JSON.stringify(wanted),
    });
    await world.putArrived(sessionId, 25_050_000n);
    await world.putStatus(sessionId, 'expired');
    const reply = await fetch(`${world.origin}/checkout/api/session/${sessionId}`);
    const { data } = (await reply.json()) as { data: ShownState };
    assert.deepEqual(
      data.state.exceptions.map((exception) => [exception.kind, exception.outcome, exception.isUnproven]),
      [['late', outcome, false]],
    );
    const view = JSON.stringify(data.view);
    assert.ok(view.includes(words), view);
    // A payer whose money is accepted must not pay again.
    assert.equal(view.includes('Start a new payment'), outcome !== 'accepted');
    assert.equal(data.title, `${outcome === 'accepted' ? 'Payment seen' : 'Expired'} · Tea shop`);
  }
});

test(
  'a page that gets no events polls, shows when the service does not answer, and speaks only changes of state',
  deepOnly,
  async () => {
    const { sessionId, path, confirm } = await world.addPaid(await world.addLink(), { isFinal: false });
    const { page } = await openPage(browser);
    await page.route('**/events?*', (route) => route.abort());
    let isAway = true;
    await page.route('**/checkout/api/session/*', (route) => (isAway ? route.abort() : route.fallback()));
    await world.visit(page, path);
    await page.locator('#connection').getByText('The connection is lost.').waitFor();
    const spokenOn = await keepSpoken(page);
    isAway = false;
    for (const count of [4, 5]) {
      await confirm(count);
      await page.getByText(`confirmation ${count} of about 8`).waitFor();
    }
    await world.putStatus(sessionId, 'completed');
    await page.locator('[data-status=completed]').waitFor();
    await page.getByText('The connection is lost.').waitFor({ state: 'detached' });
    // Neither blocks nor the clock: a screen reader would not come to rest.
    const spoken = await spokenOn();
    assert.deepEqual(
      spoken.map((text) => text.slice(0, 60)),
      [
        'You paid 25.05 USDC to Test merchant Paid and received It is',
        'You go back to shop.example in five seconds. Stay here',
      ],
    );
    await page.close();
  },
);
