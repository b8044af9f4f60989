import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type LinkHistory, type LinkTermsView, maxLinkVersions } from '@florin/protocol/link-history.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { deleteOldLinkVersions, insertLinkVersion, linkNameAt, versionsOfLink } from './link-history.sql.ts';
import { termsOf } from './link-json.ts';
import { findLink } from './link-lookup.ts';
import type { StoredLink } from './stored-link.ts';

/** Keeps what payers agreed to before a change, in the transaction of that change. The oldest of too many is dropped. */
export async function keepLinkVersion(
  transaction: Transaction,
  replaced: StoredLink,
  replacedAt: Date,
): Promise<void> {
  const { linkId, merchantId, versionCode } = replaced;
  const terms = JSON.stringify(termsViewOf(replaced));
  await transaction.query(insertLinkVersion, { linkId, merchantId, versionCode, terms, replacedAt });
  await transaction.query(deleteOldLinkVersions, { linkId, kept: BigInt(maxLinkVersions) });
}

/** The name that a link had at a time: of the oldest version that is kept, if that one was dropped. */
export async function findLinkNameAt(queryable: Queryable, link: StoredLink, at: Date): Promise<string> {
  const [replaced] = await queryable.query(linkNameAt, { linkId: link.linkId, at });
  return replaced?.link_name ?? link.linkName;
}

/** The versions of a merchant's link, also of a deleted one. Refuses with 100101. */
export async function readLinkHistory(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly linkId: string; readonly now: Date },
): Promise<LinkHistory> {
  const { merchantId, linkId, now } = request;
  const link = await findLink(queryable, linkId, now);
  if (link === undefined || link.merchantId !== merchantId) throw new Refusal('link_not_found', linkId);
  const replaced = await queryable.query(versionsOfLink, { linkId, limit: BigInt(maxLinkVersions) });
  const present = { version_code: link.versionCode, terms: termsViewOf(link) };
  return {
    linkId,
    status: link.status,
    createAt: formatTimestamp(link.createdAt),
    updateAt: formatTimestamp(link.updatedAt),
    versions: [present, ...replaced].map(({ version_code, terms }, index) => ({
      versionCode: version_code,
      // A version began when the one before it was replaced.
      beganAt: formatTimestamp(replaced[index]?.replaced_at ?? link.createdAt),
      terms: terms as LinkTermsView,
    })),
  };
}

function termsViewOf(link: StoredLink): LinkTermsView {
  const { accountName, accountAddress } = link.account;
  return { ...termsOf(link), accountName, accountAddress, lineItems: { items: [...link.items] } };
}
