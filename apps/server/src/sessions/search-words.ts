import { hash } from 'node:crypto';
import { idPrefixes } from '@florin/protocol/id.ts';
import { maxSearchedWords } from '@florin/protocol/session-search.ts';
import type { StoredSession } from './stored-session.ts';

/** The version of the rules below. Another version has every session indexed again. */
export const wordRules = 1;

/** Longer words are cut here. */
const maxWordLength = 64;

/** Beginnings of words that no text has, so that a search for text never finds them. */
const marks = { email: '@', amount: '$', paid: '!', product: '=', metadata: '#' } as const;

/** Marks a session that has more words than are looked up. */
export const overflowWord = '*';

const idWord = new RegExp(`^(${Object.values(idPrefixes).join('|')})[0-9a-z]*$`);

/**
 * The words of a text in lower case: parts of letters and digits. An id is one word, with its prefix.
 */
export function wordsOf(text: string): string[] {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .split(/\s+/u)
    .flatMap((part) => (idWord.test(part) ? [part] : part.split(/[^\p{L}\p{N}\p{M}]+/u)))
    .filter((word) => word !== '')
    .map((word) => [...word].slice(0, maxWordLength).join(''));
}

export const emailWord = (word: string) => marks.email + word;
/** Sorts as the amount does. */
export const amountWord = (amount: bigint | number) => marks.amount + String(amount).padStart(16, '0');
/** Sorts as the second does. */
export const paidWord = (seconds: number) => marks.paid + String(seconds).padStart(10, '0');
/** Of products and metadata: only judged, never looked up. */
export const productWord = (productId: string) => marks.product + productId;
export const metadataWord = (key: string, value: unknown) =>
  marks.metadata + hash('sha256', JSON.stringify([key, value]), 'base64url').slice(0, 16);

/** Whether sessions can be looked up by the word; else it only judges a session that was found otherwise. */
export const isLookedUp = (word: string) =>
  !word.startsWith(marks.product) && !word.startsWith(marks.metadata);

/** All words of a session, each once. */
export function sessionWords(session: StoredSession): string[] {
  const metadata: Record<string, unknown> = JSON.parse(session.metadata);
  const { sessionId, accountId, businessId, receiptId, orderId, payer, initiateTx, completeTx, items } =
    session;
  const ids = [sessionId, accountId, businessId, receiptId, orderId, payer, initiateTx, completeTx];
  const productIds = items.map((item) => item.productId);
  const names = items.map((item) => item.productData?.productName ?? '');
  const texts = [...ids, ...productIds, ...names, ...Object.values(metadata).map(textOf)];
  const textWords = [...new Set(texts.flatMap(wordsOf))];
  const paidAt = session.paymentSucceededAt;
  return [
    ...new Set([
      ...textWords.slice(0, maxSearchedWords),
      ...(textWords.length > maxSearchedWords ? [overflowWord] : []),
      ...wordsOf(session.payerEmail).map(emailWord),
      amountWord(session.amount),
      ...(paidAt === undefined ? [] : [paidWord(Math.floor(paidAt.getTime() / 1000))]),
      ...productIds.filter((productId) => productId !== '').map(productWord),
      ...Object.entries(metadata).map(([key, value]) => metadataWord(key, value)),
    ]),
  ];
}

/** All text in one value of the metadata, nested values included. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textOf).join(' ');
}
