import { idPrefixes } from '@florin/protocol/id.ts';

/** Longer words are cut here. */
const maxWordLength = 64;

const idWord = new RegExp(`^(${Object.values(idPrefixes).join('|')})[0-9a-z]*$`);
// The classes of Unicode take several times as long as those of ASCII, which most texts are.
const asciiText = /^[ -~]*$/;
const simpleWord = /^[0-9a-z]+$/;
const ascii = { spaces: ' ', others: /[^0-9a-z]+/ } as const;
const unicode = { spaces: /\s+/u, others: /[^\p{L}\p{N}\p{M}]+/u } as const;

/** Marks above and below letters of Latin, Greek and Cyrillic. Those of other scripts are parts of their letters. */
const accents = /[\u0300-\u036f]/g;
/** Letters that people type as others, though Unicode does not take them apart. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ħ: 'h', ı: 'i', ς: 'σ' },
};
const otherLetters = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g');

/** A text in lower case and without accents, as it is compared: “José” as “jose”, “Straße” as “strasse”. */
function folded(text: string): string {
  const bare = text.normalize('NFKD').replace(accents, '').normalize('NFC').toLowerCase();
  return bare.replace(otherLetters, (letter) => plainLetters[letter] ?? letter);
}

/** Signs of Chinese and Japanese, which are written without spaces. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー々]+/u;
const unspacedParts = new RegExp(`(${unspaced.source})`, 'u');

/**
 * The words of a text in lower case without accents: parts of letters and digits. An id is one word, with its prefix. Signs of
 * Chinese and Japanese are words in pairs, as they follow each other, and the last one by itself. So a part of a text has the
 * words of the text, or the beginning of one.
 */
export function wordsOf(text: string): string[] {
  const isAscii = asciiText.test(text);
  const { spaces, others } = isAscii ? ascii : unicode;
  const words: string[] = [];
  for (const part of (isAscii ? text.toLowerCase() : folded(text)).split(spaces)) {
    const found = simpleWord.test(part) || idWord.test(part) ? [part] : part.split(others);
    for (const word of found) {
      if (word === '') continue;
      if (isAscii || !unspaced.test(word)) words.push(cut(word));
      else words.push(...pairsOf(word));
    }
  }
  return words;
}

function pairsOf(word: string): string[] {
  return word.split(unspacedParts).flatMap((part) => {
    if (!unspaced.test(part)) return part === '' ? [] : [cut(part)];
    const signs = [...part];
    return signs.map((sign, index) => sign + (signs[index + 1] ?? ''));
  });
}

function cut(word: string): string {
  return word.length <= maxWordLength ? word : [...word].slice(0, maxWordLength).join('');
}
