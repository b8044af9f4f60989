import { Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { accountOf, findAccount, listAccounts } from '#merchants/account.ts';
import type { MerchantRoutes } from './once.ts';

const { routes } = merchantApi;

/** Collection accounts: read one, list all. Only the dashboard changes them. */
export function addAccountRoutes(add: MerchantRoutes): void {
  add.read(routes.getAccount, async ({ params: { accountId }, caller: { merchantId } }, db) => {
    const account = await findAccount(db, merchantId, accountId);
    if (account === undefined) throw new Refusal('account_not_found', accountId);
    if (account.status !== 'normal') throw new Refusal('account_removed', accountId);
    return accountOf(account);
  });

  add.read(routes.listAccounts, async ({ caller: { merchantId } }, db) => {
    const accounts = await listAccounts(db, merchantId);
    return accounts.map(accountOf);
  });
}
