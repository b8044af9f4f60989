import { fill, formatWait, type Language, refusalWords, shorten, type Texts } from '@florin/checkout';
import { errorCatalogue, Refusal } from '@florin/protocol/error.ts';

/** A map, because the name of an unknown parameter is the caller's, such as `__proto__`. */
const fieldWords: ReadonlyMap<string, keyof Texts> = new Map([
  ['amount', 'amountWrong'],
  ['payer', 'refundWrong'],
  ['payerEmail', 'emailWrong'],
]);

/** A refusal in the reader's words; one without words of its own shows its code. `payer` is the only wallet that may pay. */
export function wordsOfRefusal({ tag, texts }: Language, { slug, details }: Refusal, payer: string): string {
  const { code } = errorCatalogue[slug];
  const name = refusalWords[code] ?? fieldWords.get(details.param ?? '');
  if (name === undefined) return `${texts.noRoute} (${code})`;
  const time = formatWait(tag, details.retryAfterSeconds ?? 60);
  return fill(texts[name], { address: shorten(payer), time });
}

/** A refusal whose data has the reader's words, for the page's script. Its code and its message stay as they are. */
export function withWords(language: Language, refusal: Refusal): Refusal {
  // The script itself compares the wallet with the only one that may pay.
  const words = wordsOfRefusal(language, refusal, '');
  return new Refusal(refusal.slug, { ...refusal.details, data: { words } });
}
