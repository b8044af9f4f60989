// Tries one mutant at a time in a copy of the contracts whose tests are already compiled. The mutant's code replaces
// the compiled contract's code, so forge only runs the tests.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
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

/**
 * The deployed contracts whose own code includes a file. The factory carries the code of gateway and vault, but tests
 * meet a mutant of those where they deploy them, and compiling the factory would take as long again.
 */
function contractsOf(sources: Sources, file: string): readonly string[] {
  return deployed.filter((name) => {
    const others = deployed.filter((other) => other !== name).map((other) => `${other}.sol`);
    return closureOf(sources, `${name}.sol`, others).has(file);
  });
}

/** A file and all its imports, direct and indirect, but for those behind `omitted` files. */
function closureOf(
  sources: Sources,
  file: string,
  omitted: readonly string[] = [],
  found = new Set<string>(),
): ReadonlySet<string> {
  if (found.has(file) || omitted.includes(file)) return found;
  found.add(file);
  for (const [, path = ''] of (sources.get(file) ?? '').matchAll(/^import [^;]*"([^"]+)";/gm)) {
    closureOf(sources, posix.join(posix.dirname(file), path), omitted, found);
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
  const built = await build(folder);
  if (built.code !== 0) throw new Error(`the contracts do not compile:\n${built.output.slice(-2_000)}`);
  const solc = join(folder, 'solc-version.sh');
  writeFileSync(solc, versionScript(), { mode: 0o755 });
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
      return judge(await test(folder, solc, [...args, '--code-size-limit', '1000000'], round));
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

function judge({ code, output }: Ended): TrialOutcome {
  if (output.endsWith('time-out')) return { isKilled: true, by: 'time-out' };
  if (/Compiling \d+ files/.test(output)) throw new Error('forge has compiled the contracts again');
  if (code === 0) return { isKilled: false, by: '' };
  const file = /Encountered \d+ failing tests? in test\/([^:]+):/.exec(output)?.[1];
  const test = /\[FAIL[^\n]*\] (\w+)\(/.exec(output)?.[1];
  if (file === undefined) throw new Error(`forge ended without a verdict:\n${output.slice(-2_000)}`);
  return { isKilled: true, by: `${file} ${test ?? 'an invariant'}` };
}

interface Ended {
  readonly code: number;
  readonly output: string;
}

const settings = { FOUNDRY_PROFILE: 'deep', FOUNDRY_DENY: 'never', NO_COLOR: '1' };

/** The compiler's answers are kept, so that a later campaign with the same sources compiles nothing. */
function build(folder: string): Promise<Ended> {
  const compiler = { FOUNDRY_SOLC: '../scripts/solc-once.cjs', FLORIN_SOLC_ANSWERS: join(folder, 'answers') };
  return run(process.execPath, ['scripts/forge.cjs', 'build'], folder, { ...settings, ...compiler });
}

/** A compiler that only tells its version, all that forge asks of it when nothing has changed. */
function versionScript(): string {
  const version = execFileSync(process.execPath, [join(root, 'scripts', 'solc.cjs'), '--version'], {
    encoding: 'utf8',
  });
  return `#!/bin/sh\n[ "$1" = --version ] || exit 1\ncat <<'END'\n${version}END\n`;
}

/** forge without the scripts around it, which would take most of the time of its start. */
function test(
  folder: string,
  solc: string,
  args: readonly string[],
  { fuzzRuns, triesConstants }: TrialRound,
): Promise<Ended> {
  const { packagesOf } = createRequire(import.meta.url)('../../scripts/platform.cjs') as Platform;
  const { forge } = packagesOf();
  const program = forge === undefined ? 'forge' : join(root, 'node_modules', forge.name, 'bin', 'forge');
  return run(program, [...args, '--offline'], join(folder, 'contracts'), {
    ...settings,
    FOUNDRY_SOLC: solc,
    FOUNDRY_FUZZ_RUNS: String(fuzzRuns),
    FOUNDRY_FUZZ_INCLUDE_PUSH_BYTES: String(triesConstants),
  });
}

interface Platform {
  packagesOf(): { readonly forge?: { readonly name: string } };
}

function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const timer = setTimeout(() => {
      output += '\ntime-out';
      // A grandchild may run, so this kills the whole process group.
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
