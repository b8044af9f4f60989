import { buildProgram, type ProgramSettings } from './program.ts';

/** What the script of bash takes from bash-completion, for shells that have not loaded it. */
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
  _get_comp_words_by_ref() {
    cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} cword=$COMP_CWORD
    words=("\${COMP_WORDS[@]}")
  }
fi
`;

const shells = ['bash', 'zsh', 'fish', 'powershell'];

/**
 * Prints the completion script of a shell (`complete bash|zsh|fish|powershell`), or the completions of an unfinished command line.
 */
export async function complete<Outside>(
  settings: ProgramSettings<Outside>,
  args: readonly string[],
): Promise<void> {
  const asked = args[1] ?? '';
  // Behind `--` is an unfinished command line.
  if (asked !== '--' && !shells.includes(asked)) {
    process.stderr.write('give a shell: florin complete bash, zsh, fish or powershell\n');
    process.exitCode = 2;
    return;
  }
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
  if (asked === 'bash') process.stdout.write(bashWords);
  tab(program);
  await program.parseAsync(args, { from: 'user' });
}
