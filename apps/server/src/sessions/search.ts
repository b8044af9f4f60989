import type { Queryable } from '@florin/pg';
import { fieldRefusal } from '@florin/protocol/error.ts';
import { type SessionSearchBody, searchReach } from '@florin/protocol/session-search.ts';
import { wordsOf } from '#db/words.ts';
import { linksNamed, type NamedLinks } from '#links/link-name.ts';
import type { SearchFilters } from './search.sql.ts';
import * as sql from './search.sql.ts';
import {
  amountWord,
  emailWord,
  endingWord,
  metadataWord,
  overflowWord,
  paidWord,
  productWord,
} from './search-words.ts';
import type { StoredSessionView } from './session-json.ts';
import { viewPortions } from './session-list.ts';

/** Words from `low` up to `high`, which is excluded. */
interface WordRange {
  readonly low: string;
  readonly high: string;
}

/** What every session that is sought has in the index: a word in one of the ranges. */
interface Term {
  readonly ranges: readonly WordRange[];
}

interface SearchPage {
  readonly hasMore: boolean;
  readonly nextCursor: string;
}

const defaultSize = 20;
/** A shorter text is no end of an id: it would be that of too many. */
const minEndingLength = 4;
/** Between the two ends of a shortened id. */
const ellipsis = /…|\.{3}/g;
const endOfWords = '\u{10ffff}';

/**
 * One page of the merchant's sessions that meet the request, newest first. Looks at no more than `searchReach` sessions,
 * so a page may be short and still have more behind it. Refuses an unknown cursor, and text without a word (400101).
 */
export async function searchSessions(
  queryable: Queryable,
  request: { readonly merchantId: string; readonly body: SessionSearchBody; readonly showsEmail: boolean },
): Promise<{ page: SearchPage; portions: AsyncIterable<readonly StoredSessionView[]> }> {
  const { merchantId, body, showsEmail } = request;
  const texts = [...new Set(wordsOf((body.text ?? '').replaceAll(ellipsis, ' ')))];
  if (body.text !== undefined && texts.length === 0) throw fieldRefusal('text', 'has no letter and no digit');
  const named = await linksNamed(queryable, { merchantId, texts });
  const terms = termsOf(body, { texts, showsEmail, named });
  const ranges = distinctRanges(terms);
  const times = timesOf(body);
  const [place] = await queryable.query(sql.searchPlace, {
    ...{ merchantId, after: body.after ?? '', lows: lowsOf(ranges), highs: highsOf(ranges) },
    createdFrom: times.createdFrom,
    // A session is paid after it is created.
    createdBefore: times.createdBefore ?? times.paidBefore,
  });
  if (place === undefined || place.below === null) throw fieldRefusal('after', 'names no session');
  const { size = defaultSize } = body;
  const filters = {
    ...{ merchantId, below: place.below, above: place.above, limit: size, texts, showsEmail },
    endings: texts.map((text) => (text.length < minEndingLength ? '' : endingWord(text))),
    namedLinks: [...named.keys()],
    // Like the words of a session: a text begins a word behind a space.
    namedTexts: [...named.values()].map((ofLink) => ` ${[...ofLink].join(' ')}`),
    ...times,
    words: [
      ...(body.productId === undefined ? [] : [productWord(body.productId)]),
      ...Object.entries(body.metadata ?? {}).map(([key, value]) => metadataWord(key, value)),
    ],
    status: body.status ?? '',
    sessionType: body.sessionType ?? '',
    isRefunded: body.isRefunded ?? null,
    accountId: body.accountId ?? '',
    linkId: body.linkId ?? '',
    payer: body.payer?.toLowerCase() ?? '',
    payerEmail: body.payerEmail?.toLowerCase() ?? '',
    paidToken: body.paidToken ?? '',
    txHash: body.txHash?.toLowerCase() ?? '',
    amountFrom: body.amountFrom ?? 0,
    amountTo: body.amountTo ?? Number.MAX_SAFE_INTEGER,
  };
  const [found] = await find(queryable, filters, ranked(terms, ranges, place));
  if (found === undefined) throw new Error('a search always answers');
  const { session_ids: sessionIds, candidate_count: candidates, last_id: lastId } = found;
  const shown = sessionIds.slice(0, size);
  const isFull = sessionIds.length > size;
  const hasMore = isFull || candidates === BigInt(searchReach);
  const last = isFull ? shown.at(-1) : lastId;
  const rows = shown.length === 0 ? [] : await queryable.query(sql.foundSessions, { sessionIds: shown });
  return {
    page: { hasMore, nextCursor: hasMore ? (last ?? '') : '' },
    portions: viewPortions(queryable, rows),
  };
}

/** The ranges of the terms, each once: a link may be named by every text. */
function distinctRanges(terms: readonly Term[]): WordRange[] {
  const ranges = terms.flatMap((term) => term.ranges);
  return [...new Map(ranges.map((range) => [keyOf(range), range])).values()];
}

/** A term with the number of sessions that it names, counted up to one more than the reach. */
interface RankedTerm extends Term {
  readonly count: bigint;
  /** The words that sessions have in the ranges; empty when one of the ranges has several, or all of them have too many. */
  readonly words: readonly string[];
}

/** Words of a term that are looked up in order, each as far as the reach: a text and the links that it names. */
const maxWordsInOrder = 8;

