import type { Account, Florin } from '@florin/sdk';
import { UsageError } from './command-error.ts';
import { listCommand, type MerchantCommands, retrieveCommand } from './resource.ts';

/** `florin accounts …` */
export const accountCommands: MerchantCommands = {
  'accounts list': listCommand<Account>({
    does: 'lists the accounts that payments are settled to',
    examples: ['accounts list'],
    columns: {
      ACCOUNT: ({ accountId }) => accountId,
      ADDRESS: ({ accountAddress }) => accountAddress,
      TOKENS: ({ settlementCurrencies }) => settlementCurrencies.join(' '),
      NAME: ({ accountName }) => accountName,
    },
    list: (florin) => florin.accounts.list(),
  }),
  'accounts retrieve': retrieveCommand('an account', 'accounts retrieve acc_…', (florin, id) =>
    florin.accounts.retrieve(id),
  ),
};

/** The only account that takes a token. */
export async function onlyAccountFor(florin: Florin, token: string): Promise<string> {
  const takers: string[] = [];
  for await (const { accountId, settlementCurrencies } of florin.accounts.list())
    if (settlementCurrencies.includes(token)) takers.push(accountId);
  const [only, ...others] = takers;
  if (only !== undefined && others.length === 0) return only;
  const what = only === undefined ? 'no account takes' : `${takers.length} accounts take`;
  throw new UsageError(`${what} ${token}: choose --account; florin accounts list shows them`);
}
