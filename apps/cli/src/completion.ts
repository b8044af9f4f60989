import { buildProgram, type ProgramSettings } from './program.ts';

/** What the script of bash takes from bash-completion, for shells that have not loaded it. */
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
  _get_comp_words_by_ref() {
    cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} cword=$COMP_CWORD
    words=("\${COMP_WORDS[@]}")
  }
fi
`;

const help = `Usage: florin completion bash|zsh|fish|powershell

Prints a script, by which Tab completes the commands of florin, their options and values.

In a project that has @florin/cli, for one terminal:
  source <(npx --no-install florin completion bash)
In a checkout:
  source <(npm run --silent florin -- completion bash)
For every terminal, in ~/.bashrc, after npm install --global:
  command -v florin >/dev/null && source <(florin completion bash)

zsh takes the same lines with zsh, in ~/.zshrc. The others:
  npx --no-install florin completion fish | source
  npx --no-install florin completion powershell | Out-String | Invoke-Expression

Tab completes what begins with florin. Where no program on PATH has this name, the script makes a function of it that runs
the florin that printed the script.
`;

type Shell = 'bash' | 'zsh' | 'fish' | 'powershell';

/** A function `florin`, where the shell finds none: npx puts no program on PATH. */
function fallbackOf(shell: Shell): string {
  const { execPath, execArgv, argv } = process;
  const escapes = { bash: "'\\''", zsh: "'\\''", fish: "\\'", powershell: "''" }[shell];
  const quote = (word: string) => {
    const text = shell === 'fish' ? word.replaceAll('\\', '\\\\') : word;
    return `'${text.replaceAll("'", escapes)}'`;
  };
  const program = [execPath, ...execArgv, argv[1] ?? ''].map(quote).join(' ');
  const posix = `command -v florin >/dev/null || florin() { ${program} "$@"; }\n`;
  return {
    bash: posix,
    zsh: posix,
    fish: `type -q florin; or function florin; ${program} $argv; end\n`,
    powershell: `if (-not (Get-Command florin -ErrorAction Ignore)) { function global:florin { & ${program} @args } }\n`,
  }[shell];
}

/** What stands around the script of a shell, so that it can be read twice, and in a shell that was not set up for it. */
const around: Readonly<Record<Shell, readonly [before: string, after: string]>> = {
  // The script has constants, which cannot be set again.
  bash: [`${bashWords}if ! declare -F __florin_complete >/dev/null; then\n`, 'fi\n'],
  zsh: ['#compdef florin\n(( $+functions[compdef] )) || { autoload -U compinit && compinit -i; }\n', ''],
  fish: ['', ''],
  powershell: ['', ''],
};

function isShell(text: string): text is Shell {
  return Object.hasOwn(around, text);
}

/**
 * Prints the completion script of a shell (`completion bash|zsh|fish|powershell`), or the completions of an unfinished command
 * line (`complete -- …`).
 */
export async function complete<Outside>(
  settings: ProgramSettings<Outside>,
  args: readonly string[],
): Promise<void> {
  const asked = args[1] ?? '';
  if (asked === '--help' || asked === '-h') {
    process.stdout.write(help);
    return;
  }
  // Behind `--` is an unfinished command line.
  if (asked !== '--' && !isShell(asked)) {
    process.stderr.write(
      'give a shell: bash, zsh, fish or powershell; florin completion --help says what to do with the script\n',
    );
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
  tab(program);
  const [before, after] = isShell(asked) ? around[asked] : ['', ''];
  process.stdout.write(before);
  await program.parseAsync(args, { from: 'user' });
  process.stdout.write(isShell(asked) ? after + fallbackOf(asked) : '');
}
