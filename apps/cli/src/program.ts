import { styleText } from 'node:util';
import { FlorinError } from '@florin/sdk';
import { CommanderError, Command as Program } from 'commander';
import { type CliOutside, type CommandOf, type CommandResult, type Options, optionsOf } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';

/** Commands that belong together: those of a merchant, or those of an operator. */
export interface Family<Outside> {
  /** The heading in help. */
  readonly heading: string;
  /** By their one or two words. */
  readonly commands: Readonly<Record<string, CommandOf<Outside>>>;
  /** What the first of two words is about. */
  readonly groups: Readonly<Record<string, string>>;
}

export interface ProgramSettings<Outside> {
  /** The program's name before a command. */
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly families: readonly Family<Outside>[];
  /** Says an error that this package does not know; undefined leaves its own message. */
  readonly explain?: (error: unknown) => string | undefined;
}

/** The result of a command line. */
export interface CliResult {
  /** 0 done, 1 failed or a problem was found, 2 not understood. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

const epilogue = `
--json prints JSON alone, also for errors. Exit codes: 0 done, 1 failed or a problem was found, 2 not understood.
Completion with Tab: florin completion --help says how.`;

/** Runs one command line, without the program's name. */
export async function runProgram<Outside extends CliOutside>(
  settings: ProgramSettings<Outside>,
  args: readonly string[],
  outside: Outside,
): Promise<CliResult> {
  const said = { stdout: '', stderr: '' };
  const isJson = wantsJson(args);
  let result: CommandResult | undefined;
  const program = buildProgram(settings, {
    colors: outside.colors,
    writeOut: (text) => {
      said.stdout += text;
    },
    writeErr: (text) => {
      said.stderr += text;
    },
    async perform(command, options) {
      result = await command.run(options, outside);
    },
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return { exitCode: 0, ...said };
    if (error instanceof CommanderError)
      return isJson
        ? failed(2, { slug: 'usage', message: error.message.replace(/^error: /, '') })
        : { exitCode: 2, ...said };
    const facts = factsOf(error, settings.explain);
    return isJson ? failed(1, facts) : { exitCode: 1, stdout: '', stderr: `${sentenceOf(facts)}\n` };
  }
  if (result === undefined) return { exitCode: 0, ...said };
  const { json, isLine, isBad } = result;
  const text = isJson ? jsonText(json, isLine === true ? 0 : 2) : result.text;
  return { exitCode: isBad === true ? 1 : 0, stdout: text === '' ? '' : `${text}\n`, stderr: '' };
}

function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

function jsonText(value: unknown, indent: 0 | 2 = 2): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each), indent);
}

function failed(exitCode: 1 | 2, error: ReportedError): CliResult {
  return { exitCode, stdout: `${jsonText({ error })}\n`, stderr: '' };
}

/** What `--json` prints of an error, below `error`. */
interface ReportedError {
  /** The API's, or that of the SDK; `failed` or `usage` for what only the command line refuses. */
  readonly slug: string;
  readonly message: string;
  readonly [more: string]: unknown;
}

function factsOf(error: unknown, explain: ProgramSettings<never>['explain']): ReportedError {
  if (error instanceof FlorinError) {
    const { message, code, param, retryable, remedy, docUrl, requestId } = error;
    const slug = error.slug === 'unknown' && error.unknownSlug !== '' ? error.unknownSlug : error.slug;
    return { slug, message, code, param, retryable, remedy, docUrl, requestId };
  }
  const known = error instanceof CommandError ? error.message : explain?.(error);
  const message = known ?? (error instanceof Error ? error.message : String(error));
  return { slug: 'failed', message: message.split('\n', 1)[0] ?? message };
}

/** An error as one sentence, with the slug and the page of the API's errors. */
function sentenceOf({ slug, message, docUrl }: ReportedError): string {
  if (slug === 'failed') return message;
  return `${slug}: ${message}${typeof docUrl === 'string' && docUrl !== '' ? `, see ${docUrl}` : ''}`;
}

interface ProgramParts<Outside> {
  readonly colors?: CliOutside['colors'];
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
  readonly perform: (command: CommandOf<Outside>, options: Options) => Promise<void>;
}

/** Every command with its options. Help, and input that is not understood, end in a CommanderError. */
export function buildProgram<Outside>(
  { name: programName, description, version, families }: ProgramSettings<Outside>,
  { colors, writeOut, writeErr, perform }: ProgramParts<Outside>,
): Program {
  const program = new Program(programName)
    .description(description)
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut,
      writeErr,
      getOutHasColors: () => colors?.out === true,
      getErrHasColors: () => colors?.err === true,
      // Commander’s own errors begin as those of the commands.
      outputError: (text, write) => write(paint(colors?.err, 'red', text.replace(/^error: /, ''))),
    })
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      subcommandDescription,
      styleTitle: (text) => styleText('bold', text, { validateStream: false }),
    })
    .addHelpText('after', epilogue);
  for (const { heading, commands, groups } of families) {
    program.commandsGroup(`${heading}:`);
    for (const [name, command] of Object.entries(commands)) {
      const [first = '', second] = name.split(' ');
      const own =
        second === undefined ? program.command(first) : groupOf(program, first, groups).command(second);
      addCommand(own, name, command, programName).action(async () => {
        try {
          await perform(command, optionsOf(own));
        } catch (error) {
          if (error instanceof UsageError) own.error(error.message);
          throw error;
        }
      });
    }
  }
  for (const group of program.commands.filter(
    ({ commands, options }) => commands.length > 0 && options.length === 0,
  ))
    group.showHelpAfterError(`${programName} ${group.name()} has: ${namesOf(group)}`);
  return program.showHelpAfterError(`${programName} help lists all commands`);
}

function groupOf(program: Program, name: string, groups: Family<unknown>['groups']): Program {
  const found = program.commands.find((each) => each.name() === name);
  return found ?? program.command(name).description(groups[name] ?? '');
}

function addCommand<Outside>(
  own: Program,
  name: string,
  { does, options, argument, examples }: CommandOf<Outside>,
  programName: string,
): Program {
  own.description(does);
  const typed: string[] = [];
  if (argument !== undefined) {
    own.addArgument(argument);
    typed.push(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`);
  }
  for (const option of options) {
    own.addOption(option);
    if (option.mandatory) typed.push(option.flags);
  }
  own.option('--json', 'print JSON').usage([...typed, '[options]'].join(' '));
  if (examples !== undefined)
    own.addHelpText('after', `\nExamples:\n${examples.map((line) => `  ${programName} ${line}`).join('\n')}`);
  return own.showHelpAfterError(`${programName} ${name} --help shows its options`);
}

/** The description of a command; of a group, with its commands. */
function subcommandDescription(command: Program): string {
  const names = namesOf(command);
  return names === '' ? command.description() : `${command.description()}: ${names}`;
}

function namesOf(group: Program): string {
  return group.commands.map((each) => each.name()).join(', ');
}

/** A text in a colour where the terminal shows colours. */
export function paint(hasColors: boolean | undefined, color: 'red' | 'green', text: string): string {
  return hasColors === true ? styleText(color, text, { validateStream: false }) : text;
}
