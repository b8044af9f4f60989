import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import type { CliClock, CliOutside } from './command.ts';
import { complete } from './completion.ts';
import { type ProgramSettings, runProgram } from './program.ts';

const clock: CliClock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await delay(ms, undefined, { signal });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};

/** Ends at Ctrl-C, which may arrive twice: from the terminal and from the parent program. */
function ending(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

const openers: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

function launch(url: string): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  // The address is printed in any case.
  child.on('error', () => process.stderr.write('no browser could be started\n'));
  child.unref();
}

/** Whether a stream shows colours, as NO_COLOR, FORCE_COLOR and the terminal say. */
function hasColors(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return stream.isTTY === true && stream.hasColors();
}

/** Runs the command line of this process. `more` is what further families need. */
export async function runProcess<More extends object>(
  settings: ProgramSettings<CliOutside & More>,
  more: More,
): Promise<void> {
  const args = process.argv.slice(2);
  // Scripts of shells ask the first; people type the second.
  if (args[0] === 'complete' || args[0] === 'completion')
    return complete(settings, ['complete', ...args.slice(1)]);
  // A reader such as head ends early.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  const outside: CliOutside = {
    environment: process.env,
    clock,
    folder: process.cwd(),
    tell: (sentence) => process.stderr.write(`${sentence}\n`),
    emit: (line) => process.stdout.write(`${line}\n`),
    ending,
    streams: { input: process.stdin, output: process.stdout },
    colors: { out: hasColors(process.stdout), err: hasColors(process.stderr) },
    launch,
  };
  const { exitCode, stdout, stderr } = await runProgram(settings, args, { ...outside, ...more });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = exitCode;
}
