/**
 * The canonical spelling of a JSON text. Keys are sorted by UTF-16 code units, there is no white space, and escapes
 * are undone where possible. Numbers are exact: `1.0`, `1` and `10e-1` are equal. 12345678901234567890 and ...891
 * differ, although they are the same double. A key that occurs twice keeps both values in their order, because
 * metadata is stored as sent.
 *
 * The text must be valid JSON whose nesting is safe for recursion. A body that was parsed is.
 */
export function canonicalBody(text: string): string {
  return readValue({ text, index: 0 });
}

interface Reader {
  readonly text: string;
  index: number;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const space = 0x20;

function readValue(reader: Reader): string {
  skipSpace(reader);
  const unit = reader.text.charCodeAt(reader.index);
  if (unit === quote) return spellingOf(readString(reader));
  if (unit === openBrace) return readObject(reader);
  if (unit === openBracket) return readArray(reader);
  return readWord(reader);
}

/** Between JSON tokens only white space lies at or below U+0020. */
function skipSpace(reader: Reader): void {
  while (reader.text.charCodeAt(reader.index) <= space) reader.index += 1;
}

/** Whether this unit comes next; if so, skips it. */
function takes(reader: Reader, unit: number): boolean {
  skipSpace(reader);
  if (reader.text.charCodeAt(reader.index) !== unit) return false;
  reader.index += 1;
  return true;
}

function readArray(reader: Reader): string {
  reader.index += 1;
  if (takes(reader, closeBracket)) return '[]';
  let items = readValue(reader);
  while (takes(reader, comma)) items += `,${readValue(reader)}`;
  reader.index += 1;
  return `[${items}]`;
}

function readObject(reader: Reader): string {
  reader.index += 1;
  if (takes(reader, closeBrace)) return '{}';
  const members: Member[] = [];
  let isSorted = true;
  let last = '';
  do {
    skipSpace(reader);
    const raw = readString(reader);
    takes(reader, colon);
    const hasEscapes = raw.includes('\\');
    const key = hasEscapes ? String(JSON.parse(raw)) : raw.slice(1, -1);
    const spelling = hasEscapes ? JSON.stringify(key) : raw;
    members.push({ key, text: `${spelling}:${readValue(reader)}` });
    isSorted &&= last <= key;
    last = key;
  } while (takes(reader, comma));
  reader.index += 1;
  // The sort is stable: values of a repeated key keep their order.
  if (!isSorted) members.sort(byKey);
  let text = '';
  for (const member of members) text += text === '' ? member.text : `,${member.text}`;
  return `{${text}}`;
}

interface Member {
  readonly key: string;
  readonly text: string;
}

function byKey(left: Member, right: Member): number {
  if (left.key === right.key) return 0;
  return left.key < right.key ? -1 : 1;
}

/** The string that begins here, with its quotes. */
function readString(reader: Reader): string {
  const start = reader.index;
  let end = reader.text.indexOf('"', start + 1);
  while (isEscaped(reader.text, end)) end = reader.text.indexOf('"', end + 1);
  reader.index = end + 1;
  return reader.text.slice(start, end + 1);
}

/** Whether an odd number of backslashes precedes the quote at `end`. */
function isEscaped(text: string, end: number): boolean {
  let before = end - 1;
  while (text.charCodeAt(before) === backslash) before -= 1;
  return (end - before) % 2 === 0;
}

function spellingOf(raw: string): string {
  return raw.includes('\\') ? JSON.stringify(JSON.parse(raw)) : raw;
}

/** A number, true, false or null: everything up to a comma, a closing bracket or white space. */
function readWord(reader: Reader): string {
  const start = reader.index;
  for (;;) {
    const unit = reader.text.charCodeAt(reader.index);
    if (!(unit > space) || unit === comma || unit === closeBracket || unit === closeBrace) break;
    reader.index += 1;
  }
  const word = reader.text.slice(start, reader.index);
  const isPlain = /^(?:0|-?[1-9][0-9]{0,14}|true|false|null)$/.test(word);
  return isPlain ? word : numberSpelling(word);
}

/**
 * A number as ECMAScript writes it, where a double holds it exactly. Otherwise its digits without trailing zeros, an E, and the
 * power of ten; ECMAScript never writes doubles like that.
 */
function numberSpelling(word: string): string {
  const written = JSON.stringify(Number(word));
  const exact = exactSpelling(word);
  return written !== 'null' && exactSpelling(written) === exact ? written : exact;
}

/** Numbers whose exponent has more digits are compared as text. */
const maxPowerLength = 400;

function exactSpelling(word: string): string {
  const match = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(word);
  if (match === null) throw new TypeError('not a JSON number');
  const [, sign = '', whole = '', fraction = '', power = '0'] = match;
  // Arithmetic with a quarter of a million digits would take a tenth of a second.
  if (power.length > maxPowerLength) return word;
  const digits = (whole + fraction).replace(/^0+/, '');
  // Minus zero is zero.
  if (digits === '') return '0';
  const significant = digits.replace(/0+$/, '');
  const exponent = BigInt(power) + BigInt(digits.length - significant.length - fraction.length);
  return `${sign}${significant}E${exponent}`;
}
