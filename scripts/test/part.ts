import { type Ended, runCommand } from './processes.ts';

/** How many tests of a part passed, and the names of those that failed. */
export interface PartOutcome {
  readonly passed: number;
  /** None when absent. */
  readonly skipped?: number;
  readonly failed: readonly string[];
}

/** Of one test file, with what it and the programs that it started have used. */
export interface FileOutcome extends PartOutcome {
  readonly processorSeconds: number;
}

/** What a part may use. */
export interface PartContext {
  /** Address of a PostgreSQL with the migrated template, started for the first part that asks. */
  readonly postgresUrl: () => Promise<string>;
  /** Runs a test file in a process with these additions to its environment, and other files before and after it. */
  readonly runFile: (file: string, env: Readonly<Record<string, string>>) => Promise<FileOutcome>;
  /** Gets all output, for the log. */
  readonly write: (text: string) => void;
  /** Adds to the processor time of the part. */
  readonly addProcessorSeconds: (seconds: number) => void;
}

/** A piece of a test run that does not need the others, so that several run at once. */
export interface Part {
  readonly name: string;
  /** It takes ten processor seconds or more, and so begins before those that do not. */
  readonly isLong?: boolean;
  run(context: PartContext): Promise<PartOutcome>;
}

/** A part that is one command and counts as one test: it passes or fails as a whole. */
export function wholePart(
  name: string,
  command: string,
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>>; needsPostgres?: boolean; isLong?: boolean } = {},
): Part {
  return {
    name,
    isLong: options.isLong ?? false,
    async run(context) {
      const shared =
        options.needsPostgres === true ? { FLORIN_TEST_POSTGRES: await context.postgresUrl() } : {};
      const { code } = await runLogged(context, name, command, args, { env: { ...options.env, ...shared } });
      return code === 0 ? { passed: 1, failed: [] } : { passed: 0, failed: [name] };
    },
  };
}

/** Runs a command whose output goes to the log in one piece, below its name. */
export async function runLogged(
  context: PartContext,
  name: string,
  command: string,
  args: readonly string[],
  options: Parameters<typeof runCommand>[2],
): Promise<Ended> {
  const ended = await runCommand(command, args, options);
  context.write(`\n# ${name}\n${ended.output}`);
  context.addProcessorSeconds(ended.processorSeconds);
  return ended;
}
