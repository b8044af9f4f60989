import type { Queryable, Transaction } from '@florin/pg';
import { wordsOf } from '#db/words.ts';
import {
  deleteLinkWords,
  insertLinkWords,
  linksByWords,
  namesOfLinks,
  takeNamedLinks,
} from './link-name.sql.ts';

/** The texts that name each link, by its id. */
export type NamedLinks = ReadonlyMap<string, ReadonlySet<string>>;

/** Links that the words of one search may name. Each has sessions of its own to look through. */
const maxLinks = 50;
/** Sorts behind every word. */
const endOfWords = '\u{10ffff}';
/** Links whose names are indexed in one transaction. */
const indexBatch = 200;

/**
 * Indexes the names of links that were written since, by which their payments are found. False when none are left. Only
 * one worker may do so at a time.
 */
export async function indexLinkNames(transaction: Transaction): Promise<boolean> {
  const links = await transaction.query(takeNamedLinks, { limit: indexBatch });
  if (links.length === 0) return false;
  const linkIds = links.map((link) => link.link_id);
  await transaction.query(deleteLinkWords, { linkIds });
  await transaction.query(insertLinkWords, {
    linkIds,
    merchantIds: links.map((link) => link.merchant_id),
    words: links.map((link) => [...new Set(wordsOf(link.link_name))].join(' ')),
  });
  return true;
}

/** The present names of the merchant's links with these ids, deleted ones included. */
export async function linkNames(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly linkIds: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  const rows = await queryable.query(namesOfLinks, request);
  return new Map(rows.map((row) => [row.link_id, row.link_name]));
}

/**
 * Links by the beginnings of words of their names, deleted ones included: each link with the texts that name it. No more
 * than 50 links, first those of the text that names the fewest.
 */
export async function linksNamed(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly texts: readonly string[] },
): Promise<NamedLinks> {
  if (request.texts.length === 0) return new Map();
  const rows = await queryable.query(linksByWords, { ...request, end: endOfWords, limit: maxLinks });
  const named = new Map<string, Set<string>>();
  for (const { text, link_id: linkId } of rows) named.set(linkId, (named.get(linkId) ?? new Set()).add(text));
  return named;
}
