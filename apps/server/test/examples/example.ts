import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** Examples in a copy of the checkout, by the commands that their READMEs print. */

const run = promisify(execFile);
/** Installing and building takes minutes on a slow machine. */
const stepTimeoutMs = 1_200_000;
const pollMs = 500;

type Settings = Readonly<Record<string, string>>;

/** Variables of this test and of the npm that runs it, which a person's terminal does not have. */
const ownVariables = /^(?:FLORIN_|NODE_OPTIONS$|NODE_TEST_CONTEXT$|npm_)/;

/** The terminal of a person who has Node.js 24. What the tools would ask their makers is switched off. */
function terminal(settings: Settings): NodeJS.ProcessEnv {
  const environment = Object.entries(process.env).filter(([name]) => !ownVariables.test(name));
  return {
    ...Object.fromEntries(environment),
    NEXT_TELEMETRY_DISABLED: '1',
    VENDURE_DISABLE_TELEMETRY: 'true',
    WRANGLER_SEND_METRICS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    ...settings,
  };
}

/** The commands of a README, which stand in its first block. */
export function commandsOf(folder: string): string {
  const text = readFileSync(join(folder, 'README.md'), 'utf8');
  const [, commands] = /```sh\n([\s\S]*?)```/.exec(text) ?? [];
  if (commands === undefined) throw new Error(`${folder}/README.md has no commands`);
  return commands;
}

/** Runs commands until they end; returns what they print. */
export async function runCommands(
  folder: string,
  commands: string,
  settings: Settings = {},
): Promise<string> {
  const options = { cwd: folder, env: terminal(settings), timeout: stepTimeoutMs };
  return (await run('sh', ['-e', '-c', commands], options)).stdout;
}

/** Runs commands of which the last one listens, and waits until this address answers. */
export async function startCommands(
  folder: string,
  commands: string,
  { url, settings = {} }: { readonly url: string; readonly settings?: Settings },
): Promise<AsyncDisposable> {
  // A group of its own: npm passes no signal on.
  const child = spawn('sh', ['-e', '-c', commands], {
    cwd: folder,
    env: terminal(settings),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const answers = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`the commands have ended:\n${output}`);
    return fetch(url).then(
      () => true,
      () => false,
    );
  };
  try {
    await until(() => `${url} answers:\n${output}`, answers, stepTimeoutMs);
  } catch (error) {
    await endGroup(child);
    throw error;
  }
  return { [Symbol.asyncDispose]: () => endGroup(child) };
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.stdout?.closed === true) return;
  const ended = once(child, 'close');
  try {
    process.kill(-child.pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  await ended;
}

/** Asks again and again until it is so; two minutes, unless told otherwise. */
export async function until(
  what: () => string,
  isSo: () => Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`never came: ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
