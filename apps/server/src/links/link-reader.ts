import type { Queryable } from '@florin/pg';
import { type VersionedProduct, versionedProducts } from '#catalog/product.ts';
import { itemsOfLinks, versionedLinkById } from './link.sql.ts';
import { productIdsOf } from './link.ts';
import { parseLink } from './link-row.ts';
import type { StoredLink } from './stored-link.ts';

// For rooms that ask in their own statement whether a link is still as it was read.
export { isLinkUnchanged } from './link.sql.ts';

/** A link with what its row and those of its products are recognized by until they change. */
export interface VersionedLink {
  readonly link: StoredLink;
  readonly rowVersion: string;
  readonly products: readonly Pick<VersionedProduct, 'productId' | 'version'>[];
}

/** Looks up links, whoever asks and whatever their status. */
export interface LinkReader {
  /** One link; undefined when there is none. */
  find(linkId: string): Promise<VersionedLink | undefined>;
  /**
   * Set when this reader remembers: one that reads everything anew. Whoever is refused on what the first one said asks
   * it, and has the insert check what may have changed.
   */
  readonly fresh?: LinkReader;
}

/** Links and items of links that are remembered; the oldest go first. An item shows a product of at most some 15 kB. */
const rememberedLimits = { links: 2_000, items: 4_000 };

/**
 * A reader that remembers links that can be paid: three round trips less for each session. What it says may be out of
 * date; whoever stores something made of it checks the versions in the statement that stores it.
 */
export function rememberingLinkReader(
  queryable: Queryable,
  limits: { readonly links: number; readonly items: number } = rememberedLimits,
): LinkReader {
  const remembered = new Map<string, VersionedLink>();
  let items = 0;
  const forget = (linkId: string) => {
    items -= remembered.get(linkId)?.link.items.length ?? 0;
    remembered.delete(linkId);
  };
  const fresh: LinkReader = {
    async find(linkId) {
      const found = await readLink(queryable, linkId);
      forget(linkId);
      if (found?.link.status !== 'active') return found;
      remembered.set(linkId, found);
      items += found.link.items.length;
      for (const oldest of remembered.keys()) {
        if (remembered.size <= limits.links && items <= limits.items) break;
        forget(oldest);
      }
      return found;
    },
  };
  return { find: async (linkId) => remembered.get(linkId) ?? fresh.find(linkId), fresh };
}

/** The row first: what is changed between these statements makes the version of the row old. */
async function readLink(queryable: Queryable, linkId: string): Promise<VersionedLink | undefined> {
  const [row] = await queryable.query(versionedLinkById, { linkId });
  if (row === undefined) return undefined;
  const items = await queryable.query(itemsOfLinks, { linkIds: [linkId] });
  const productIds = productIdsOf(items.map((item) => ({ productId: item.product_id })));
  const products =
    productIds.length === 0
      ? new Map<string, VersionedProduct>()
      : await versionedProducts(queryable, row.merchant_id, productIds);
  return {
    link: parseLink(row, items, products),
    rowVersion: row.row_version,
    products: [...products.values()].map(({ productId, version }) => ({ productId, version })),
  };
}
