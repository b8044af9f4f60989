import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { Refusal } from '@florin/protocol/error.ts';
import { ConfigError } from '@florin/server/operator';
import {
  createAccountCommand,
  listAccountsCommand,
  removeAccountCommand,
  updateAccountCommand,
} from './account-command.ts';
import { backupCommand, restoreCommand, restoreReportCommand } from './backup-command.ts';
import { brandMerchantCommand } from './brand-command.ts';
import { backfillChainCommand, droppedEventsCommand, resumeChainCommand } from './chain-command.ts';
import { type Command, type OptionValues, type Outcome, type Outside, optionsOf } from './command.ts';
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
import { createMerchantCommand, listMerchantsCommand, migrateCommand } from './merchant-command.ts';
import { resealCommand } from './reseal-command.ts';
import { listSettlementsCommand, releaseSettlementCommand } from './settlement-command.ts';
import { resendCommand, triggerCommand } from './webhook-command.ts';

const commands: ReadonlyMap<string, Command> = new Map([
  ['migrate', migrateCommand],
  ['merchant create', createMerchantCommand],
  ['merchant list', listMerchantsCommand],
  ['merchant brand', brandMerchantCommand],
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
]);

/** What a command line came to. */
export interface CliResult {
  /** 0 done, 1 not done or something is wrong, 2 not understood. */
  readonly exitCode: 0 | 1 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line, without the program's name. */
export async function runCli(args: readonly string[], outside: Outside): Promise<CliResult> {
  const found = findCommand(args);
  if (found === undefined) {
    if (args[0] === 'help' || args[0] === '--help') return { exitCode: 0, stdout: usage(), stderr: '' };
    const problem = args.length === 0 ? '' : `there is no command ${args.slice(0, 2).join(' ')}\n\n`;
    return { exitCode: 2, stdout: '', stderr: `${problem}${usage()}` };
  }
  const [name, command, rest] = found;
  try {
    const values = parseOptions(command, rest);
    const outcome = await command.run(optionsOf(values), outside);
    return resultOf(outcome, values['json'] === true);
  } catch (error) {
    if (error instanceof UsageError) {
      const line = `usage: npm run florin -- ${`${name} ${command.usage}`.trim()} [--json]`;
      return { exitCode: 2, stdout: '', stderr: `${error.message}\n${line}\n` };
    }
    return { exitCode: 1, stdout: '', stderr: `${sentenceOf(error)}\n` };
  }
}

function findCommand(args: readonly string[]): [name: string, command: Command, rest: string[]] | undefined {
  for (const words of [2, 1]) {
    const name = args.slice(0, words).join(' ');
    const command = commands.get(name);
    if (command !== undefined) return [name, command, args.slice(words)];
  }
  return undefined;
}

function parseOptions(command: Command, args: string[]): OptionValues {
  const options: ParseArgsOptionsConfig = Object.fromEntries([
    ['json', { type: 'boolean' as const }],
    ...command.options.map((name) => [name, { type: 'string' as const }]),
    ...(command.repeatable ?? []).map((name) => [name, { type: 'string' as const, multiple: true }]),
  ]);
  const { positional } = command;
  try {
    const parsed = parseArgs({ args, options, strict: true, allowPositionals: positional !== undefined });
    const [value, ...more] = parsed.positionals;
    if (more.length > 0) throw new Error(`one value too many: ${more[0]}`);
    return value === undefined || positional === undefined
      ? parsed.values
      : { ...parsed.values, [positional]: value };
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. To specify.*$/s, ''));
  }
}

function resultOf(outcome: Outcome, isJson: boolean): CliResult {
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
  // SQLSTATE class 42: tables or columns that this version expects are not there.
  if (/^42P01$|^42703$/.test(code))
    return 'the database lacks tables of this version: run florin migrate first';
  if (error instanceof AggregateError || /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code))
    return describeDatabaseError(error);
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}

function usage(): string {
  const lines = [...commands].map(
    ([name, command]) => `  ${`${name} ${command.usage}`.trim()}\n      ${command.does}`,
  );
  return [
    'usage: npm run florin -- COMMAND [--json]',
    '',
    ...lines,
    '',
    'FLORIN_CONFIG names the configuration file.',
    '',
  ].join('\n');
}
