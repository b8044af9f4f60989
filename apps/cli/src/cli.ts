import { Refusal } from '@florin/protocol/error.ts';
import { ConfigError } from '@florin/server/operator';
import { CommanderError, Command as Program } from 'commander';
import {
  createAccountCommand,
  listAccountsCommand,
  removeAccountCommand,
  updateAccountCommand,
} from './account-command.ts';
import { backupCommand, restoreCommand, restoreReportCommand } from './backup-command.ts';
import { brandMerchantCommand } from './brand-command.ts';
import { backfillChainCommand, droppedEventsCommand, resumeChainCommand } from './chain-command.ts';
import { type Command, type CommandContext, type CommandResult, type Options, optionsOf } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { deployCommand } from './deploy-command.ts';
import { describeDatabaseError, doctorCommand } from './doctor-command.ts';
import {
  acceptExceptionCommand,
  listExceptionsCommand,
  refundExceptionCommand,
  resolveExceptionCommand,
  showExceptionCommand,
} from './exception-command.ts';
import { handoverCommand } from './handover-command.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand } from './key-command.ts';
import { createKeystoreCommand } from './keystore-command.ts';
import {
  kitFindCommand,
  kitReclaimCommand,
  kitRescueCommand,
  kitSettleCommand,
  kitVerifyCommand,
} from './kit-command.ts';
import { releaseCommand, statusCommand, verifyLedgerCommand } from './ledger-command.ts';
import { eventsCommand, listenCommand } from './listen-command.ts';
import { mcpCommand } from './mcp-command.ts';
import {
  cancelRecoveryCommand,
  inviteCommand,
  listMembersCommand,
  recoverMemberCommand,
} from './member-command.ts';
import { createMerchantCommand, listMerchantsCommand, migrateCommand } from './merchant-command.ts';
import { resealCommand } from './reseal-command.ts';
import { listSettlementsCommand, releaseSettlementCommand } from './settlement-command.ts';
import { addStaffCommand, listStaffCommand, removeStaffCommand } from './staff-command.ts';
import { resendCommand, triggerCommand } from './webhook-command.ts';
import { worldCommands } from './world-command.ts';

const commands: ReadonlyMap<string, Command> = new Map([
  ['migrate', migrateCommand],
  ['merchant create', createMerchantCommand],
  ['merchant list', listMerchantsCommand],
  ['merchant brand', brandMerchantCommand],
  ['invite', inviteCommand],
  ['member list', listMembersCommand],
  ['member recover', recoverMemberCommand],
  ['member cancel-recovery', cancelRecoveryCommand],
  ['staff add', addStaffCommand],
  ['staff list', listStaffCommand],
  ['staff remove', removeStaffCommand],
  ['account create', createAccountCommand],
  ['account update', updateAccountCommand],
  ['account list', listAccountsCommand],
  ['account remove', removeAccountCommand],
  ['key create', createKeyCommand],
  ['key list', listKeysCommand],
  ['key revoke', revokeKeyCommand],
  ['keystore create', createKeystoreCommand],
  ['deploy', deployCommand],
  ['handover', handoverCommand],
  ['kit find', kitFindCommand],
  ['kit reclaim', kitReclaimCommand],
  ['kit settle', kitSettleCommand],
  ['kit rescue', kitRescueCommand],
  ['kit verify', kitVerifyCommand],
  ['doctor', doctorCommand],
  ['chain resume', resumeChainCommand],
  ['settlement list', listSettlementsCommand],
  ['settlement release', releaseSettlementCommand],
  ['exception list', listExceptionsCommand],
  ['exception show', showExceptionCommand],
  ['exception accept', acceptExceptionCommand],
  ['exception refund', refundExceptionCommand],
  ['exception resolve', resolveExceptionCommand],
  ['chain dropped', droppedEventsCommand],
  ['chain backfill', backfillChainCommand],
  ['webhook reseal', resealCommand],
  ['ledger verify', verifyLedgerCommand],
  ['reconcile status', statusCommand],
  ['reconcile release', releaseCommand],
  ['backup', backupCommand],
  ['restore', restoreCommand],
  ['restore report', restoreReportCommand],
  ['listen', listenCommand],
  ['events', eventsCommand],
  ['mcp', mcpCommand],
  ['trigger', triggerCommand],
  ['resend', resendCommand],
  ...worldCommands,
]);

