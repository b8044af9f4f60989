import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { openChromium, openPage } from '../server/test/browser/chromium.ts';
import { PageWorld } from '../server/test/browser/page-world.ts';
import type { Environment } from './environment.ts';
import type { Result } from './report.ts';

/** A middling phone on a slow mobile network: 1.6 Mbit/s, 150 ms there and back, a processor four times slower. */
const profile = { downloadThroughput: 200_000, uploadThroughput: 93_750, latency: 150, slowdown: 4 } as const;

interface Timing {
  /** From the request to the first text on the page. */
  readonly textMs: number;
  /** From the request to the script having shown the ways to pay. */
  readonly readyMs: number;
}

/** The hosted page: what travels, and how long a phone takes. Sizes are of gzip, as proxies send it. */
export async function measureCheckout(environment: Environment): Promise<Result> {
  const [world, browser] = await Promise.all([PageWorld.open(), openChromium()]);
  try {
    const url = `${world.origin}/link/${await world.addLink()}`;
    const html = await (await fetch(url)).text();
    const path = /src="(\/checkout\/assets\/[^"]+)"/.exec(html)?.[1] ?? '';
    const script = await (await fetch(`${world.origin}${path}`)).text();
    const timings: Timing[] = [];
    for (let round = 0; round < environment.effort.rounds; round += 1) {
      timings.push(await timeOf(browser, url));
      environment.log(
        `round ${round + 1}: text ${timings.at(-1)?.textMs} ms, ready ${timings.at(-1)?.readyMs} ms`,
      );
    }
    const [scriptKiB, pageKiB] = [kibibytes(script), kibibytes(html)];
    const row = (what: string, value: number, goal: number, most: number) => ({
      what,
      value,
      goal,
      'at most': most,
    });
    return {
      subject: 'checkout',
      title: 'The hosted page',
      effort: environment.effort,
      measured: [],
      ratios: [],
      halfLoads: [],
      rows: [
        row('script, KiB', scriptKiB, 12, 25),
        row('page with style and texts, KiB', pageKiB, 18, 35),
        row('all before a wallet is chosen, KiB', Math.round(10 * (scriptKiB + pageKiB)) / 10, 30, 60),
        row('first text on a phone, ms', median(timings.map(({ textMs }) => textMs)), 1_000, 1_800),
        row(
          'ready to choose a wallet on a phone, ms',
          median(timings.map(({ readyMs }) => readyMs)),
          2_000,
          3_500,
        ),
      ],
      notes: [
        'Bytes after gzip, which a proxy in front applies; the phone of the timings gets them uncompressed.',
        'Phone: 1.6 Mbit/s, 150 ms there and back, processor slowed down four times, empty cache, Chromium 360 × 780.',
      ],
    };
  } finally {
    await browser.close();
    await world.close();
  }
}

const kibibytes = (text: string) => Math.round((10 * gzipSync(text).length) / 1024) / 10;

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

async function timeOf(browser: Browser, url: string): Promise<Timing> {
  const { page, context } = await openPage(browser, { phone: true });
  const session = await context.newCDPSession(page);
  const { slowdown, ...network } = profile;
  await session.send('Network.emulateNetworkConditions', { offline: false, ...network });
  await session.send('Emulation.setCPUThrottlingRate', { rate: slowdown });
  await page.goto(url);
  await page.locator('#no-wallet').waitFor();
  const [textMs, readyMs] = (await page.evaluate(
    '[performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, performance.now()]',
  )) as [number, number];
  await context.close();
  return { textMs: Math.round(textMs), readyMs: Math.round(readyMs) };
}
