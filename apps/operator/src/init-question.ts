import { createInterface, type Interface } from 'node:readline/promises';
import { type Options, UsageError } from '@florin/cli';
import type { CommandContext } from './command.ts';

/** Values from options, or from a person at a terminal. */
export interface Answers {
  /** One value. Throws a UsageError where it is missing and nobody can be asked. */
  readonly one: (option: string, question: string) => Promise<string>;
  /** At least one value; a person separates them by spaces. */
  readonly many: (option: string, question: string) => Promise<readonly string[]>;
  readonly close: () => void;
}

/** Asks only what no option says, and only at a terminal. */
export function openAnswers(options: Options, { streams }: CommandContext): Answers {
  let lines: Interface | undefined;
  const ask = async (option: string, question: string): Promise<string> => {
    const isTerminal = streams !== undefined && 'isTTY' in streams.input && streams.input.isTTY === true;
    if (!isTerminal) throw new UsageError(`--${option} is missing`);
    lines ??= createInterface(streams);
    for (;;) {
      const answer = (await lines.question(`${question}: `)).trim();
      if (answer !== '') return answer;
    }
  };
  return {
    one: async (option, question) => options.optional(option) ?? ask(option, question),
    async many(option, question) {
      const given = options.all(option);
      return given.length > 0 ? given : (await ask(option, question)).split(/[\s,]+/);
    },
    close: () => lines?.close(),
  };
}
