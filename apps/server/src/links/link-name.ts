import type { Queryable, Transaction } from '@florin/pg';
import { wordsOf } from '#db/words.ts';
import { deleteLinkWords, insertLinkWords, linksByWords, namesOfLinks } from './link-name.sql.ts';

/** Links that one word of a search may name. Each has sessions of its own to look through. */
const maxLinks = 50;
/** Sorts behind every word. */
const endOfWords = '\u{10ffff}';

/** Keeps the words of a link's name, by which its payments are found. */
export async function keepLinkWords(
  transaction: Transaction,
  { linkName, ...link }: { readonly merchantId: string; readonly linkId: string; readonly linkName: string },
): Promise<void> {
  await transaction.query(deleteLinkWords, { linkId: link.linkId });
  await transaction.query(insertLinkWords, { ...link, words: [...new Set(wordsOf(linkName))] });
}

/** The present names of the merchant's links with these ids, deleted ones included. */
export async function linkNames(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly linkIds: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryable.query(namesOfLinks, request);
  return new Map(rows.map((row) => [row.link_id, row.link_name]));
}

/** Links by the beginnings of words of their present names, deleted ones included: each text with the link that it names. */
export async function linksNamed(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly texts: readonly string[] },
): Promise<{ readonly text: string; readonly linkId: string }[]> {
  if (request.texts.length === 0) return [];
  const rows = await queryable.query(linksByWords, { ...request, end: endOfWords, limit: maxLinks });
  return rows.map(({ text, link_id: linkId }) => ({ text, linkId }));
}
