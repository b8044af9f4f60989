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
import { accountCommands } from './account-command.ts';
import { backupCommands } from './backup-command.ts';
import { brandCommands } from './brand-command.ts';
import { chainCommands } from './chain-command.ts';
import type { CommandContext } from './command.ts';
import { deployCommands } from './deploy-command.ts';
import { describeDatabaseError, doctorCommands } from './doctor-command.ts';
import { exceptionCommands } from './exception-command.ts';
import { handoverCommands } from './handover-command.ts';
import { initCommands } from './init-command.ts';
import { keyCommands } from './key-command.ts';
import { keystoreCommands } from './keystore-command.ts';
import { kitCommands } from './kit-command.ts';
import { ledgerCommands } from './ledger-command.ts';
import { memberCommands } from './member-command.ts';
import { merchantCommands } from './merchant-command.ts';
import { operatorCommands } from './operator-command.ts';
import { payerCommands } from './payer-command.ts';
import { resealCommands } from './reseal-command.ts';
import { settlementCommands } from './settlement-command.ts';
import { staffCommands } from './staff-command.ts';
import { verifyCommands } from './verify-command.ts';

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
  commands: {
    ...initCommands,
    ...merchantCommands,
    ...brandCommands,
    ...memberCommands,
    ...staffCommands,
    ...payerCommands,
    ...accountCommands,
    ...keyCommands,
    ...keystoreCommands,
    ...deployCommands,
    ...verifyCommands,
    ...handoverCommands,
    ...operatorCommands,
    ...kitCommands,
    ...doctorCommands,
    ...chainCommands,
    ...settlementCommands,
    ...exceptionCommands,
    ...resealCommands,
    ...ledgerCommands,
    ...backupCommands,
  },
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
