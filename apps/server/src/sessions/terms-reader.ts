import { batchedByKey, type Database, type Queryable } from '@florin/pg';
import { type VersionedProduct, versionedProducts } from '#catalog/product.ts';
import { findAccount, findAccounts, type StoredAccount } from '#merchants/account.ts';

/** Looks up what a checkout request names. */
export interface TermsReader {
  /** One account of the merchant, removed ones included; undefined when the merchant never had it. */
  account(merchantId: string, accountId: string): Promise<StoredAccount | undefined>;
  /** The merchant's products of these ids; unknown and removed ones are left out. */
  products(merchantId: string, productIds: readonly string[]): Promise<ReadonlyMap<string, VersionedProduct>>;
  /**
   * For a reader with a cache: reads the database. Before a request is refused by cached terms, they are read again.
   */
  readonly fresh?: TermsReader;
}

/** A reader that asks for each request alone, in the caller's transaction if that is what it is given. */
export function termsReader(queryable: Queryable): TermsReader {
  return {
    account: (merchantId, accountId) => findAccount(queryable, merchantId, accountId),
    products: (merchantId, productIds) => versionedProducts(queryable, merchantId, productIds),
  };
}

/** A merchant's look-ups that gather while one is under way share the next round trip (lab/bench/README.md). */
const groupLimits = { maxSize: 64, maxInFlight: 1, maxWaiting: 10_000 };

/** Cached accounts, and cached products of some 2 kB; the oldest are dropped first. */
const maxCached = 5_000;

/**
 * A reader for many requests at once: those of one merchant share round trips, in its scope. It caches accounts and products
 * that can be sold with. They may be stale: the statement that stores a session checks them again (docs/decisions/0101).
 */
export function groupTermsReader(db: Pick<Database, 'inScope'>): TermsReader {
  const fresh = groupReader(db);
  const accounts = memory<StoredAccount>();
  const products = memory<VersionedProduct>();
  const remembering: TermsReader = {
    async account(merchantId, accountId) {
      const found = await fresh.account(merchantId, accountId);
      accounts.set(`${merchantId} ${accountId}`, found?.status === 'normal' ? found : undefined);
      return found;
    },
    async products(merchantId, productIds) {
      const found = await fresh.products(merchantId, productIds);
      for (const productId of productIds) {
        const product = found.get(productId);
        products.set(`${merchantId} ${productId}`, product?.status === 'active' ? product : undefined);
      }
      return found;
    },
  };
  return {
    async account(merchantId, accountId) {
      return accounts.get(`${merchantId} ${accountId}`) ?? remembering.account(merchantId, accountId);
    },
    async products(merchantId, productIds) {
      const known = new Map<string, VersionedProduct>();
      for (const productId of productIds) {
        const product = products.get(`${merchantId} ${productId}`);
        if (product === undefined) return remembering.products(merchantId, productIds);
        known.set(productId, product);
      }
      return known;
    },
    fresh: remembering,
  };
}

function groupReader(db: Pick<Database, 'inScope'>): TermsReader {
  const account = batchedByKey((merchantId) => {
    const narrowed = db.inScope(merchantId);
    return (accountIds: readonly string[]) =>
      findAccounts(
        narrowed,
        accountIds.map((accountId) => ({ merchantId, accountId })),
      );
  }, groupLimits);
  const products = batchedByKey((merchantId) => {
    const narrowed = db.inScope(merchantId);
    return async (requests: readonly (readonly string[])[]) => {
      const found = await versionedProducts(narrowed, merchantId, [...new Set(requests.flat())]);
      // Each request sees the products that it names, and no others.
      return requests.map((productIds) => new Map(productIds.flatMap((id) => entryOf(found, id))));
    };
  }, groupLimits);
  return { account, products };
}

function entryOf<Value>(found: ReadonlyMap<string, Value>, id: string): [string, Value][] {
  const value = found.get(id);
  return value === undefined ? [] : [[id, value]];
}

function memory<Value>() {
  const values = new Map<string, Value>();
  return {
    get: (key: string) => values.get(key),
    /** Undefined forgets. */
    set(key: string, value: Value | undefined) {
      values.delete(key);
      const [oldest] = values.keys();
      if (values.size >= maxCached && oldest !== undefined) values.delete(oldest);
      if (value !== undefined) values.set(key, value);
    },
  };
}
