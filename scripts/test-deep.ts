import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findTestFiles, hasDeepTests, isDeep, nodeParts } from './test/node-parts.ts';
import { type Part, wholePart } from './test/part.ts';
import { keptFolder, node, nodeFlags, root } from './test/processes.ts';
import { runParts } from './test/run-parts.ts';
import {
  contractPart,
  differentialPart,
  historiesPart,
  seededBugsPart,
  unusedCodePart,
} from './test/suites.ts';

/**
 * `npm run test:deep`: what takes hours and is run before a release, and before a change that touches money counts as done.
 * It remembers which parts have passed with these sources, so that a run that was broken off goes on where it was.
 *
 *   --histories N   simulated histories, 100,000 unless told otherwise
 *   --again         runs the parts that have passed, too
 *   --list          names the parts and whether they have passed
 *   WORD            only the parts whose names contain it
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    histories: { type: 'string', default: '100000' },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const histories = Number(values.histories);
if (!Number.isSafeInteger(histories) || histories < 1)
  throw new RangeError(`--histories takes a whole number above 0, not ${values.histories}`);

const passedFile = join(keptFolder, 'deep.json');

/** A hash over every file of the checkout that can change an outcome. */
function hashSources(): string {
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const hash = createHash('sha256');
  for (const file of list.split('\0').toSorted()) {
    if (file === '' || file.endsWith('.md') || !existsSync(join(root, file))) continue;
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

async function listParts(): Promise<readonly Part[]> {
  const files = await findTestFiles();
  const lab = (name: string, script: string, ...args: readonly string[]): Part =>
    wholePart(name, node, [...nodeFlags, script, ...args]);
  // Made-up requests, signatures, storms and kills: as many times over. Pages: in every look, with every hostile text.
  const isLonger = /\/(fuzz|model)\/|storm|kill\.|life\/agent\.|browser\/(docs|dashboard|safety|states)\./;
  const longer = files.filter((file) => isLonger.test(file));
  const once = files.filter((file) => !isLonger.test(file) && (isDeep(file) || hasDeepTests(file)));
  return [
    ...nodeParts(once, { FLORIN_DEEP: '1' }),
    unusedCodePart(),
    contractPart('contracts, deep', { FOUNDRY_PROFILE: 'deep' }),
    seededBugsPart(),
    differentialPart(2_000),
    ...nodeParts(longer, { FLORIN_DEEP: '1', FLORIN_FUZZ_FACTOR: '10' }).map((part) => ({
      ...part,
      name: `${part.name}, 10 times as long`,
    })),
    lab('a million signatures', 'apps/server/test/fuzz/signatures.ts', '--cases', '1000000'),
    lab('agents and the SDK in Deno, Bun and Workers', 'scripts/agent-runtimes.ts'),
    lab('ten minutes of chaos', 'lab/chaos/main.ts', '--seconds', '600'),
    lab('mutants of the contracts', 'lab/mutation/mutate.ts'),
    historiesPart(histories, '--resume', '--state', join(keptFolder, 'runs.json')),
  ];
}

const sources = hashSources();

/** Names of the parts that have passed with these sources. */
function readPassed(): string[] {
  if (!existsSync(passedFile)) return [];
  const kept = JSON.parse(readFileSync(passedFile, 'utf8')) as { sources: string; passed: string[] };
  return kept.sources === sources ? kept.passed : [];
}

const earlier = readPassed();
const passed = new Set(values.again ? [] : earlier);
const all = (await listParts()).filter(
  ({ name }) => positionals.length === 0 || positionals.some((word) => name.includes(word)),
);

function remember(part: Part): void {
  passed.add(part.name);
  mkdirSync(keptFolder, { recursive: true });
  writeFileSync(`${passedFile}.new`, `${JSON.stringify({ sources, passed: [...passed] }, null, 2)}\n`);
  renameSync(`${passedFile}.new`, passedFile);
}

if (values.list) {
  for (const { name } of all) console.log(`${earlier.includes(name) ? '✔' : ' '} ${name}`);
} else {
  const left = all.filter(({ name }) => !passed.has(name));
  console.log(`sources ${sources}: ${all.length - left.length} of ${all.length} parts have passed before`);
  // Storms and chaos judge the service under faults of their own, not under the load of neighbours.
  await runParts(left, { isShown: false, atOnce: 1, onPassed: remember });
  if (left.length === 0) {
    console.log('\nEverything has passed with these sources; --again starts anew.');
    process.exitCode = 0;
  }
}
