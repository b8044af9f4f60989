/**
 * Reading JSON as it came, without making objects of it (RFC 8259). A function takes a place in the bytes and gives the
 * place behind what it read, or `unread` where something stands there that it does not take. It takes less than
 * `JSON.parse` does: texts are plain ASCII without escapes, and levels are few. Whatever it takes, `JSON.parse` reads the
 * same way; what it does not take is for `JSON.parse` to judge.
 */
export const unread = -1;

/** Levels of arrays and objects within a value that is passed over: a log's topics in receipts stand on the fourth. */
const maxDepth = 16;

const [quote, backslash, comma, colon, minus, zero, nine] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x30, 0x39];
const [openArray, closeArray, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The place of the next byte that is no white space. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  for (;;) {
    const byte = bytes[next];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return next;
    next += 1;
  }
}

/** Behind a text. */
export function skipText(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return unread;
  let next = at + 1;
  for (let byte = bytes[next]; byte !== quote; byte = bytes[next]) {
    if (byte === undefined || byte < 0x20 || byte > 0x7e || byte === backslash) return unread;
    next += 1;
  }
  return next + 1;
}

/** Behind this word: a literal, or a text with its quotation marks. */
export function skipWord(bytes: Uint8Array, at: number, word: Uint8Array): number {
  for (let index = 0; index < word.length; index += 1) {
    if (bytes[at + index] !== word[index]) return unread;
  }
  return at + word.length;
}

/** Behind a value of any kind. */
export function skipValue(bytes: Uint8Array, at: number, depth = 0): number {
  switch (bytes[at]) {
    case quote:
      return skipText(bytes, at);
    case openObject:
      return depth === maxDepth ? unread : skipObject(bytes, at, depth + 1);
    case openArray:
      return depth === maxDepth
        ? unread
        : scanArray(bytes, at, (place) => skipValue(bytes, place, depth + 1));
    case 0x74:
      return skipWord(bytes, at, words.true);
    case 0x66:
      return skipWord(bytes, at, words.false);
    case 0x6e:
      return skipWord(bytes, at, words.null);
    default:
      return skipNumber(bytes, at);
  }
}

export const words = {
  true: Buffer.from('true'),
  false: Buffer.from('false'),
  null: Buffer.from('null'),
};

function skipDigits(bytes: Uint8Array, at: number): number {
  let next = at;
  for (let byte = bytes[next]; byte !== undefined && byte >= zero && byte <= nine; byte = bytes[next])
    next += 1;
  return next === at ? unread : next;
}

function skipNumber(bytes: Uint8Array, at: number): number {
  const first = bytes[at] === minus ? at + 1 : at;
  let next = bytes[first] === zero ? first + 1 : skipDigits(bytes, first);
  if (next !== unread && bytes[next] === 0x2e) next = skipDigits(bytes, next + 1);
  if (next !== unread && (bytes[next] === 0x65 || bytes[next] === 0x45)) {
    const sign = bytes[next + 1];
    next = skipDigits(bytes, sign === 0x2b || sign === minus ? next + 2 : next + 1);
  }
  return next;
}

function skipObject(bytes: Uint8Array, at: number, depth: number): number {
  return scanMembers(bytes, at, (_from, _to, place) => skipValue(bytes, place, depth));
}

/** Behind an array, whose elements `read` reads one after the other. */
export function scanArray(bytes: Uint8Array, at: number, read: (place: number) => number): number {
  if (bytes[at] !== openArray) return unread;
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closeArray) return next + 1;
  for (;;) {
    next = read(next);
    if (next === unread) return unread;
    next = skipSpace(bytes, next);
    if (bytes[next] === closeArray) return next + 1;
    if (bytes[next] !== comma) return unread;
    next = skipSpace(bytes, next + 1);
  }
}

/** Behind an object; `read` reads each value and is told where the name before it stands, without quotation marks. */
function scanMembers(
  bytes: Uint8Array,
  at: number,
  read: (from: number, to: number, place: number) => number,
): number {
  if (bytes[at] !== openObject) return unread;
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closeObject) return next + 1;
  for (;;) {
    const end = skipText(bytes, next);
    if (end === unread) return unread;
    const separator = skipSpace(bytes, end);
    if (bytes[separator] !== colon) return unread;
    next = read(next + 1, end - 1, skipSpace(bytes, separator + 1));
    if (next === unread) return unread;
    next = skipSpace(bytes, next);
    if (bytes[next] === closeObject) return next + 1;
    if (bytes[next] !== comma) return unread;
    next = skipSpace(bytes, next + 1);
  }
}

/** How the value of a member is read into the state: behind it, or `unread`. */
type MemberReader<State> = (state: State, bytes: Buffer, place: number) => number;

/** The members of an object that are read; all others are passed over. */
export interface ObjectShape<State> {
  readonly members: readonly {
    readonly name: Buffer;
    readonly bit: number;
    readonly read: MemberReader<State>;
  }[];
  /** The bits of those that must be there. */
  readonly required: number;
}

/** An object of members that must be there, and of others that may. */
export function shapeOf<State>(
  required: Readonly<Record<string, MemberReader<State>>>,
  optional: Readonly<Record<string, MemberReader<State>>> = {},
): ObjectShape<State> {
  const count = Object.keys(required).length;
  return {
    members: Object.entries({ ...required, ...optional }).map(([name, read], index) => ({
      ...{ name: Buffer.from(name), bit: 1 << index, read },
    })),
    required: (1 << count) - 1,
  };
}

/**
 * Behind an object of this shape. One that has a member twice that is read is not taken: which of the two counts is not
 * ours to say.
 */
export function scanObject<State>(
  shape: ObjectShape<State>,
  state: State,
  bytes: Buffer,
  at: number,
): number {
  let seen = 0;
  const end = scanMembers(bytes, at, (from, to, place) => {
    for (const { name, bit, read } of shape.members) {
      if (to - from !== name.length || skipWord(bytes, from, name) !== to) continue;
      if ((seen & bit) !== 0) return unread;
      seen |= bit;
      return read(state, bytes, place);
    }
    return skipValue(bytes, place);
  });
  return (seen & shape.required) === shape.required ? end : unread;
}
