import { account } from '../resource.ts';
import { demand, found, succeeded } from '../rule.ts';
import type { Collection, Subject } from '../subject.ts';

const mostAccounts = 20;

/** Accounts are read-only. Returns the first account and a token that it accepts. */
export async function checkAccounts({ rules, merchant }: Subject): Promise<Collection | undefined> {
  type Account = { accountId: string; settlementCurrencies: string[] };
  const collection = await rules.rule('GET /account/list answers all accounts, at most 20', async () => {
    const accounts = succeeded(await merchant.get('/account/list'), [account]) as unknown as Account[];
    demand(accounts.length <= mostAccounts, `there are ${accounts.length} accounts`);
    const [first] = accounts;
    const settlementToken = first?.settlementCurrencies[0];
    if (first === undefined || settlementToken === undefined) {
      throw new Error(
        'the merchant has no account with a settlement token, without which little can be checked',
      );
    }
    return { accountId: first.accountId, settlementToken };
  });
  await rules.rule('GET /account/detail answers one account', async () => {
    const { accountId } = found(collection, 'an account');
    const detail = succeeded(await merchant.get(`/account/detail/${accountId}`), account);
    demand(detail['accountId'] === accountId, 'another account was answered');
  });
  return collection;
}
