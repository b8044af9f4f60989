import { buildProgram, type ProgramSettings } from './program.ts';

/**
 * Prints the completion script of a shell (`complete bash|zsh|fish|powershell`), or the completions of an unfinished command line.
 */
export async function complete<Outside>(
  settings: ProgramSettings<Outside>,
  args: readonly string[],
): Promise<void> {
  // Only here: every other command starts without it.
  const { default: tab } = await import('@bomb.sh/tab/commander');
  const program = buildProgram(
    { ...settings, name: 'florin' },
    {
      writeOut: (text) => process.stdout.write(text),
      writeErr: (text) => process.stderr.write(text),
      perform: async () => {},
    },
  );
  tab(program);
  await program.parseAsync(args, { from: 'user' });
}
