import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openChromium } from '../apps/server/test/browser/chromium.ts';
import { fillWorld, type PictureWorld, readWorldTime } from './picture-world.ts';

/**
 * `npm run pictures -- payments links/lnk_…`: takes pictures of screens of the dashboard in the running local world, on a phone
 * and a desktop, light and dark, and says what the pages complained of. Without a path it takes the first screen. `/…` is a path
 * outside the merchant, as `/my-account`. The pictures are in `pictures` below the world's folder.
 *
 * `npm run pictures -- --readme` makes the pictures of the README, which are in `docs/screens`, from the running world.
 * With `--fill` it first pays and advances through a month, which takes some eight minutes and moves the world's time.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const home = process.env['FLORIN_HOME'] || join(root, '.florin');
const world = JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as PictureWorld & {
  readonly dashboard: string;
  readonly dashboardLogin: { readonly email: string; readonly password: string };
  readonly merchantId: string;
};
const folder = join(home, 'pictures');
const sizes = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 800 } },
};

async function signIn(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error') console.error(`complaint: ${message.text()}`);
  });
  page.on('pageerror', (error) => console.error(`fault: ${error.message}`));
  await page.goto(`${world.dashboard}/sign-in`);
  await page.getByLabel('E-mail').fill(world.dashboardLogin.email);
  await page.getByLabel('Password', { exact: true }).fill(world.dashboardLogin.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(/\/mer_/);
  return page;
}

async function takePictures(page: Page, device: string, path: string): Promise<void> {
  const address = path.startsWith('/') ? path : `/${world.merchantId}${path === '' ? '' : `/${path}`}`;
  const name = path.replaceAll(/\W+/g, '-').replaceAll(/^-|-$/g, '') || 'home';
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto(world.dashboard + address);
    await page.waitForLoadState('networkidle');
    const file = join(folder, `${name}-${device}-${colorScheme}.png`);
    await page.screenshot({ path: file });
    const isWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
    console.log(`${file}${isWide === true ? ' (scrolls sideways)' : ''}`);
  }
}

/** The README's pictures: a path, and a list whose first link to follow. */
const readmePictures = [
  { name: 'dashboard-home', path: '' },
  { name: 'dashboard-payment', path: 'payments?status=completed', follows: 'Payments', title: /^Payment of/ },
  { name: 'dashboard-links', path: 'links' },
] as const;
const readmeSize = { viewport: { width: 1280, height: 800 } };
const webpQuality = 0.8;

/** Chromium writes webp as well, so no other program has to. */
async function toWebp(page: Page, png: Buffer): Promise<Buffer> {
  await page.setContent(`<img src="data:image/png;base64,${png.toString('base64')}">`);
  const url = await page.evaluate(`(async () => {
    const image = document.querySelector('img');
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth;
    canvas.height = image.naturalHeight;
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', ${webpQuality});
  })()`);
  return Buffer.from(String(url).split(',')[1] ?? '', 'base64');
}

async function takeReadmePictures(browser: Browser): Promise<void> {
  if (process.argv.includes('--fill')) await fillWorld(world);
  const options = { timezoneId: 'UTC', locale: 'en-US', reducedMotion: 'reduce' as const, ...readmeSize };
  const context = await browser.newContext(options);
  await context.clock.install({ time: await readWorldTime(world) });
  const page = await signIn(context);
  const painter = await (await browser.newContext()).newPage();
  for (const picture of readmePictures) {
    await page.goto(`${world.dashboard}/${world.merchantId}/${picture.path}`);
    if ('follows' in picture) {
      await page.getByRole('table', { name: picture.follows }).getByRole('link').first().click();
      await page.getByRole('heading', { level: 1, name: picture.title }).waitFor();
    }
    await page.waitForLoadState('networkidle');
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    const file = join(root, 'docs/screens', `${picture.name}.webp`);
    writeFileSync(file, await toWebp(painter, await page.screenshot()));
    console.log(file);
  }
}

async function takeAllPictures(browser: Browser, paths: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const [device, size] of Object.entries(sizes)) {
    const page = await signIn(await browser.newContext({ timezoneId: 'UTC', locale: 'en-US', ...size }));
    for (const path of paths) await takePictures(page, device, path);
  }
}

const browser = await openChromium();
try {
  const [first, ...others] = process.argv.slice(2);
  if (first === '--readme') await takeReadmePictures(browser);
  else await takeAllPictures(browser, [first ?? '', ...others]);
} finally {
  await browser.close();
}
