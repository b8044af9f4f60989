import { mandatory, optional, table } from '@florin/cli';
import { settlementModes } from '@florin/protocol/order.ts';
import {
  accountOf,
  createAccount,
  disableLinksOfAccount,
  listAccounts,
  removeAccount,
  updateAccount,
} from '@florin/server/operator';
import { type Command, merchantOption, requiredMerchant, withDatabase } from './command.ts';

const accountOption = mandatory('--account <id>', 'the account');
const updatedModes = [...settlementModes, 'default'] as const;

export const createAccountCommand: Command = {
  does: 'creates a collection account',
  options: [
    merchantOption,
    mandatory('--name <name>', 'its name, shown to the merchant'),
    mandatory('--address <address>', 'where payments are settled to, with its checksum'),
    mandatory('--currencies <tokens>', 'settlement tokens, such as ethereum::usdc,base::usdc'),
    optional('--settlement-mode <mode>', 'how payments in a settlement token reach the account').choices(
      settlementModes,
    ),
  ],
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
  does: 'sets how payments in a settlement token reach the account',
  options: [
    merchantOption,
    accountOption,
    mandatory('--settlement-mode <mode>', 'the mode; "default" follows the configuration').choices(
      updatedModes,
    ),
  ],
  run: (options, outside) =>
    withDatabase(outside, async (db, { chains }) => {
      const accountId = options.required('account');
      const chosen = options.choice('settlement-mode', updatedModes) ?? 'default';
      const { merchantId } = await requiredMerchant(db, options);
      const settlementMode = chosen === 'default' ? '' : chosen;
      const stored = await db.transaction((transaction) =>
        updateAccount(transaction, { ...outside, chains }, { merchantId, accountId, settlementMode }),
      );
      const text =
        settlementMode === ''
          ? `account ${accountId} is settled by the configured mode`
          : `account ${accountId} is settled by ${settlementMode} from the next order on`;
      return { text, json: accountOf(stored) };
    }),
};

export const listAccountsCommand: Command = {
  does: "lists a merchant's accounts in use, newest first",
  options: [merchantOption],
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
  does: 'removes an account from use and disables its payment links',
  options: [merchantOption, accountOption],
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
