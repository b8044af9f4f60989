import { fieldRefusal } from '@florin/protocol/error.ts';
import { commonPasswords, commonWords } from './common-password-list.ts';

/** Names shorter than this stand in many phrases by chance. */
const leastWord = 4;
/** What a password must have besides one word that attackers try: so many letters, or so many characters. */
const leastLetters = 4;
const leastRest = 9;
/** What a password must have when runs such as `aaaa`, `4321` or `qwert` count as one character. */
const leastWithoutRuns = 8;
const leastRun = 3;

/** Letters that people write as digits and signs. */
const spellings: Readonly<Record<string, string>> = {
  ...{ '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', $: 's', '!': 'i' },
};
const rows = ['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const steps = new Set(
  rows.flatMap((row) => Array.from(row.slice(1), (letter, index) => `${row.charAt(index)}${letter}`)),
);

/** Whether the second character follows the first one in a run, upwards, downwards or standing. */
function runStep(pair: string): 'up' | 'down' | 'same' | undefined {
  const [first = '', second = ''] = pair;
  if (first === second) return 'same';
  if (steps.has(pair)) return 'up';
  return steps.has(`${second}${first}`) ? 'down' : undefined;
}

/** The text with the first character alone of each run. */
function withoutRuns(text: string): string {
  let left = '';
  let start = 0;
  while (start < text.length) {
    const step = runStep(text.slice(start, start + 2));
    let end = start + 1;
    while (step !== undefined && end < text.length && runStep(text.slice(end - 1, end + 1)) === step)
      end += 1;
    left += text.slice(start, end - start >= leastRun ? start + 1 : end);
    start = end;
  }
  return left;
}

const unspelled = (text: string) => text.replace(/[013457@$!]/g, (sign) => spellings[sign] ?? sign);

/** Whether little is left of the text without these words. */
function isLittleBeside(text: string, words: readonly string[]): boolean {
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), text);
  if (rest === text) return false;
  const left = withoutRuns(rest.replaceAll(' ', ''));
  return left.replace(/[^\p{L}]/gu, '').length < leastLetters && left.length < leastRest;
}

/**
 * Whether attackers would try the password early: it is on the list of common ones, repeats a short part, is a run of keys or
 * digits, or is one common word, or names of its person and place, with little around it (NIST SP 800-63B, section 3.1.1.2).
 * @param names Of the person, the installation and its merchants.
 */
export function isEasyToGuess(password: string, names: readonly string[]): boolean {
  const text = password.normalize('NFKC').toLowerCase();
  const own = wordsOf(names);
  const joined = text.replace(/[^\p{L}\p{N}]/gu, '');
  return [text, unspelled(text), joined].some(
    (form) =>
      commonPasswords.has(form) ||
      /^(.{1,7})\1+$/su.test(form) ||
      withoutRuns(form).length < leastWithoutRuns ||
      isLittleBeside(form, own) ||
      commonWords.some((word) => isLittleBeside(form, [word])),
  );
}

/** The parts of names, and each name written as one word; the longest first, since one may be part of another. */
function wordsOf(names: readonly string[]): string[] {
  const words = names.flatMap((name) => {
    const parts = name
      .normalize('NFKC')
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u);
    return [...parts, parts.join('')];
  });
  const long = words.filter((word) => [...word].length >= leastWord);
  return [...new Set(long.flatMap((word) => [word, unspelled(word)]))].sort((a, b) => b.length - a.length);
}

/** Refuses (400101) a new password that is easy to guess, and says why. */
export function assertHardToGuess(field: string, password: string, names: readonly string[]): void {
  if (!isEasyToGuess(password, names)) return;
  const reason =
    'is easy to guess: it is a common password, a run or a repetition, or little more than a name or one word';
  throw fieldRefusal(field, `${reason}. Choose several words that do not belong together`);
}
