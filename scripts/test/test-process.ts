import { setTimeout as sleep } from 'node:timers/promises';
import type { FileOutcome } from './part.ts';
import { compileCacheOfTests, node, nodeFlags, startCommand } from './processes.ts';
import type { Result } from './reporter.ts';

/** A process that runs test files, one after another. */
export interface TestProcess {
  /** False once it has ended, which an uncaught error or a signal causes. */
  isRunning(): boolean;
  run(file: string): Promise<FileOutcome>;
  /** Lets it end, and gives what failed in it after its last file. */
  end(): Promise<readonly string[]>;
}

/**
 * Many short-lived objects: with a large young generation, they cost fewer collections. The old one is not collected below
 * a gigabyte, which a process of test files seldom reaches: that is an eighth of its processor time. Further threads that
 * collect would only wait for the processors, which other parts use.
 */
const testFlags = [
  ...nodeFlags,
  '--max-semi-space-size=64',
  '--min-semi-space-size=64',
  '--initial-old-space-size=1024',
  '--single-threaded-gc',
];
/** A file whose test never ends is ended, and fails. */
const silenceLimitMs = 15 * 60_000;
/**
 * For the end of a process without files, where Node also writes what it has compiled for the next run. What a test left open
 * keeps it alive; then the run ends it, and names it.
 */
const endLimitMs = 60_000;

type Message = Result | { readonly kind: 'closed'; readonly code: number };

/** Starts a process for test files. `write` gets its output, in one piece per file. */
export function startTestProcess(
  env: Readonly<Record<string, string>>,
  write: (text: string) => void,
): TestProcess {
  const args = [
    ...testFlags,
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...['--test-reporter=./scripts/test/reporter.ts', '--test-reporter-destination=stdout'],
    'scripts/test/file-runner.ts',
  ];
  const child = startCommand(node, args, {
    env: { ...compileCacheOfTests, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  let listen: (message: Message) => void = () => undefined;
  let hungFor = '';
  const silence = setTimeout(() => {
    hungFor = ` after it wrote nothing for ${silenceLimitMs / 60_000} minutes`;
    child.kill('SIGKILL');
  }, silenceLimitMs).unref();
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      silence.refresh();
    });
  child.on('message', (result: Result) => listen(result));
  let code: number | undefined;
  const closed = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => {
      clearTimeout(silence);
      code = exitCode ?? 1;
      listen({ kind: 'closed', code });
      resolve();
    });
  });
  const writeOutput = (name: string): void => {
    write(`\n# ${name}\n${output}`);
    output = '';
  };
  let hasFailed = false;
  return {
    isRunning: () => code === undefined,
    async run(file) {
      let [passed, skipped] = [0, 0];
      let processorSeconds = 0;
      let running = file;
      const failed: string[] = [];
      await new Promise<void>((resolve) => {
        listen = (message) => {
          if (message.kind === 'passed') passed += 1;
          if (message.kind === 'skipped') skipped += 1;
          if (message.kind === 'begun') running = message.name;
          if (message.kind === 'failed') failed.push(message.name);
          if (message.kind === 'closed')
            failed.push(`${running}: its process ended with ${message.code}${hungFor}`);
          if (message.kind === 'file') processorSeconds = message.processorSeconds;
          if (message.kind === 'file' || message.kind === 'closed') resolve();
        };
        child.send(file);
      });
      listen = () => undefined;
      hasFailed ||= failed.length > 0;
      writeOutput(file);
      return { passed, skipped, failed, processorSeconds };
    },
    async end() {
      // It disconnects itself: Node does not tell when a process has ended that its parent has disconnected.
      if (child.connected) child.send('');
      await Promise.race([closed, sleep(endLimitMs, undefined, { ref: false })]);
      writeOutput('the end of a process of test files');
      return code === undefined || code === 0 || hasFailed
        ? []
        : [`a process of test files ended with ${code}`];
    },
  };
}
