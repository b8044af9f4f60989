const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
// Everything that readers do not see: control characters, lone surrogates, format characters (bidi overrides, zero-width
// spaces), everything that Unicode draws as nothing although it counts as a letter, a mark or unassigned (fillers of Hangul, the
// tags, variation selectors beyond the sixteen), and the blank of braille. The two joiners of Persian, Indic scripts and
// emoji stay, and so do the sixteen variation selectors.
const hidden =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\p{Cc}\p{Cs}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
// Variation selectors and joiners can carry hidden bytes. One selector and one joiner after a visible character are
// spelling; any more are not.
const invisibleRuns = /(?:\u200c|\u200d|[\ufe00-\ufe0f]){2,}/gu;
const spelling = /^[\ufe00-\ufe0f]?[\u200c\u200d]?/u;

// Marks stacked on one character reach into the lines around it. No script needs as many as seven.
const towers = /(\p{M}{6})\p{M}+/gu;

/**
 * Text from outside, in the form that reaches an agent: one line of visible characters in NFC. It stays data and is
 * never an instruction.
 */
export function visibleText(text: string): string {
  return text
    .replace(lineBreaks, ' ')
    .replace(hidden, '')
    .replace(invisibleRuns, (run) => spelling.exec(run)?.[0] ?? '')
    .normalize('NFC')
    .replace(towers, '$1')
    .trim();
}

/** What `isVisibleLine` asks for, in the words of a refusal. */
export const visibleLineRule =
  'must be one line of visible characters, with at most six combining marks in a row';

const plainLine = /^[\x20-\x7e]*$/;
const visibleCharacter = /(?!\u200c|\u200d|[\ufe00-\ufe0f])\S/u;

/**
 * Whether a text may be a name: one line of characters that readers see, with spaces around it at most. No line break, control
 * character or bidi override is in it, no hidden character, and no tower of more than six marks. An empty text may be one; one of spaces alone may not.
 */
export function isVisibleLine(text: string): boolean {
  if (text === '') return true;
  if (!visibleCharacter.test(text)) return false;
  // Most names, for which nothing has to be copied.
  if (plainLine.test(text)) return true;
  return text.search(lineBreaks) < 0 && visibleText(text) === text.normalize('NFC').trim();
}
