import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { scanObject, shapeOf, skipSpace, skipText, skipValue, unread } from './json-scan.ts';

/** Whether the whole of a text is passed over as one value. */
function isTaken(bytes: Uint8Array): boolean {
  const end = skipValue(bytes, skipSpace(bytes, 0));
  return end !== unread && skipSpace(bytes, end) === bytes.length;
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString('utf8'));
    return true;
  } catch (error) {
    assert.ok(error instanceof SyntaxError);
    return false;
  }
}

const plainText = fc.string({ unit: 'grapheme-ascii' }).filter((text) => !/["\\]/.test(text));
const { value: plainValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    plainText,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(plainText, tie('value'), { maxKeys: 4 }),
  ),
}));
const indent = fc.constantFrom('', ' ', '\t', '\r\n', ' \n\t ');

test('every value of plain texts is passed over to its end, and no further', () => {
  fc.assert(
    fc.property(plainValue, indent, (value, space) => {
      const text = JSON.stringify(value, undefined, space.replaceAll('\r', ''));
      const bytes = Buffer.from(`${space}${text}${space}`);
      assert.equal(skipSpace(bytes, 0), space.length);
      const end = skipValue(bytes, space.length);
      // A number ends where no digit follows; all others by their own sign.
      assert.equal(end, space.length + text.length);
      assert.deepEqual(JSON.parse(bytes.toString('latin1', space.length, end)), JSON.parse(text));
    }),
  );
});

const pieces = fc.constantFrom(
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '"a"',
    '"\\u0061"',
    '"\\"',
    '\\n',
    '0',
    '-',
    '-0',
    '01',
    '1.',
    '.5',
  ],
  ...['1e5', '1e', '1E+', '+1', '0x1', 'true', 'false', 'null', 'nul', 'NaN', 'Infinity', 'undefined', "'a'"],
  ...[
    ' ',
    '\n',
    '\t',
    '\r',
    '\f',
    '\v',
    '\u00a0',
    '\ufeff',
    '\u0000',
    '\u007f',
    '"\u0001"',
    '"é"',
    '//',
    '/**/',
  ],
);

test('what is passed over as a value, JSON.parse reads, whatever the bytes', () => {
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 12 }).map((list) => Buffer.from(list.join(''))),
    fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
    fc.tuple(plainValue, fc.nat(), pieces, fc.nat({ max: 3 })).map(([value, place, piece, cut]) => {
      const text = JSON.stringify(value);
      const at = place % (text.length + 1);
      return Buffer.from(text.slice(0, at) + piece + text.slice(at + cut));
    }),
  );
  fc.assert(
    fc.property(texts, (bytes) => {
      if (isTaken(bytes)) assert.ok(isJson(bytes), bytes.toString('latin1'));
    }),
    { numRuns: 2_000 },
  );
});

test('escapes, bytes beyond ASCII, control characters and unfinished values are not passed over', () => {
  const refused = [
    '"\\n"',
    '"\\u0061"',
    '"é"',
    '"\u0001"',
    '"a',
    '{"a"',
    '{"a":',
    '{"a":1',
    '[1',
    '[1,]',
    '{"a":1,}',
  ];
  for (const text of [
    ...refused,
    '',
    '01',
    '1.',
    '1e',
    '-',
    '.5',
    '+1',
    'tru',
    'nulll',
    '{a:1}',
    "'a'",
    '1 2',
  ]) {
    assert.equal(isTaken(Buffer.from(text)), false, text);
  }
  assert.equal(isTaken(Buffer.from([0x22, 0xff, 0x22])), false);
  for (const text of ['-0', '1.5e-3', '0E+1', '[]', '{}', '{"":[[],{}]}']) {
    assert.equal(isTaken(Buffer.from(text)), true, text);
  }
});

test('levels are limited: no answer can have the stack or the parser grow', () => {
  const nested = (depth: number) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`);
  assert.equal(isTaken(nested(16)), true);
  assert.equal(isTaken(nested(17)), false);
  assert.equal(isTaken(Buffer.from('[{"a":'.repeat(5_000_000))), false);
});

test('an object has what it must have, and nothing that is read twice', () => {
  const read = (name: 'first' | 'second') => (state: Record<string, string>, bytes: Buffer, at: number) => {
    const end = skipText(bytes, at);
    state[name] = bytes.toString('latin1', at + 1, end - 1);
    return end;
  };
  const shape = shapeOf({ first: read('first') }, { second: read('second') });
  const stateAfter = (text: string) => {
    const state: Record<string, string> = {};
    return scanObject(shape, state, Buffer.from(text), 0) === text.length ? state : undefined;
  };
  assert.deepEqual(stateAfter('{"x":{"first":[]},"second":"b","first":"a"}'), { first: 'a', second: 'b' });
  assert.deepEqual(stateAfter('{"first":"a","x":1,"x":2}'), { first: 'a' });
  for (const text of [
    '{}',
    '{"second":"b"}',
    '{"first":"a","first":"a"}',
    '{"fir\\u0073t":"a"}',
    '{"first":1}',
  ]) {
    assert.equal(stateAfter(text), undefined, text);
  }
});
