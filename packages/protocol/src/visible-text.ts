const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
// Control and format characters (bidi overrides, invisible tags, zero-width spaces), except the two joiners of Persian,
// Indic scripts and emoji.
const hidden = /[\p{Cc}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;
// Variation selectors can carry hidden bytes. One of the sixteen after a visible character is spelling; any more are
// not.
const selectors = /[\u{e0100}-\u{e01ef}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]/gu;
// Joiners can carry hidden bytes, too. One between two visible characters is spelling; a run of them is not.
const joiners = /(?<=[\u200c\u200d])[\u200c\u200d]+/gu;
// Characters without a visible form, which Unicode counts as letters, marks or symbols: fillers of Hangul, the Khmer
// inherent vowels, Mongolian selectors, the grapheme joiner, the blank of braille.
const blank = /\u034f|\u115f|\u1160|\u17b4|\u17b5|\u180b|\u180c|\u180d|\u180f|\u2800|\u3164|\uffa0/gu;

/**
 * Text from outside, in the form that reaches an agent: one line of visible characters in NFC. It stays data and is
 * never an instruction.
 */
export function visibleText(text: string): string {
  return text
    .replace(lineBreaks, ' ')
    .replace(hidden, '')
    .replace(blank, '')
    .replace(selectors, '')
    .replace(joiners, '')
    .normalize('NFC')
    .trim();
}
