import { type ItemProduct, productsForItems, productsForMany } from '#catalog/product.ts';
import { batched } from '#db/batch.ts';
import type { Queryable } from '#db/database.ts';
import { findAccount, findAccounts, type StoredAccount } from '#merchants/account.ts';

/** Looks up what a checkout request names. */
export interface TermsReader {
  /** One account of the merchant, removed ones included; undefined when the merchant never had it. */
  account(merchantId: string, accountId: string): Promise<StoredAccount | undefined>;
  /** The merchant's products of these ids; unknown and removed ones are left out. */
  products(merchantId: string, productIds: readonly string[]): Promise<ReadonlyMap<string, ItemProduct>>;
  /** Told that an account is not what was read of it; true when reading it again may tell more. */
  forget(accountId: string): boolean;
}

/** A reader that asks for each request alone, in the caller's transaction if that is what it is given. */
export function termsReader(queryable: Queryable): TermsReader {
  return {
    account: (merchantId, accountId) => findAccount(queryable, merchantId, accountId),
    products: (merchantId, productIds) => productsForItems(queryable, merchantId, productIds),
    forget: () => false,
  };
}

/** Look-ups that gather while one is under way share the next round trip (bench/README.md). */
const groupLimits = { maxSize: 64, maxInFlight: 1, maxWaiting: 10_000 };

/** Accounts that are remembered; the oldest go first. */
const maxRemembered = 10_000;

/**
 * A reader for many requests at once: they share round trips, and an account is read once. What is remembered may be
 * out of date; the insert of a session checks version, status and token of the account again, and whoever is refused
 * there tells `forget`. Products are read each time: nothing would notice an old price.
 */
export function groupTermsReader(queryable: Queryable): TermsReader {
  const account = batched(
    (refs: readonly { merchantId: string; accountId: string }[]) => findAccounts(queryable, refs),
    groupLimits,
  );
  const products = batched(
    (refs: readonly { merchantId: string; productIds: readonly string[] }[]) =>
      productsForMany(queryable, refs),
    groupLimits,
  );
  const remembered = new Map<string, StoredAccount>();
  return {
    async account(merchantId, accountId) {
      const known = remembered.get(accountId);
      if (known?.merchantId === merchantId) return known;
      const found = await account({ merchantId, accountId });
      if (found?.status === 'normal') remember(remembered, found);
      return found;
    },
    products: (merchantId, productIds) => products({ merchantId, productIds }),
    forget: (accountId) => remembered.delete(accountId),
  };
}

function remember(remembered: Map<string, StoredAccount>, account: StoredAccount): void {
  const [oldest] = remembered.keys();
  if (remembered.size >= maxRemembered && oldest !== undefined) remembered.delete(oldest);
  remembered.set(account.accountId, account);
}
