import tab from '@bomb.sh/tab/commander';
import { cliProgram } from './cli.ts';

/**
 * Prints the completion script of a shell (`complete bash|zsh|fish`), or the completions of an unfinished command line.
 */
export async function complete(args: readonly string[]): Promise<void> {
  const program = cliProgram({
    name: 'florin',
    writeOut: (text) => process.stdout.write(text),
    writeErr: (text) => process.stderr.write(text),
    perform: async () => {},
  });
  tab(program);
  await program.parseAsync(args, { from: 'user' });
}
