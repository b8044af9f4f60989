// Where one mutant at a time is tried: a copy of the contracts whose tests are compiled once. A mutant's code is put in the
// place of the compiled contract's, so that forge compiles nothing and only runs.
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Compiled, Order } from './mutant-compiler.ts';

/** The checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Everything that is deployed, and whose code a mutant can change. */
const deployed = ['PaymentGateway', 'PayoutVault', 'CctpRoute'] as const;
const timeoutMs = 900_000;

/** Sources by path in contracts/src. */
export type Sources = ReadonlyMap<string, string>;

/** What forge says about a mutant. */
export interface Outcome {
  readonly isKilled: boolean;
  /** The first failing test, with its file before it, or `time-out`; empty when all passed. */
  readonly by: string;
}

/** Which tests to run, and how often each is fuzzed. */
export interface Round {
  readonly paths: readonly string[];
  readonly fuzzRuns: number;
}

/** A place to try mutants in; one at a time. */
export interface Trial {
  /** Code of the contracts that reach the file, with its text replaced; undefined when that does not compile. */
  compile(file: string, text: string, isOptimized: boolean): Promise<Compiled>;
  /** Runs tests against the code; contracts that are not named have their own. */
  run(code: Readonly<Record<string, string>>, round: Round): Promise<Outcome>;
  close(): Promise<void>;
}

/** The sources that something deployed is made of; interfaces have no code. */
export function readSources(): Sources {
  const folder = join(root, 'contracts', 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.sol'),
  );
  return new Map(files.sort().map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/** Files that are mutated: no interfaces, and nothing that no deployed contract is made of. */
export function ownFiles(sources: Sources): readonly string[] {
  return [...sources.keys()].filter(
    (file) => !file.startsWith('interfaces') && contractsOf(sources, file).length > 0,
  );
}

/** The deployed contracts that a file is part of. */
function contractsOf(sources: Sources, file: string): readonly string[] {
  return deployed.filter((name) => closureOf(sources, `${name}.sol`).has(file));
}

/** A file and everything that it imports. */
function closureOf(sources: Sources, file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path = ''] of (sources.get(file) ?? '').matchAll(/^import [^;]*"([^"]+)";/gm)) {
    closureOf(sources, posix.join(posix.dirname(file), path), found);
  }
  return found;
}

/** Makes or brings up to date the copy in `folder`, and compiles its tests, unless they are what `like` has compiled. */
export async function openTrial(folder: string, sources: Sources, like?: string): Promise<Trial> {
  const contracts = join(folder, 'contracts');
  mkdirSync(folder, { recursive: true });
  const skipped = ['out', 'cache'].map((name) => join(root, 'contracts', name));
  const filter = (path: string): boolean => !skipped.includes(path);
  cpSync(join(root, 'contracts'), contracts, { recursive: true, filter });
  cpSync(join(root, 'scripts'), join(folder, 'scripts'), { recursive: true });
  if (!existsSync(join(folder, 'node_modules')))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const name of like === undefined ? [] : ['out', 'cache']) {
    cpSync(join(like ?? '', 'contracts', name), join(contracts, name), { recursive: true });
  }
  const built = await forge(folder, ['build', '--dynamic-test-linking'], 1);
  if (built.code !== 0) throw new Error(`the contracts do not compile:\n${built.output.slice(-2_000)}`);
  const worker = new Worker(new URL('./mutant-compiler.ts', import.meta.url));
  const compile = (order: Order): Promise<Compiled> =>
    new Promise((resolve, reject) => {
      worker.once('error', reject);
      worker.once('message', (compiled: Compiled) => {
        worker.off('error', reject);
        resolve(compiled);
      });
      worker.postMessage(order);
    });
  const compileFor: Trial['compile'] = (file, text, isOptimized) => {
    const names = contractsOf(sources, file);
    const files = new Set(names.flatMap((name) => [...closureOf(sources, `${name}.sol`)]));
    const texts = [...files].map((path) => [`src/${path}`, path === file ? text : (sources.get(path) ?? '')]);
    return compile({ sources: Object.fromEntries(texts), contracts: names, isOptimized });
  };
  const own: Record<string, string> = {};
  for (const name of deployed) {
    Object.assign(own, await compileFor(`${name}.sol`, sources.get(`${name}.sol`) ?? '', false));
  }
  return {
    compile: compileFor,
    async run(code, { paths, fuzzRuns }) {
      for (const name of deployed) putCode(contracts, name, code[name] ?? own[name] ?? '');
      const args = ['test', '--dynamic-test-linking', '--threads', '1', '--fail-fast', ...paths];
      return judge(await forge(folder, [...args, '--code-size-limit', '100000'], fuzzRuns));
    },
    close: async () => void (await worker.terminate()),
  };
}

function putCode(contracts: string, name: string, code: string): void {
  const path = join(contracts, 'out', `${name}.sol`, `${name}.json`);
  const text = readFileSync(path, 'utf8');
  const artifact = JSON.parse(text) as { bytecode: { object: string } };
  if (artifact.bytecode.object === code) return;
  artifact.bytecode.object = code;
  writeFileSync(path, JSON.stringify(artifact));
}

function judge({ code, output }: { readonly code: number; readonly output: string }): Outcome {
  if (output.endsWith('time-out')) return { isKilled: true, by: 'time-out' };
  if (/Compiling \d+ files/.test(output)) throw new Error('forge has compiled the contracts anew');
  if (code === 0) return { isKilled: false, by: '' };
  const file = /Encountered \d+ failing tests? in test\/([^:]+):/.exec(output)?.[1];
  const test = /\[FAIL[^\n]*\] (\w+)\(/.exec(output)?.[1];
  if (file === undefined) throw new Error(`forge ended without a verdict:\n${output.slice(-2_000)}`);
  return { isKilled: true, by: `${file} ${test ?? 'an invariant'}` };
}

function forge(
  folder: string,
  args: readonly string[],
  fuzzRuns: number,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['scripts/forge.cjs', ...args], {
      cwd: folder,
      env: {
        ...process.env,
        ...{
          FOUNDRY_PROFILE: 'deep',
          FOUNDRY_FUZZ_RUNS: String(fuzzRuns),
          FOUNDRY_DENY: 'never',
          NO_COLOR: '1',
        },
        // To find the tests that match, forge has everything read at each start: 2 s for the same answer.
        ...{ FOUNDRY_SOLC: '../../scripts/solc-once.cjs', FLORIN_SOLC_ANSWERS: join(folder, 'answers') },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const timer = setTimeout(() => {
      output += '\ntime-out';
      // forge is a child of the child: the group goes as a whole.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    }, timeoutMs);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (output += text.toString()));
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, output });
    });
  });
}
