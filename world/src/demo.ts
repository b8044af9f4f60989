import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type DemoLink, type Journey, type JourneyStep, playJourney } from './demo-journey.ts';
import type { WorldManifest } from './world-config.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const links: readonly DemoLink[] = ['fixed', 'custom', 'crossChain'];
/** Longer than any settlement of a local world, and short enough to notice a missing one. */
const limitMs = 5 * 60_000;

function readOptions(): { link: DemoLink; isJson: boolean } {
  const { values } = parseArgs({
    options: { link: { type: 'string', default: 'fixed' }, json: { type: 'boolean', default: false } },
  });
  const link = links.find((known) => known === values.link);
  if (link === undefined)
    throw new Error(`There is no link ${values.link}. Choose --link ${links.join(', ')}.`);
  return { link, isJson: values.json };
}

function readManifest(): WorldManifest {
  const home = process.env['FLORIN_HOME'] || join(checkout, '.florin');
  const path = join(home, 'world.json');
  if (!existsSync(path)) throw new Error(`No world is running in ${home}: run npm start first.`);
  return JSON.parse(readFileSync(path, 'utf8')) as WorldManifest;
}

const print = (line: string) => void process.stdout.write(`${line}\n`);

function printStep({ step, ms, detail }: JourneyStep): void {
  print(`${String(ms).padStart(7)} ms  ${step.padEnd(23)}${detail}`);
}

function printSummary(journey: Journey): void {
  const { transactions, balance } = journey;
  print(`
  session          ${journey.sessionId}
  payer            ${journey.payer}
  paid             ${journey.paid}, of which ${journey.received} for the merchant and ${journey.fee} fee
  pay              ${transactions.pay}
  settle           ${transactions.settle}
  merchant wallet  ${journey.merchantWallet}
  balance          ${balance.before} → ${balance.after} ${balance.symbol}

The money was in the merchant's wallet, final on its chain, ${(journey.totalMs / 1_000).toFixed(1)} s after the agent read the link.`);
}

async function main(): Promise<void> {
  const { link, isJson } = readOptions();
  const manifest = readManifest();
  if (!isJson)
    print(`An agent pays ${manifest.linkIds[link]} (${link}) through ${manifest.aiApi}, with a wallet.\n`);
  const journey = await playJourney(manifest, link, {
    tell: isJson ? () => undefined : printStep,
    signal: AbortSignal.timeout(limitMs),
  });
  if (isJson) print(JSON.stringify(journey, undefined, 2));
  else printSummary(journey);
}

/** One sentence for a person. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError')
    return `The demo was not done within ${limitMs / 60_000} minutes.`;
  // ethers puts the whole transaction into the message, and only the cause here.
  const isOfEthers = 'shortMessage' in error && typeof error.shortMessage === 'string';
  return isOfEthers ? `The payer's wallet failed: ${error.shortMessage}.` : error.message;
}

// The journey checks its own signal between steps; this ends a step that hangs.
const watchdog = setTimeout(() => {
  console.error(`The demo was not done within ${limitMs / 60_000} minutes.`);
  process.exit(1);
}, limitMs + 1_000);
try {
  await main();
} catch (error) {
  console.error(sentenceOf(error));
  process.exitCode = 1;
} finally {
  clearTimeout(watchdog);
}