/** The terms, the rarest first. */
function ranked(
  terms: readonly Term[],
  counted: readonly WordRange[],
  { counts, words }: { readonly counts: readonly bigint[]; readonly words: readonly string[] },
): RankedTerm[] {
  const byRange = new Map(
    counted.map((range, index) => [keyOf(range), { count: counts[index] ?? 0n, word: words[index] ?? '' }]),
  );
  return terms
    .map(({ ranges }) => {
      const named = ranges
        .map((range) => byRange.get(keyOf(range)) ?? { count: 0n, word: '' })
        .filter(({ count }) => count > 0n);
      const found = named.map(({ word }) => word);
      const words = found.length > maxWordsInOrder || found.includes('') ? [] : found;
      return { ranges, words, count: named.reduce((sum, { count }) => sum + count, 0n) };
    })
    .toSorted((left, right) => Number(left.count - right.count));
}

/**
 * Judges the sessions of the rarest term. Where every term is frequent, judges the newest of one term's words or of the status:
 * of the one whose newest reach furthest back.
 */
async function find(queryable: Queryable, filters: SearchFilters, terms: readonly RankedTerm[]) {
  const [rarest] = terms;
  if (rarest !== undefined && rarest.count <= BigInt(searchReach)) {
    const ranges = { lows: lowsOf(rarest.ranges), highs: highsOf(rarest.ranges) };
    return queryable.query(sql.foundByRanges, { ...filters, ...ranges });
  }
  const { merchantId, below, above, status } = filters;
  const inOrder = terms.map((term) => term.words).filter((words) => words.length > 0);
  const [first] = inOrder;
  if (first === undefined)
    return queryable.query(status === '' ? sql.foundInAll : sql.foundByStatus, filters);
  if (inOrder.length === 1 && status === '')
    return queryable.query(sql.foundByWords, { ...filters, anyOf: first });
  const words = [...new Set(inOrder.flat())];
  const [ends] = await queryable.query(sql.reachEnds, { merchantId, below, above, words, status });
  if (ends === undefined) throw new Error('the reach always ends');
  const ofWord = new Map(words.map((word, index) => [word, ends.of_words[index] ?? 0n]));
  // Of several words the newest reach at most as far back as those of the word that reaches the least.
  const endOf = (anyOf: readonly string[]) =>
    anyOf.map((word) => ofWord.get(word) ?? 0n).toSorted((left, right) => Number(right - left))[0] ?? 0n;
  const furthest = inOrder.reduce((left, right) => (endOf(right) < endOf(left) ? right : left));
  if (ends.of_status !== null && ends.of_status <= endOf(furthest))
    return queryable.query(sql.foundByStatus, filters);
  return queryable.query(sql.foundByWords, { ...filters, anyOf: furthest });
}

/** The words of a search for text, and the links that they name. */
interface SearchTexts {
  readonly texts: readonly string[];
  readonly showsEmail: boolean;
  readonly named: NamedLinks;
}

function termsOf(body: SessionSearchBody, { texts, showsEmail, named }: SearchTexts): Term[] {
  const { accountId, linkId, productId, payer, txHash, payerEmail, amountFrom, amountTo } = body;
  const exact = [accountId, linkId, productId, payer, txHash].flatMap((id) => wordsOf(id ?? ''));
  const emailWords = wordsOf(payerEmail ?? '').map(emailWord);
  const values = Object.values(body.metadata ?? {}).flatMap((value) => wordsOf(String(value)));
  const terms: Term[] = [...exact, ...emailWords].map((word) => ({ ranges: [only(word)] }));
  terms.push(...values.map(metadataTerm));
  for (const text of texts) {
    // A session has the id of its link among its words, and not the name: a renamed link changes no session.
    const links = [...named].flatMap(([linkId, ofLink]) => (ofLink.has(text) ? wordsOf(linkId) : []));
    const emails = showsEmail ? [beginning(emailWord(text))] : [];
    const endings = text.length < minEndingLength ? [] : [beginning(endingWord(text))];
    terms.push({ ranges: [beginning(text), ...endings, ...emails, ...links.map(only)] });
  }
  if (amountFrom !== undefined || amountTo !== undefined) {
    const low = amountWord(amountFrom ?? 0);
    terms.push({ ranges: [{ low, high: amountWord(amountTo ?? Number.MAX_SAFE_INTEGER) + endOfWords }] });
  }
  if (body.paidFrom !== undefined || body.paidTo !== undefined) {
    const low = paidWord(body.paidFrom ?? 0);
    terms.push({ ranges: [{ low, high: paidWord(body.paidTo ?? 9_999_999_999) + endOfWords }] });
  }
  return terms;
}

/** Sessions with too many words to look up all of them are candidates for every value of metadata. */
function metadataTerm(word: string): Term {
  return { ranges: [only(word), only(overflowWord)] };
}

const only = (word: string): WordRange => ({ low: word, high: `${word} ` });
const beginning = (word: string): WordRange => ({ low: word, high: word + endOfWords });
const keyOf = ({ low, high }: WordRange) => `${low}\n${high}`;
const lowsOf = (ranges: readonly WordRange[]) => ranges.map((range) => range.low);
const highsOf = (ranges: readonly WordRange[]) => ranges.map((range) => range.high);

function timesOf({ createdFrom, createdTo, paidFrom, paidTo }: SessionSearchBody) {
  const timeOf = (seconds: number | undefined) => (seconds === undefined ? null : new Date(seconds * 1000));
  const endOf = (seconds: number | undefined) => timeOf(seconds === undefined ? undefined : seconds + 1);
  return {
    createdFrom: timeOf(createdFrom),
    createdBefore: endOf(createdTo),
    paidFrom: timeOf(paidFrom),
    paidBefore: endOf(paidTo),
  };
}
