// Tries one mutant at a time in a copy of the contracts whose tests are already compiled. The mutant's code replaces
// the compiled contract's code, so forge only runs the tests.
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
import type { Compiled, CompileOrder } from './mutant-compiler.ts';

/** The checkout. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** The deployed contracts, whose code a mutant can change. */
const deployed = ['GatewayFactory', 'PaymentGateway', 'PayoutVault', 'CctpRoute'] as const;
const timeoutMs = 900_000;

/** Sources by path in contracts/src. */
export type Sources = ReadonlyMap<string, string>;

/** forge's result for a mutant. */
export interface TrialOutcome {
  readonly isKilled: boolean;
  /** The first failing test, after its file's name, or `time-out`. Empty when all tests passed. */
  readonly by: string;
}

/** The tests to run, and how. */
export interface TrialRound {
  readonly paths: readonly string[];
  readonly fuzzRuns: number;
  /** Whether fuzz tests also try the constants of all deployed code. Collecting them takes four fifths of the time. */
  readonly triesConstants: boolean;
}

/** An environment for trying one mutant at a time. */
export interface Trial {
  /** Code of the contracts that include the file, with its text replaced. Undefined when it does not compile. */
  compile(file: string, text: string, isOptimized: boolean): Promise<Compiled>;
  /** Runs tests against the code. Contracts without a replacement keep their own. */
  run(code: Readonly<Record<string, string>>, round: TrialRound): Promise<TrialOutcome>;
  close(): Promise<void>;
}

/** The sources of the deployed contracts. Interfaces have no code. */
export function readSources(): Sources {
  const folder = join(root, 'contracts', 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.sol'),
  );
  return new Map(files.sort().map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

/** The files to mutate: no interfaces, and only files that a deployed contract includes. */
export function ownFiles(sources: Sources): readonly string[] {
  return [...sources.keys()].filter(
    (file) => !file.startsWith('interfaces') && contractsOf(sources, file).length > 0,
  );
}

/** The deployed contracts that include a file. */
function contractsOf(sources: Sources, file: string): readonly string[] {
  return deployed.filter((name) => closureOf(sources, `${name}.sol`).has(file));
}

/** A file and all its imports, direct and indirect. */
function closureOf(sources: Sources, file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, path = ''] of (sources.get(file) ?? '').matchAll(/^import [^;]*"([^"]+)";/gm)) {
    closureOf(sources, posix.join(posix.dirname(file), path), found);
  }
  return found;
}

/** Creates or updates the copy in `folder` and compiles its tests, unless `like` has already compiled the same ones. */
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
  const built = await forge(folder, ['build'], { fuzzRuns: 1, triesConstants: false });
  if (built.code !== 0) throw new Error(`the contracts do not compile:\n${built.output.slice(-2_000)}`);
  const worker = new Worker(new URL('./mutant-compiler.ts', import.meta.url));
  const compile = (order: CompileOrder): Promise<Compiled> =>
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
    async run(code, round) {
      for (const name of deployed) putCode(contracts, name, code[name] ?? own[name] ?? '');
      const args = ['test', '--threads', '1', '--fail-fast', ...round.paths];
      return judge(await forge(folder, [...args, '--code-size-limit', '1000000'], round));
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

function judge({ code, output }: { readonly code: number; readonly output: string }): TrialOutcome {
  if (output.endsWith('time-out')) return { isKilled: true, by: 'time-out' };
  if (/Compiling \d+ files/.test(output)) throw new Error('forge has compiled the contracts again');
  if (code === 0) return { isKilled: false, by: '' };
  const file = /Encountered \d+ failing tests? in test\/([^:]+):/.exec(output)?.[1];
  const test = /\[FAIL[^\n]*\] (\w+)\(/.exec(output)?.[1];
  if (file === undefined) throw new Error(`forge ended without a verdict:\n${output.slice(-2_000)}`);
  return { isKilled: true, by: `${file} ${test ?? 'an invariant'}` };
}

function forge(
  folder: string,
  args: readonly string[],
  { fuzzRuns, triesConstants }: Omit<TrialRound, 'paths'>,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['scripts/forge.cjs', ...args], {
      cwd: folder,
      env: {
        ...process.env,
        ...{
          FOUNDRY_PROFILE: 'deep',
          FOUNDRY_FUZZ_RUNS: String(fuzzRuns),
          FOUNDRY_FUZZ_INCLUDE_PUSH_BYTES: String(triesConstants),
          FOUNDRY_DENY: 'never',
          NO_COLOR: '1',
        },
        // To match tests, forge runs the compiler at each start. A cache of its answers saves 2 s each time.
        ...{ FOUNDRY_SOLC: '../scripts/solc-once.cjs', FLORIN_SOLC_ANSWERS: join(folder, 'answers') },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const timer = setTimeout(() => {
      output += '\ntime-out';
      // forge is a grandchild, so this kills the whole process group.
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
