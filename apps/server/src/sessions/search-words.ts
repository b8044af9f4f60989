import { hash } from 'node:crypto';
import { maxSearchedWords } from '@florin/protocol/session-search.ts';
import { wordsOf } from '#db/words.ts';
import type { StoredSession } from './stored-session.ts';

/** The version of the rules here and in `wordsOf`. Another version has every session indexed again. */
export const wordRules = 4;

/** Beginnings of words that no text has, so that a search for text never finds them. */
const marks = { email: '@', amount: '$', paid: '!', product: '=', metadata: '#', ending: '~' } as const;

/** Marks a session that has more words than are looked up. */
export const overflowWord = '*';

export const emailWord = (word: string) => marks.email + word;
/** Sorts as the amount does. */
export const amountWord = (amount: bigint | number) => marks.amount + String(amount).padStart(16, '0');
/** Sorts as the second does. */
export const paidWord = (seconds: number) => marks.paid + String(seconds).padStart(10, '0');
/** Begins with the last letter: who sees a shortened id, such as `sess_w…1QzY`, searches for its end. */
export const endingWord = (word: string) => marks.ending + [...word.toLowerCase()].toReversed().join('');
/** Of products and metadata: only judged, never looked up. */
export const productWord = (productId: string) => marks.product + productId;
export const metadataWord = (key: string, value: unknown) =>
  marks.metadata + hash('sha256', JSON.stringify([key, value]), 'base64url').slice(0, 16);

/** Whether sessions can be looked up by the word; else it only judges a session that was found otherwise. */
export const isLookedUp = (word: string) =>
  !word.startsWith(marks.product) && !word.startsWith(marks.metadata);

/** What words are made of. */
export type SearchedSession = Readonly<
  Record<'accountId' | 'businessId' | 'orderId' | 'receiptId' | 'sessionId', string> &
    Record<'completeTx' | 'initiateTx' | 'metadata' | 'payer' | 'payerEmail', string>
> & {
  readonly amount: bigint;
  readonly items: StoredSession['items'];
  readonly paymentSucceededAt: Date | null;
};

/** All words of a session, each once. */
export function sessionWords(session: SearchedSession): string[] {
  const metadata = Object.entries(JSON.parse(session.metadata) as Record<string, unknown>);
  const { sessionId, accountId, businessId, receiptId, orderId, payer, initiateTx, completeTx, items } =
    session;
  const ids = [sessionId, accountId, businessId, receiptId, orderId, payer, initiateTx, completeTx];
  const texts = new Set<string>();
  const add = (text: string) => {
    for (const word of wordsOf(text)) texts.add(word);
  };
  for (const id of ids) add(id);
  for (const { productId } of items) add(productId);
  for (const { productData } of items) add(productData?.productName ?? '');
  for (const [, value] of metadata) add(textOf(value));
  const words = texts.size > maxSearchedWords ? new Set([...texts].slice(0, maxSearchedWords)) : texts;
  if (texts.size > maxSearchedWords) words.add(overflowWord);
  for (const word of wordsOf(session.payerEmail)) words.add(emailWord(word));
  words.add(endingWord(sessionId));
  words.add(amountWord(session.amount));
  const paidAt = session.paymentSucceededAt;
  if (paidAt !== null) words.add(paidWord(Math.floor(paidAt.getTime() / 1000)));
  for (const { productId } of items) if (productId !== '') words.add(productWord(productId));
  for (const [key, value] of metadata) words.add(metadataWord(key, value));
  return [...words];
}

/** All text in one value of the metadata, nested values included. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textOf).join(' ');
}
