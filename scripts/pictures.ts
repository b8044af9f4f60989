import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { openChromium } from '../apps/server/test/browser/chromium.ts';

/**
 * `npm run pictures -- payments links/lnk_…`: takes pictures of screens of the dashboard in the running local world, on a phone
 * and a desktop, light and dark, and says what the pages complained of. Without a path it takes the first screen. `/…` is a path
 * outside the merchant, as `/my-account`. The pictures are in `pictures` below the world's folder.
 */

const root = fileURLToPath(new URL('..', import.meta.url));
const home = process.env['FLORIN_HOME'] || join(root, '.florin');
const world = JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as {
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

mkdirSync(folder, { recursive: true });
const browser = await openChromium();
try {
  for (const [device, size] of Object.entries(sizes)) {
    const page = await signIn(await browser.newContext({ timezoneId: 'UTC', locale: 'en-US', ...size }));
    for (const path of process.argv.length > 2 ? process.argv.slice(2) : ['']) {
      await takePictures(page, device, path);
    }
  }
} finally {
  await browser.close();
}
