import type { Queryable } from '@florin/pg';
import { type VersionedProduct, versionedProducts } from '#catalog/product.ts';
import type { Clock } from '#outside/clock.ts';
import { itemsOfLinks, versionedLinkById } from './link.sql.ts';
import { productIdsOf } from './link-lookup.ts';
import { parseLink } from './link-row.ts';
import { hasEnded } from './link-terms.ts';
import type { StoredLink } from './stored-link.ts';

// For rooms whose own statement checks that a link has not changed since it was read.
export { isLinkUnchanged } from './link.sql.ts';

/** A link with the versions of its row and of its products' rows. */
export interface VersionedLink {
  readonly link: StoredLink;
  readonly rowVersion: string;
  readonly products: readonly Pick<VersionedProduct, 'productId' | 'version'>[];
}

/** Looks up links of any merchant and in any status. */
export interface LinkReader {
  /** One link; undefined when there is none. */
  find(linkId: string): Promise<VersionedLink | undefined>;
  /** For a reader with a cache: reads the database. Before a request is refused by a cached link, it is read again. */
  readonly fresh?: LinkReader;
}

/** Cached links and items; the oldest are dropped first. An item shows a product of at most 15 kB. */
const cacheLimits = { links: 2_000, items: 4_000 };

/**
 * A reader that caches payable links, which saves three queries for each session. Cached links may be stale: a statement that
 * stores something made from them checks their versions.
 */
export function cachedLinkReader(
  queryable: Queryable,
  clock: Clock,
  limits: { readonly links: number; readonly items: number } = cacheLimits,
): LinkReader {
  const cached = new Map<string, VersionedLink>();
  let items = 0;
  const drop = (linkId: string) => {
    items -= cached.get(linkId)?.link.items.length ?? 0;
    cached.delete(linkId);
  };
  const fresh: LinkReader = {
    async find(linkId) {
      const found = await readLink(queryable, linkId, clock.now());
      drop(linkId);
      if (found?.link.status !== 'active') return found;
      cached.set(linkId, found);
      items += found.link.items.length;
      for (const oldest of cached.keys()) {
        if (cached.size <= limits.links && items <= limits.items) break;
        drop(oldest);
      }
      return found;
    },
  };
  return {
    async find(linkId) {
      const known = cached.get(linkId);
      const isStale = known === undefined || hasEnded(known.link.activeUntil, clock.now());
      return isStale ? fresh.find(linkId) : known;
    },
    fresh,
  };
}

/** Reads the row first: a change between these statements gives the row another version. */
async function readLink(queryable: Queryable, linkId: string, now: Date): Promise<VersionedLink | undefined> {
  const [row] = await queryable.query(versionedLinkById, { linkId });
  if (row === undefined) return undefined;
  const items = await queryable.query(itemsOfLinks, { linkIds: [linkId] });
  const productIds = productIdsOf(items.map((item) => ({ productId: item.product_id })));
  const products =
    productIds.length === 0
      ? new Map<string, VersionedProduct>()
      : await versionedProducts(queryable, row.merchant_id, productIds);
  return {
    link: parseLink(row, items, products, now),
    rowVersion: row.row_version,
    products: [...products.values()].map(({ productId, version }) => ({ productId, version })),
  };
}
