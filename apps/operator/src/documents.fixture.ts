import { buildProgram } from '@florin/cli';
import { checkoutProgram } from './cli.ts';

/** The options of each command, by its one or two words. */
export function readCommands(): Map<string, Set<string>> {
  const print = () => {};
  const program = buildProgram(checkoutProgram, {
    writeOut: print,
    writeErr: print,
    perform: async () => {},
  });
  const optionsOf = (command: typeof program) =>
    new Set(['--help', ...command.options.map(({ long }) => long ?? '')]);
  return new Map(
    program.commands.flatMap((first) => [
      [first.name(), optionsOf(first)] as const,
      ...first.commands.map((second) => [`${first.name()} ${second.name()}`, optionsOf(second)] as const),
    ]),
  );
}

/** Command lines in a document, whether alone or within a sentence. */
export function commandLinesOf(text: string): string[] {
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  const calls = /(?:npm run florin --|(?<=^|`)florin)\s((?:[^\n`#|;&]|(?<=\S)#)+)/gm;
  return [...joined.matchAll(calls)].map(([, line = '']) => line.trim());
}
