import { startTestPostgres } from '../../apps/server/test/harness/database.ts';
import type { FileOutcome } from './part.ts';
import { secondsOfEndedChildren } from './processor-time.ts';
import { startTestProcess, type TestProcess } from './test-process.ts';

interface SharedPostgres {
  readonly url: () => Promise<string>;
  /** Gives the processor seconds that it has used. */
  readonly stop: () => Promise<number>;
}

/** One PostgreSQL for all parts, started when the first one asks. */
export function sharedPostgres(): SharedPostgres {
  let server: ReturnType<typeof startTestPostgres> | undefined;
  return {
    async url() {
      server ??= startTestPostgres();
      return (await server).url;
    },
    async stop() {
      const before = secondsOfEndedChildren();
      await (await server)?.stop();
      return secondsOfEndedChildren() - before;
    },
  };
}

/** One of the places in which parts run at once. */
interface Place {
  readonly runFile: (file: string, env: Readonly<Record<string, string>>) => Promise<FileOutcome>;
  /** Gives what failed in its processes after their last files. */
  readonly close: () => Promise<readonly string[]>;
}

/** A place keeps one process for test files, until another environment is asked for. */
export function openPlace(postgres: SharedPostgres, write: (text: string) => void): Place {
  let current: { readonly env: string; readonly process: TestProcess } | undefined;
  const failed: string[] = [];
  const close = async (): Promise<readonly string[]> => {
    if (current !== undefined) failed.push(...(await current.process.end()));
    current = undefined;
    return failed;
  };
  return {
    async runFile(file, more) {
      const env = JSON.stringify(more);
      if (current?.env !== env || !current.process.isRunning()) await close();
      const postgresUrl = await postgres.url();
      current ??= { env, process: startTestProcess({ ...more, FLORIN_TEST_POSTGRES: postgresUrl }, write) };
      return current.process.run(file);
    },
    close,
  };
}