const groups: Readonly<Record<string, string>> = {
  merchant: 'merchants',
  member: 'people who act for a merchant',
  account: 'collection accounts of a merchant',
  key: 'API keys of a merchant',
  keystore: 'encrypted keys of the service',
  kit: 'payments on the chain, without the service',
  chain: 'the watcher of a chain',
  settlement: 'delayed settlements',
  exception: 'payments that differ from their order',
  webhook: 'webhooks',
  ledger: 'the books',
  reconcile: 'the books, compared with the chains',
  world: 'what can happen to the local world of npm start',
};

/** The result of a command line. */
export interface CliResult {
  /** 0 done, 1 failed or a problem was found, 2 not understood. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line, without the program's name. */
export async function runCli(args: readonly string[], outside: CommandContext): Promise<CliResult> {
  const said = { stdout: '', stderr: '' };
  let result: CliResult | undefined;
  const program = cliProgram({
    name: 'npm run florin --',
    writeOut: (text) => {
      said.stdout += text;
    },
    writeErr: (text) => {
      said.stderr += text;
    },
    async perform(command, options, isJson) {
      result = resultOf(await command.run(options, outside), isJson);
    },
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, ...said };
    return { exitCode: 1, stdout: '', stderr: `${sentenceOf(error)}\n` };
  }
  return result ?? { exitCode: 0, ...said };
}

interface ProgramParts {
  /** The program's name before a command. */
  readonly name: string;
  readonly writeOut: (text: string) => void;
  readonly writeErr: (text: string) => void;
  readonly perform: (command: Command, options: Options, isJson: boolean) => Promise<void>;
}

/** Every command with its options. Help, and input that is not understood, end in a CommanderError. */
export function cliProgram({ name: programName, writeOut, writeErr, perform }: ProgramParts): Program {
  const program = new Program(programName)
    .description('The command line of an operator. FLORIN_CONFIG names the configuration file.')
    .exitOverride()
    .configureOutput({ writeOut, writeErr })
    .configureHelp({ subcommandTerm: (command) => command.name(), subcommandDescription });
  for (const [name, command] of commands) {
    const [first = '', second] = name.split(' ');
    const own = second === undefined ? program.command(first) : groupOf(program, first).command(second);
    addCommand(own, command).action(async () => {
      try {
        await perform(command, optionsOf(own), own.getOptionValue('json') === true);
      } catch (error) {
        if (error instanceof UsageError) own.error(error.message);
        throw error;
      }
    });
  }
  return program;
}

function groupOf(program: Program, name: string): Program {
  const found = program.commands.find((each) => each.name() === name);
  return found ?? program.command(name).description(groups[name] ?? '');
}

function addCommand(own: Program, { does, options, argument }: Command): Program {
  own.description(does);
  const typed: string[] = [];
  if (argument !== undefined) {
    own.addArgument(argument);
    typed.push(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`);
  }
  for (const option of options) {
    own.addOption(option);
    typed.push(option.mandatory ? option.flags : `[${option.flags}]`);
  }
  own.option('--json', 'print JSON').usage([...typed, '[--json]'].join(' '));
  return own.showHelpAfterError(`usage: ${own.createHelp().commandUsage(own)}`);
}

/** The description of a command; of a group, with its commands. */
function subcommandDescription(command: Program): string {
  const names = command.commands.map((each) => each.name());
  return names.length === 0 ? command.description() : `${command.description()}: ${names.join(', ')}`;
}

function resultOf(outcome: CommandResult, isJson: boolean): CliResult {
  const writable = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const text = isJson ? JSON.stringify(outcome.json, writable, 2) : outcome.text;
  return { exitCode: outcome.isBad === true ? 1 : 0, stdout: `${text}\n`, stderr: '' };
}

/** An error as one sentence for the operator. */
function sentenceOf(error: unknown): string {
  if (error instanceof CommandError || error instanceof ConfigError || error instanceof Refusal) {
    return error.message;
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // SQLSTATE class 42: tables or columns that this version expects are missing.
  if (/^42P01$|^42703$/.test(code))
    return 'the database lacks tables of this version: run florin migrate first';
  if (error instanceof AggregateError || /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code))
    return describeDatabaseError(error);
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
