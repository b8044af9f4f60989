import { mkdirSync } from 'node:fs';
import { loadavg } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureAgents } from './agent.ts';
import { measureBlock } from './block.ts';
import { measureCheckout } from './checkout.ts';
import { measureDay } from './day.ts';
import { measureDeposits } from './deposits.ts';
import { type BenchEnvironment, withEnvironment } from './environment.ts';
import { measureGas } from './gas.ts';
import { measureIngestion } from './ingestion.ts';
import { measureLargest } from './largest.ts';
import { measureLimits } from './limit.ts';
import { measureLists } from './list.ts';
import { describe } from './measure.ts';
import { type BenchResult, writeResult } from './report.ts';
import { measureRoute } from './route.ts';
import { measureSearch } from './search.ts';
import { measureSender } from './sender.ts';
import { measureSerialWork } from './serial.ts';
import { measureSessions } from './session.ts';
import { measureSignatures } from './signature.ts';
import { measureWebhooks } from './webhook.ts';

const subjects: Readonly<Record<string, (environment: BenchEnvironment) => Promise<BenchResult>>> = {
  agent: measureAgents,
  block: measureBlock,
  checkout: measureCheckout,
  day: measureDay,
  deposits: measureDeposits,
  gas: measureGas,
  ingestion: measureIngestion,
  largest: measureLargest,
  limit: measureLimits,
  list: measureLists,
  route: measureRoute,
  search: measureSearch,
  sender: measureSender,
  serial: measureSerialWork,
  session: measureSessions,
  signature: measureSignatures,
  webhook: measureWebhooks,
};

const print = (line: string) => void process.stdout.write(`${line}\n`);

function readNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new Error(`--${name} is ${text}: give a whole number from 1 to ${most}`);
  }
  return value;
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      'warm-up': { type: 'string', default: '2' },
      connections: { type: 'string', default: '64' },
      profile: { type: 'string' },
      dry: { type: 'boolean', default: false },
    },
  });
  const chosen = positionals.length === 0 ? Object.keys(subjects) : positionals;
  const unknown = chosen.find((name) => !Object.hasOwn(subjects, name));
  if (unknown !== undefined) {
    throw new Error(`${unknown} is not a subject: choose one of ${Object.keys(subjects).join(', ')}`);
  }
  return {
    chosen,
    isDry: values.dry,
    profileFolder: values.profile === undefined ? undefined : resolve(values.profile),
    effort: {
      rounds: readNumber('rounds', values.rounds, 99),
      seconds: readNumber('seconds', values.seconds, 600),
      warmUpSeconds: readNumber('warm-up', values['warm-up'], 60),
      connections: readNumber('connections', values.connections, 1_000),
    },
  };
}

async function measure(name: string, options: ReturnType<typeof readArguments>): Promise<void> {
  const subject = subjects[name];
  if (subject === undefined) throw new Error(`${name} is not a subject`);
  const { effort, profileFolder, isDry } = options;
  // The machine's other load just before the run. Beyond a tenth of its processors, the figures are noisy.
  const loadBefore = Math.round((loadavg()[0] ?? 0) * 10) / 10;
  print(`\n${name} (load average before: ${loadBefore})`);
  const result = await withEnvironment({ effort, profileFolder, log: (line) => print(`  ${line}`) }, subject);
  for (const { name: contender, median } of result.measured)
    print(`  median  ${describe(contender, median)}`);
  for (const half of result.halfLoads) print(`  half load  ${describe(half.name, half)}`);
  for (const { name: ratio, value, byProcessorTime, wanted } of result.ratios) {
    const verdict = wanted === 0 ? '' : `  wanted ${wanted}: ${value >= wanted ? 'reached' : 'MISSED'}`;
    print(`  ratio   ${ratio}: ${value}, ${byProcessorTime} by processor time${verdict}`);
  }
  for (const note of result.notes) print(`  ${note}`);
  if (!isDry) writeResult(result, loadBefore);
}

try {
  const options = readArguments();
  if (options.profileFolder !== undefined) mkdirSync(options.profileFolder, { recursive: true });
  for (const name of options.chosen) await measure(name, options);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
