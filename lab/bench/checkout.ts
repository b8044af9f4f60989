import { get } from 'node:http';
import { openChromium, openPage, PageWorld } from '@florin/server/testing';
import type { Browser } from 'playwright-core';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';

/** A mid-range phone on a slow mobile network: 1.6 Mbit/s, 150 ms round trip, a processor four times slower. */
const profile = { downloadThroughput: 200_000, uploadThroughput: 93_750, latency: 150, slowdown: 4 } as const;

interface Timing {
  /** From the request to the first text on the page. */
  readonly textMs: number;
  /** From the first byte of the page until the script shows the payment methods. From then on every button works. */
  readonly readyMs: number;
}

/** The hosted page: transferred bytes, and load times on a phone. */
export async function measureCheckout(environment: BenchEnvironment): Promise<BenchResult> {
  const [world, browser] = await Promise.all([PageWorld.open(), openChromium()]);
  try {
    const url = `${world.origin}/link/${await world.addLink()}`;
    const html = await (await fetch(url)).text();
    const path = /src="(\/checkout\/assets\/[^"]+)"/.exec(html)?.[1] ?? '';
    const [pageKiB, scriptKiB] = [await kibibytes(url), await kibibytes(`${world.origin}${path}`)];
    // The first visit warms the server's cache of the page, so it does not count.
    await timeOf(browser, url);
    const timings: Timing[] = [];
    for (let round = 0; round < environment.effort.rounds; round += 1) {
      const timing = await timeOf(browser, url);
      environment.log(`round ${round + 1}: text ${timing.textMs} ms, ready ${timing.readyMs} ms`);
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
        row('page with style and texts, KiB', pageKiB, ''),
        row('all before a wallet is chosen, KiB', Math.round(10 * (scriptKiB + pageKiB)) / 10, 26),
        row('first text on a phone, ms', median(timings.map(({ textMs }) => textMs)), 800),
        row(
          'ready to choose a wallet on a phone after the first byte, ms',
          median(timings.map(({ readyMs }) => readyMs)),
          '',
        ),
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

async function timeOf(browser: Browser, url: string): Promise<Timing> {
  // A context of its own: nothing is cached.
  const { page } = await openPage(browser, { phone: true, isApart: true });
  const session = await page.context().newCDPSession(page);
  const { slowdown, ...network } = profile;
  await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.addInitScript(noteReady);
  await page.goto(url);
  await page.locator('#no-wallet').waitFor();
  const [textMs, readyMs] = (await page.evaluate(
    `[performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      performance.getEntriesByName('ready')[0].startTime - performance.getEntriesByType('navigation')[0].responseStart]`,
  )) as [number, number];
  await page.context().close();
  return { textMs: Math.round(textMs), readyMs: Math.round(readyMs) };
}
