import { mandatory, optional, table } from '@florin/cli';
import { settlementModes } from '@florin/protocol/order.ts';
import {
  accountOf,
  type Config,
  causedBy,
  createAccount,
  disableLinksOfAccount,
  findAccount,
  listAccounts,
  operator,
  recordAct,
  removeAccount,
  updateAccount,
} from '@florin/server/operator';
import {
  type CommandContext,
  type Commands,
  merchantOption,
  requiredMerchant,
  withDatabase,
} from './command.ts';
import { telling } from './member-command.ts';

/** The operator's acts on wallets are told and recorded like those of members. */
function asOperator(outside: CommandContext, config: Config) {
  const deps = { ...outside, ...telling(outside, config), chains: config.chains, origin: config.origin };
  return causedBy(deps, { doneBy: operator });
}

const accountOption = mandatory('--account <id>', 'the account');
const updatedModes = [...settlementModes, 'default'] as const;

export const accountCommands: Commands = {
  'account create': {
    does: 'creates a collection account',
    examples: [
      'account create --merchant mer_… --name Till --address 0x… --currencies base::usdc,ethereum::usdc',
    ],
    options: [
      merchantOption,
      mandatory('--name <name>', 'its name, shown to the merchant'),
      mandatory('--address <address>', 'where payments are settled to, with its checksum'),
      mandatory('--currencies <tokens>', 'settlement tokens, such as ethereum::usdc,base::usdc'),
      optional('--settlement-mode <mode>', 'how payments in a settlement token reach the account').choices(
        settlementModes,
      ),
    ],
    run: withDatabase(async ({ options, db, config, outside }) => {
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
      const deps = asOperator(outside, config);
      const account = await db.transaction(async (transaction) => {
        const made = accountOf(await createAccount(transaction, deps, { ...request, merchantId }));
        const act = { action: 'addWalletAccount', subject: made.accountId, after: JSON.stringify(made) };
        await recordAct(transaction, deps, { merchantId, actor: operator, act });
        return made;
      });
      return { text: `created account ${account.accountId} for ${account.accountAddress}`, json: account };
    }),
  },
  'account update': {
    does: 'sets how payments in a settlement token reach the account',
    examples: ['account update --merchant mer_… --account acc_… --settlement-mode direct'],
    options: [
      merchantOption,
      accountOption,
      mandatory('--settlement-mode <mode>', 'the mode; "default" follows the configuration').choices(
        updatedModes,
      ),
    ],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const accountId = options.required('account');
      const chosen = options.choice('settlement-mode', updatedModes) ?? 'default';
      const { merchantId } = await requiredMerchant(db, options);
      const settlementMode = chosen === 'default' ? '' : chosen;
      const deps = asOperator(outside, config);
      const account = await db.transaction(async (transaction) => {
        const before = await findAccount(transaction, merchantId, accountId);
        const changed = await updateAccount(transaction, deps, { merchantId, accountId, settlementMode });
        const made = accountOf(changed);
        const act = {
          ...{ action: 'updateAccount', subject: accountId, after: JSON.stringify(made) },
          before: before === undefined ? undefined : JSON.stringify(accountOf(before)),
        };
        await recordAct(transaction, deps, { merchantId, actor: operator, act });
        return made;
      });
      const text =
        settlementMode === ''
          ? `account ${accountId} is settled by the configured mode`
          : `account ${accountId} is settled by ${settlementMode} from the next order on`;
      return { text, json: account };
    }),
  },
  'account list': {
    does: "lists a merchant's accounts in use, newest first",
    examples: ['account list --merchant mer_…'],
    options: [merchantOption],
    run: withDatabase(async ({ options, db }) => {
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
  },
  'account remove': {
    does: 'removes an account from use and disables its payment links',
    examples: ['account remove --merchant mer_… --account acc_…'],
    options: [merchantOption, accountOption],
    run: withDatabase(async ({ options, db, config, outside }) => {
      const accountId = options.required('account');
      const { merchantId } = await requiredMerchant(db, options);
      const request = { merchantId, accountId };
      const deps = asOperator(outside, config);
      const disabledLinks = await db.transaction(async (transaction) => {
        const removed = accountOf(await removeAccount(transaction, deps, request));
        const act = { action: 'removeAccount', subject: accountId, before: JSON.stringify(removed) };
        await recordAct(transaction, deps, { merchantId, actor: operator, act });
        return disableLinksOfAccount(transaction, deps, request);
      });
      const links = disabledLinks === 1 ? '1 payment link' : `${disabledLinks} payment links`;
      return {
        text: `removed account ${accountId} and disabled ${links}`,
        json: { accountId, disabledLinks },
      };
    }),
  },
};
