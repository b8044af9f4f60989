import { get } from 'node:http';
import { injectStub, openChromium, openPage, PageWorld } from '@florin/server/testing';
import type { Browser, Page } from 'playwright-core';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';

/** A mid-range phone on a slow mobile network: 1.6 Mbit/s, 150 ms round trip, a processor four times slower. */
const profile = { downloadThroughput: 200_000, uploadThroughput: 93_750, latency: 150, slowdown: 4 } as const;

interface Timing {
  /** From the request to the first text on the page. */
  readonly textMs: number;
  /** From the first byte of the page until the script shows the payment methods. From then on every button works. */
  readonly readyMs: number;
  /** Layout shift (web.dev/cls) from the first view until a wallet is asked to pay. */
  readonly shift: number;
  /** The longest time from an input to the next picture (web.dev/inp): connect, open the sheet, close it, pay. */
  readonly inputMs: number;
}

/** The hosted page: transferred bytes, and load times on a phone. */
export async function measureCheckout(environment: BenchEnvironment): Promise<BenchResult> {
  const [world, browser] = await Promise.all([PageWorld.open(), openChromium()]);
  try {
    const url = `${world.origin}/link/${await world.addLink()}`;
    const html = await (await fetch(url)).text();
    const path = /src="(\/checkout\/assets\/[^"]+)"/.exec(html)?.[1] ?? '';
    const logos = /src="(\/checkout\/assets\/[^"#]+\.svg)/.exec(html)?.[1] ?? '';
    const [pageKiB, scriptKiB] = [await kibibytes(url), await kibibytes(`${world.origin}${path}`)];
    // The first visit warms the server's cache of the page, so it does not count.
    await timeOf(browser, url);
    const timings: Timing[] = [];
    for (let round = 0; round < environment.effort.rounds; round += 1) {
      const timing = await timeOf(browser, url);
      const { textMs, readyMs, shift, inputMs } = timing;
      environment.log(
        `round ${round + 1}: text ${textMs} ms, ready ${readyMs} ms, shift ${shift}, input ${inputMs} ms`,
      );
      timings.push(timing);
    }
    const row = (what: string, value: number, most: number | '') => ({ what, value, 'at most': most });
    return {
      subject: 'checkout',
      title: 'The hosted page',
      effort: environment.effort,
      measured: [],
      ratios: [],
      halfLoads: [],
      rows: [
        row('script, KiB', scriptKiB, 16),
        row('page with style and texts, KiB', pageKiB, 10),
        row('logos, KiB, once for all pages', await kibibytes(`${world.origin}${logos}`), ''),
        row('all before a wallet is chosen, KiB', Math.round(10 * (scriptKiB + pageKiB)) / 10, 26),
        row('first text on a phone, ms', median(timings.map(({ textMs }) => textMs)), 800),
        row(
          'ready to choose a wallet on a phone after the first byte, ms',
          median(timings.map(({ readyMs }) => readyMs)),
          '',
        ),
        row('layout shift until the wallet is asked', median(timings.map(({ shift }) => shift)), 0.02),
        row('longest delay of an input on a phone, ms', median(timings.map(({ inputMs }) => inputMs)), 200),
      ],
      notes: [
        'Transferred bytes, compressed with Brotli by the service.',
        'Phone: 1.6 Mbit/s, 150 ms there and back, processor slowed down four times, empty cache, Chromium 360 × 780.',
      ],
    };
  } finally {
    await browser.close();
    await world.close();
  }
}

/** Transferred KiB of a URL, compressed as for browsers. */
function kibibytes(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip, deflate, br' } }, (reply) => {
      let bytes = 0;
      reply.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      reply.on('end', () => resolve(Math.round((10 * bytes) / 1024) / 10));
    }).on('error', reject);
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/**
 * The page itself records when the payment methods appear. Polling it would cost a slow processor more than the page.
 */
const noteReady = `new MutationObserver((_changes, observer) => {
  if (document.getElementById('no-wallet') === null) return;
  observer.disconnect();
  performance.mark('ready');
}).observe(document, { childList: true, subtree: true })`;

/** Collects shifts and the length of inputs, as the page's own performance entries. */
const noteMoves = `globalThis.moves = { shift: 0, inputMs: 0 };
new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) moves.shift += value; })
  .observe({ type: 'layout-shift', buffered: true });
new PerformanceObserver((list) => { for (const { interactionId, duration } of list.getEntries())
    if (interactionId > 0) moves.inputMs = Math.max(moves.inputMs, duration); })
  .observe({ type: 'event', durationThreshold: 16, buffered: true });`;

/** A phone on its network, with nothing cached. */
async function openPhone(browser: Browser): Promise<Page> {
  const { page } = await openPage(browser, { phone: true, isApart: true });
  const session = await page.context().newCDPSession(page);
  const { slowdown, ...network } = profile;
  await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  return page;
}

async function timeOf(browser: Browser, url: string): Promise<Timing> {
  const page = await openPhone(browser);
  await page.addInitScript(noteReady);
  await page.goto(url);
  await page.locator('#no-wallet').waitFor();
  const [textMs, readyMs] = (await page.evaluate(
    `[performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      performance.getEntriesByName('ready')[0].startTime - performance.getEntriesByType('navigation')[0].responseStart]`,
  )) as [number, number];
  await page.context().close();
  return { textMs: Math.round(textMs), readyMs: Math.round(readyMs), ...(await movesOf(browser, url)) };
}

/** The same page with a wallet, used until the wallet's prompt is open. */
async function movesOf(browser: Browser, url: string): Promise<Pick<Timing, 'shift' | 'inputMs'>> {
  const page = await openPhone(browser);
  await injectStub(page);
  await page.addInitScript(noteMoves);
  await page.goto(url);
  await page.locator('.wallet').click();
  await page.locator('#pay-button').waitFor();
  await page.locator('#change-way').click();
  await page.locator('#close-ways').click();
  await page.locator('#pay-button').click();
  await page.locator('#ask-again').waitFor();
  const moves = (await page.evaluate('moves')) as Pick<Timing, 'shift' | 'inputMs'>;
  await page.context().close();
  return { shift: Math.round(moves.shift * 10_000) / 10_000, inputMs: Math.round(moves.inputMs) };
}
