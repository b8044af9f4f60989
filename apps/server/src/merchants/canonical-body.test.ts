import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalJson } from '@florin/protocol/canonical-json.ts';
import fc from 'fast-check';
import { canonicalBody } from './canonical-body.ts';

const alike: [string, string][] = [
  ['{"a":1,"b":2}', ' {\t"b" : 2 ,\r\n "a" : 1 } '],
  ['{"a":[1,2,{"c":null,"d":true}]}', '{"a":[1, 2, {"d": true, "c": null}]}'],
  ['"A"', '"\\u0041"'],
  ['"\\n"', '"\\u000a"'],
  ['"/"', '"\\/"'],
  ['"\\\\"', '"\\u005c"'],
  ['"é"', '"\\u00e9"'],
  ['{"a\\"b":1,"c":2}', '{"c":2,"a\\u0022b":1}'],
  ['{"__proto__":1,"a":2}', '{"a":2,"\\u005f_proto__":1}'],
  ['1', '1.0'],
  ['1', '1.000e0'],
  ['100', '1e2'],
  ['100', '1E+2'],
  ['100', '10000.0e-2'],
  ['0.001', '1e-3'],
  ['0', '-0'],
  ['0', '0.000e999999999999999999999'],
  ['-1.5', '-15e-1'],
  ['12345678901234567890', '1234567890123456789e1'],
  ['1e400', '10e399'],
  ['0.1000000000000000055', '1.000000000000000055e-1'],
];
for (const [left, right] of alike) {
  test(`${left} and ${right} are one body`, () => {
    assert.equal(canonicalBody(left), canonicalBody(right));
  });
}

const different: [string, string][] = [
  ['12345678901234567890', '12345678901234567891'],
  ['9007199254740992', '9007199254740993'],
  ['0.1', '0.1000000000000000055'],
  ['1e400', '1e401'],
  ['1e-400', '0'],
  ['1', '"1"'],
  ['1', '-1'],
  ['null', '"null"'],
  ['[1,2]', '[2,1]'],
  ['[1,2]', '[12]'],
  ['[]', '{}'],
  ['[""]', '[]'],
  ['{"a":1}', '{"a":1,"b":null}'],
  ['{"a":1,"a":2}', '{"a":2}'],
  ['{"a":1,"a":2}', '{"a":2,"a":1}'],
  ['{"a":1,"\\u0061":2}', '{"a":2}'],
  ['"é"', '"e\\u0301"'],
  ['"\\ud800"', '"\\ud801"'],
  ['"a,b"', '"a","b"'],
  ['["a","b"]', '["a\\",\\"b"]'],
];
for (const [left, right] of different) {
  test(`${left} and ${right} are two bodies`, () => {
    assert.notEqual(canonicalBody(left), canonicalBody(right));
  });
}

test('values that a double or an object holds exactly are written as canonical JSON, regardless of their spelling', () => {
  const spelled = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t'));
  fc.assert(
    fc.property(spelled, ([value, indent]) => {
      const text = JSON.stringify(value, null, indent);
      assert.equal(canonicalBody(text), canonicalJson(JSON.parse(text)));
    }),
    { numRuns: 1_000 },
  );
});

test('a canonical body has the meaning of its body, and is its own canonical body', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const canonical = canonicalBody(text);
      assert.deepEqual(JSON.parse(canonical), JSON.parse(text));
      assert.equal(canonicalBody(canonical), canonical);
    }),
    { numRuns: 1_000 },
  );
});

// proves W1.17
test('two numbers are the same exactly when they are equal', () => {
  const digits = fc.integer({ min: -2_000, max: 2_000 }).map(String);
  const decimal = fc.record({ digits, power: fc.integer({ min: -3, max: 3 }) });
  // A thousand times both powers of ten are whole, so BigInt can compare them exactly.
  const exact = (number: { digits: string; power: number }) =>
    BigInt(number.digits) * 10n ** BigInt(number.power + 3);
  fc.assert(
    fc.property(decimal, decimal, (left, right) => {
      const [one, other] = [left, right].map((number) => canonicalBody(`${number.digits}e${number.power}`));
      assert.equal(one === other, exact(left) === exact(right));
    }),
    { numRuns: 2_000 },
  );
});
