import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import fc from 'fast-check';
import { jsonDepth, parseBody, rawMember } from './body.ts';
import { rawJson, writeJson } from './raw-json.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** White space and key order as senders write them. */
const spaces = fc.constantFrom('', ' ', '\n', '\t', ' \r\n ');

/** The spellings of one string in JSON: plain, or with every unit escaped. */
function spellings(text: string): string[] {
  const escaped = [...Array(text.length).keys()]
    .map((index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`)
    .join('');
  return [JSON.stringify(text), `"${escaped}"`];
}

const rawText = fc.oneof(
  fc.json(),
  fc.constantFrom(
    '{"a":1,"a":2}',
    '12345678901234567890',
    '1E400',
    '-0',
    '"\\u0000\\ud800"',
    '"a\\"}],{["',
    '[ {} , [ ] ]',
  ),
);

test('depth counts objects and arrays, never brackets in strings', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
      assert.equal(jsonDepth(JSON.stringify(value)), depthOf(value));
    }),
  );
});

test('a raw member is the exact text of the last member of that name, however the key is spelled', () => {
  const member = fc.record({
    key: fc.oneof(fc.constantFrom('metadata', '__proto__', 'constructor', 'metadatа'), fc.string()),
    spelling: fc.nat(1),
    value: rawText,
    space: spaces,
  });
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), (members) => {
      const written = members.map(({ key, spelling, value, space }) => {
        return `${space}${spellings(key)[spelling] ?? ''}${space}:${space}${value}${space}`;
      });
      const text = `${members[0]?.space ?? ''}{${written.join(',') || ' '}}`;
      const expected = members.findLast(({ key }) => key === 'metadata')?.value.trim();
      assert.equal(rawMember(text, 'metadata'), expected);
      assert.deepEqual(
        expected === undefined ? undefined : JSON.parse(expected),
        (JSON.parse(text) as { metadata?: unknown }).metadata,
      );
    }),
    { numRuns: 500 },
  );
});

test('a member of a nested object is not a member of the outermost', () => {
  assert.equal(rawMember('{"a":{"metadata":1},"b":"metadata"}', 'metadata'), undefined);
});

test('parseBody accepts exactly what JSON.parse accepts within the limits', () => {
  fc.assert(
    fc.property(fc.oneof(fc.json({ maxDepth: 12 }), fc.string({ unit: 'grapheme' })), (text) => {
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        assert.throws(() => parseBody(bytes(text)), Refusal);
        return;
      }
      assert.deepEqual(parseBody(bytes(text)), { text: Buffer.from(text).toString(), value: expected });
    }),
  );
});

test('an object that has a name twice is refused, except in metadata, which is kept as it is', () => {
  const refused = [
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":1}',
    '[{"b":{"a":1,"a":1}}]',
    '{"metadata":{},"metadata":{}}',
    '{"a":{"metadata":{"b":1,"b":2}}}',
    '{"metadata":{"b":1,"b":2},"a":1,"a":2}',
    '{"__proto__":1,"__proto__":2}',
  ];
  // After this text, V8 13.6 reads the second name of '{"a":1,"\\u0061":1}' as a backslash.
  parseBody(bytes('{"a":[],"\\\\":0}'));
  for (const text of refused) assert.throws(() => parseBody(bytes(text)), { slug: 'json_malformed' }, text);
  for (const text of ['{"metadata":{"b":1,"b":2},"a":"x:y"}', '{"a":{"b":":"},"b":[{"a":1},{"a":1}]}'])
    assert.equal(parseBody(bytes(text)).text, text);
});

test('sixteen levels are accepted, seventeen refused', () => {
  const nested = (levels: number) => bytes('['.repeat(levels) + ']'.repeat(levels));
  assert.doesNotThrow(() => parseBody(nested(16)));
  assert.throws(() => parseBody(nested(17)), { slug: 'json_malformed' });
  assert.throws(() => parseBody(nested(100_000)), { slug: 'json_malformed' });
});

test('keys like __proto__ change no prototype', () => {
  const { value } = parseBody(
    bytes('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  );
  assert.equal(Object.getPrototypeOf(value), Object.prototype);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

test('written JSON equals JSON.stringify when nothing is raw', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(writeJson(value), JSON.stringify(value));
    }),
  );
});

test('raw texts appear in the reply byte for byte', () => {
  fc.assert(
    fc.property(rawText, (raw) => {
      assert.equal(writeJson({ a: [rawJson(raw), null], b: undefined }), `{"a":[${raw},null]}`);
    }),
  );
});
