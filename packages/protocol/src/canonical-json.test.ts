import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';

test('keys are sorted by code units at every level, and undefined members are left out', () => {
  const value = { b: [{ z: 1, a: undefined, Z: null }], '€': true, a: 'x', '😀': '"', '': { 10: 1, 9: 2 } };
  assert.equal(
    canonicalJson(value),
    '{"":{"10":1,"9":2},"a":"x","b":[{"Z":null,"z":1}],"€":true,"😀":"\\""}',
  );
});

test('the order of members does not matter, and no member is lost', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = canonicalJson(value);
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(reversed(value)), text);
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, reversed(member)] as const);
  return Object.fromEntries(members.toReversed());
}

test('a cached text replaces its object at every position', () => {
  const shared = { b: 1, a: [2] };
  const known = new WeakMap([[shared, canonicalJson(shared)]]);
  const value = [{ z: shared, y: { shared } }, shared];
  assert.equal(canonicalJson(value, known), canonicalJson(value));
  assert.equal(canonicalJson([shared], new WeakMap([[shared, '{"told":1}']])), '[{"told":1}]');
});

test('values without a JSON form are refused', () => {
  assert.throws(() => canonicalJson(undefined), TypeError);
  assert.throws(() => canonicalJson({ a: () => 1 }), TypeError);
});
