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
}

/** A reader that asks for each request alone, in the caller's transaction if that is what it is given. */
export function termsReader(queryable: Queryable): TermsReader {
  return {
    account: (merchantId, accountId) => findAccount(queryable, merchantId, accountId),
    products: (merchantId, productIds) => productsForItems(queryable, merchantId, productIds),
  };
}

/** Look-ups that gather while two are under way share the next round trip (bench/README.md). */
const groupLimits = { maxSize: 64, maxInFlight: 2, maxWaiting: 10_000 };

/** A reader for many requests at once: they share round trips. */
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
  return {
    account: (merchantId, accountId) => account({ merchantId, accountId }),
    products: (merchantId, productIds) => products({ merchantId, productIds }),
  };
}
