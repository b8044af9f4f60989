import {
  type CliResult,
  type Family,
  merchantFamily,
  type ProgramSettings,
  programVersion,
  runProgram,
} from '@florin/cli';
import { UnfitDatabase } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { ConfigError } from '@florin/server/operator';
import { SignerFailure } from '@florin/signing';
import {
  createAccountCommand,
  listAccountsCommand,
  removeAccountCommand,
  updateAccountCommand,
} from './account-command.ts';
import { backupCommand, restoreCommand, restoreReportCommand } from './backup-command.ts';
import { brandMerchantCommand } from './brand-command.ts';
import { backfillChainCommand, droppedEventsCommand, resumeChainCommand } from './chain-command.ts';
import type { CommandContext } from './command.ts';
import { deployCommand } from './deploy-command.ts';
import { describeDatabaseError, doctorCommand } from './doctor-command.ts';
import { examples } from './example.ts';
import {
  acceptExceptionCommand,
  listExceptionsCommand,
  refundExceptionCommand,
  resolveExceptionCommand,
  showExceptionCommand,
} from './exception-command.ts';
import { handoverCommand } from './handover-command.ts';
import { initCommand } from './init-command.ts';
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
import {
  cancelRecoveryCommand,
  inviteCommand,
  listMembersCommand,
  recoverMemberCommand,
} from './member-command.ts';
import { createMerchantCommand, listMerchantsCommand, migrateCommand } from './merchant-command.ts';
import {
  acceptCommand,
  capsCommand,
  feeRecipientCommand,
  guardianCommand,
  offerCommand,
  pauseCommand,
  settlerCommand,
  signerCommand,
  unpauseCommand,
  withdrawCommand,
} from './operator-command.ts';
import { erasePayerCommand } from './payer-command.ts';
import { resealCommand } from './reseal-command.ts';
import { listSettlementsCommand, releaseSettlementCommand } from './settlement-command.ts';
import { addStaffCommand, listStaffCommand, removeStaffCommand } from './staff-command.ts';
import { verifyCommand } from './verify-command.ts';

const commands: Family<CommandContext>['commands'] = [
  ['init', initCommand],
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
  ['payer erase', erasePayerCommand],
  ['account create', createAccountCommand],
  ['account update', updateAccountCommand],
  ['account list', listAccountsCommand],
  ['account remove', removeAccountCommand],
  ['key create', createKeyCommand],
  ['key list', listKeysCommand],
  ['key revoke', revokeKeyCommand],
  ['keystore create', createKeystoreCommand],
  ['deploy', deployCommand],
  ['verify', verifyCommand],
  ['handover', handoverCommand],
  ['operator signer', signerCommand],
  ['operator settler', settlerCommand],
  ['operator guardian', guardianCommand],
  ['operator fee-recipient', feeRecipientCommand],
  ['operator caps', capsCommand],
  ['operator withdraw', withdrawCommand],
  ['operator pause', pauseCommand],
  ['operator unpause', unpauseCommand],
  ['operator offer', offerCommand],
  ['operator accept', acceptCommand],
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
];

const groups: Readonly<Record<string, string>> = {
  merchant: 'merchants',
  member: 'people who act for a merchant',
  staff: 'people who run the installation',
  payer: 'personal data of payers',
  account: 'collection accounts of a merchant',
  key: 'API keys of a merchant',
  keystore: 'encrypted keys of the service',
  operator: "an operator's contracts, as their controller",
  kit: 'payments on the chain, without the service',
  chain: 'the watcher of a chain',
  settlement: 'delayed settlements',
  exception: 'payments that differ from their order',
  webhook: 'webhooks',
  ledger: 'the books',
  reconcile: 'the books, compared with the chains',
};

/** What an operator does, with the configuration of FLORIN_CONFIG. */
const operatorFamily: Family<CommandContext> = {
  heading: 'Commands of an operator',
  commands: commands.map(([name, command]) => [name, { ...command, examples: examples[name] ?? [] }]),
  groups,
};

/** The program of a checkout: the commands of an operator and those of a merchant. */
export const checkoutProgram: ProgramSettings<CommandContext> = {
  name: 'npm run florin --',
  description:
    'The command line of an operator and of a merchant. FLORIN_CONFIG names the configuration file of an operator.',
  version: programVersion,
  families: [operatorFamily, merchantFamily],
  explain,
};

/** Runs one command line, without the program's name. */
export function runCli(args: readonly string[], outside: CommandContext): Promise<CliResult> {
  return runProgram(checkoutProgram, args, outside);
}

/** An error that the service's own code throws, as one sentence for the operator. */
function explain(error: unknown): string | undefined {
  if (error instanceof ConfigError || error instanceof Refusal || error instanceof UnfitDatabase) {
    return error.message;
  }
  const failure = signerFailureIn(error);
  if (failure !== undefined) return `the remote signer has signed nothing: ${failure.message}`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // SQLSTATE class 42: tables or columns that this version expects are missing.
  if (/^42P01$|^42703$/.test(code))
    return 'the database lacks tables of this version: run florin migrate first';
  if (error instanceof AggregateError || /^(E[A-Z]+|[0-9A-Z]{5})$/.test(code))
    return describeDatabaseError(error);
  return undefined;
}

/** The failure of a signer, which viem wraps in errors of its own. */
function signerFailureIn(error: unknown): SignerFailure | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof SignerFailure) return cause;
  }
  return undefined;
}
