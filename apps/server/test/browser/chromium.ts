import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Chromium without its windows takes less than half the processor time. */
const shell = '/usr/lib/chromium/chromium-headless-shell';
const places = [shell, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Debian's Chromium; installed when it is missing and we may, else the test says what to do. */
function findChromium(): string {
  const given = process.env['FLORIN_CHROMIUM'];
  if (given !== undefined && existsSync(given)) return given;
  if (process.getuid?.() === 0) installChromium();
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new Error(
    'The browser tests need Chromium: install it (apt-get install chromium-headless-shell), or name it in FLORIN_CHROMIUM.',
  );
}

/**
 * One process at a time, and once in a test run, whose processes share a temporary folder. While another process installs
 * it, the program is there before the files that it needs, so the check needs the same lock.
 */
function installChromium(): void {
  const lock = join(tmpdir(), 'florin-chromium.lock');
  const tried = join(tmpdir(), 'florin-chromium.tried');
  const install =
    'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell';
  const command = [
    'sh',
    '-c',
    `[ -x ${shell} ] || [ -e "$0" ] || { touch "$0"; ${install}; }`,
    tried,
  ] as const;
  const locked = spawnSync('flock', [lock, ...command], { stdio: 'inherit' });
  // A system without flock has no apt either, so it installs nothing here.
  if (locked.error !== undefined) spawnSync(command[0], command.slice(1), { stdio: 'inherit' });
}

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // All pages here are of one site, and a renderer for each would take longer to start than the page to load.
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  '--disable-extensions',
];

/** Starts a headless browser of its own. Scrollbars take room in it only with `hasScrollbars`. */
export function openChromium({ hasScrollbars = false } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    headless: true,
    args: flags,
    ignoreDefaultArgs: hasScrollbars ? ['--hide-scrollbars'] : [],
    timeout: 120_000,
  });
}

/** How long the browser may take for one thing: generous, for slow machines. */
const patienceMs = 120_000;

/** Faults of a page: uncaught errors, loads that its policy refused, requests to other origins. */
export interface Complaints {
  readonly errors: string[];
  readonly urls: string[];
}

interface Visitor {
  readonly locale?: string;
  readonly phone?: boolean;
  readonly dark?: boolean;
  readonly javaScriptEnabled?: boolean;
  /** A device of its own, with its own storage: close its context instead of its page. */
  readonly isApart?: boolean;
}

/**
 * A context costs more processor time than a page, so the visitors of one test file share contexts. The pages under test
 * keep what they keep in their tab's storage, so that each tab is a fresh visitor.
 */
const sharedContexts = new WeakMap<Browser, Map<string, Promise<BrowserContext>>>();

async function openContext(browser: Browser, options: Visitor): Promise<BrowserContext> {
  const { locale = 'en-US', javaScriptEnabled = true } = options;
  const context = await browser.newContext({
    locale,
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    javaScriptEnabled,
  });
  context.setDefaultTimeout(patienceMs);
  return context;
}

/** The renderer of an empty page serves all pages of its context: starting one for each costs half of a page's time. */
async function keepRenderer(opened: Promise<BrowserContext>): Promise<BrowserContext> {
  const context = await opened;
  await context.newPage();
  return context;
}

function contextFor(browser: Browser, options: Visitor): Promise<BrowserContext> {
  if (options.isApart === true) return openContext(browser, options);
  const contexts = sharedContexts.get(browser) ?? new Map<string, Promise<BrowserContext>>();
  sharedContexts.set(browser, contexts);
  const key = `${options.locale} ${options.javaScriptEnabled}`;
  const context = contexts.get(key) ?? keepRenderer(openContext(browser, options));
  contexts.set(key, context);
  return context;
}

/** A page of a fresh visitor, whose complaints are kept. Close it when the test ends. */
export async function openPage(
  browser: Browser,
  options: Visitor = {},
): Promise<{ page: Page; complaints: Complaints }> {
  const page = await (await contextFor(browser, options)).newPage();
  await page.setViewportSize(
    options.phone === true ? { width: 360, height: 780 } : { width: 1100, height: 900 },
  );
  if (options.dark === true) await page.emulateMedia({ colorScheme: 'dark' });
  const complaints: Complaints = { errors: [], urls: [] };
  page.on('pageerror', (error) => complaints.errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.errors.push(message.text());
  });
  page.on('request', (request) => complaints.urls.push(request.url()));
  return { page, complaints };
}
