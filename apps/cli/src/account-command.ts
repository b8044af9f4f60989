import { settlementModes } from '@florin/protocol/order.ts';
import {
  accountOf,
  chooseSettlementMode,
  createAccount,
  disableLinksOfAccount,
  listAccounts,
  removeAccount,
} from '@florin/server/operator';
import { type Command, requiredMerchant, table, withDatabase } from './command.ts';

export const createAccountCommand: Command = {
  usage:
    '--merchant ID --name NAME --address 0x… --currencies ethereum::usdc,base::usdc [--settlement-mode escrow|direct]',
  does: 'creates a collection account',
  options: ['merchant', 'name', 'address', 'currencies', 'settlement-mode'],
  run: (options, outside) =>
    withDatabase(outside, async (db, { chains }) => {
      const settlementMode = options.choice('settlement-mode', settlementModes);
      const request = {
        ...(settlementMode === undefined ? {} : { settlementMode }),
        accountName: options.required('name'),
        accountAddress: options.required('address'),
        settlementCurrencies: options
          .required('currencies')
          .split(',')
          .map((tokenId) => tokenId.trim()),
      };
      const { merchantId } = await requiredMerchant(db, options);
      const stored = await db.transaction((transaction) =>
        createAccount(transaction, { ...outside, chains }, { ...request, merchantId }),
      );
      const account = accountOf(stored);
      return { text: `created account ${account.accountId} for ${account.accountAddress}`, json: account };
    }),
};

export const updateAccountCommand: Command = {
  usage: '--merchant ID --account ID --settlement-mode escrow|direct|default',
  does: 'chooses how payments in a settlement token itself reach the account; default: as the configuration says',
  options: ['merchant', 'account', 'settlement-mode'],
  run: (options, outside) =>
    withDatabase(outside, async (db) => {
      const accountId = options.required('account');
      options.required('settlement-mode');
      const chosen = options.choice('settlement-mode', [...settlementModes, 'default']) ?? 'default';
      const { merchantId } = await requiredMerchant(db, options);
      const settlementMode = chosen === 'default' ? '' : chosen;
      const stored = await db.transaction((transaction) =>
        chooseSettlementMode(transaction, outside, { merchantId, accountId, settlementMode }),
      );
      const text =
        settlementMode === ''
          ? `account ${accountId} is settled as the configuration says`
          : `account ${accountId} is settled by ${settlementMode}, from the next order on`;
      return { text, json: accountOf(stored) };
    }),
};

export const listAccountsCommand: Command = {
  usage: '--merchant ID',
  does: "lists a merchant's accounts in use, newest first",
  options: ['merchant'],
  run: (options, outside) =>
    withDatabase(outside, async (db) => {
      const { merchantId } = await requiredMerchant(db, options);
      const accounts = (await listAccounts(db, merchantId)).map(accountOf);
      const rows = accounts.map((account) => [
        account.accountId,
        account.accountAddress,
        account.settlementCurrencies.join(','),
        account.settlementMode === '' ? 'default' : account.settlementMode,
        account.accountName,
      ]);
      return {
        text: table(['ACCOUNT', 'ADDRESS', 'CURRENCIES', 'SETTLEMENT', 'NAME'], rows),
        json: accounts,
      };
    }),
};

export const removeAccountCommand: Command = {
  usage: '--merchant ID --account ID',
  does: 'removes an account from use and disables its payment links',
  options: ['merchant', 'account'],
  run: (options, outside) =>
    withDatabase(outside, async (db, { chains, origin }) => {
      const accountId = options.required('account');
      const { merchantId } = await requiredMerchant(db, options);
      const request = { merchantId, accountId };
      const disabledLinks = await db.transaction(async (transaction) => {
        await removeAccount(transaction, outside, request);
        return disableLinksOfAccount(transaction, { ...outside, chains, origin }, request);
      });
      const links = disabledLinks === 1 ? '1 payment link' : `${disabledLinks} payment links`;
      return {
        text: `removed account ${accountId} and disabled ${links}`,
        json: { accountId, disabledLinks },
      };
    }),
};
