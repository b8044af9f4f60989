import fc from 'fast-check';

/** One error in an otherwise valid body. */
export interface Mutation {
  /** The place in the body, counted over all places and modulo their number. */
  readonly place: number;
  readonly change: Change;
}

type Change =
  | { readonly kind: 'replace'; readonly json: string }
  | { readonly kind: 'remove' }
  | { readonly kind: 'add'; readonly name: string; readonly json: string }
  | { readonly kind: 'repeat'; readonly times: number };

const longestBody = 20_000;
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

/** JSON of every type, at and beyond every bound in our schemas. */
const oddValues: readonly string[] = [
  'null',
  'true',
  'false',
  '""',
  '" "',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '{"items":[]}',
  '{"items":{}}',
  '0',
  '-0',
  '-1',
  '1',
  '1.5',
  '1e0',
  '1e400',
  '-1e400',
  '1e-400',
  '2147483648',
  '9007199254740991',
  '9007199254740992',
  '9223372036854775808',
  '10000000000000',
  '10000000000001',
  '1e21',
  '"0"',
  '"1"',
  '"1e3"',
  '"١٢"',
  '"active"',
  '"Fixed"',
  '"product "',
  '"user_priced"',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"\\u202e\\u2066 right to left"',
  '"\\u001b[31m\\r\\n"',
  '"e\\u0301\\ufeff"',
  '"javascript:alert(1)"',
  '"data:text/html,x"',
  '"https:shop.example.com"',
  '"https:\\\\\\\\shop.example.com\\\\x"',
  '"https://shop.example.com/\\r\\nSet-Cookie: a=b"',
  '"http://shop.example.com"',
  '"https://user:pass@shop.example.com"',
  '"https://[::1]/"',
  '"https://169.254.169.254/"',
  `"${'x'.repeat(longestBody)}"`,
  `"${'\u{1f9c9}'.repeat(101)}"`,
  `[${'1,'.repeat(500)}1]`,
  nested(6),
  nested(14),
  nested(40),
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"toString":1,"length":3,"0":"x"}',
];

const oddNames = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toJSON',
  'then',
  'extra',
  'status',
  'merchantId',
  'merchant_id',
  'recipient',
  'amount',
  'lineItemId',
  'signedOnce',
  'metadata ',
  'NAME',
  '',
  'a\u0000b',
  '\u202e',
  '\ud800',
  'n'.repeat(300),
];

const changeArbitrary: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('replace' as const),
      json: fc.oneof(fc.constantFrom(...oddValues), fc.json()),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      name: fc.oneof(fc.constantFrom(...oddNames), fc.string({ unit: 'binary' })),
      json: fc.constantFrom(...oddValues),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('repeat' as const), times: fc.constantFrom(2, 6, 11, 21, 101) }),
  },
);

export const mutationArbitrary: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(),
  change: changeArbitrary,
});

interface Place {
  readonly holder: Record<string, unknown> | unknown[];
  readonly key: string | number;
}

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown> | unknown[];
  const keys = Array.isArray(holder) ? holder.keys() : Object.keys(holder);
  return [...keys].flatMap((key) => [{ holder, key }, ...placesOf(Reflect.get(holder, key))]);
}

/** The JSON text of a body with one error. */
export function mutated(body: unknown, { place, change }: Mutation): string {
  const copy: unknown = JSON.parse(JSON.stringify({ body }));
  const places = placesOf(copy);
  const chosen = places[place % places.length];
  if (chosen === undefined) throw new Error('a body in an object has at least one place');
  applyChange(chosen, change);
  const changed = (copy as { body?: unknown }).body;
  return changed === undefined ? '' : JSON.stringify(changed);
}

function applyChange({ holder, key }: Place, change: Change): void {
  const value: unknown = Reflect.get(holder, key);
  switch (change.kind) {
    case 'replace':
      define(holder, key, JSON.parse(change.json));
      return;
    case 'remove':
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else Reflect.deleteProperty(holder, key);
      return;
    case 'add':
      define(
        typeof value === 'object' && value !== null ? value : holder,
        change.name,
        JSON.parse(change.json),
      );
      return;
    case 'repeat':
      define(holder, key, repeated(value, change.times));
  }
}

function repeated(value: unknown, times: number): unknown {
  if (typeof value === 'string')
    return value.repeat(Math.min(times, Math.ceil(longestBody / (value.length + 1))));
  const entries = Array.isArray(value) ? value : [value];
  return Array.from({ length: times }, () => entries).flat();
}

/** Assignment to `__proto__` would change the prototype instead of adding a member. */
function define(holder: object, key: PropertyKey, value: unknown): void {
  // The only member name with a special meaning in arrays; JSON cannot contain it there.
  if (Array.isArray(holder) && key === 'length') return;
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}
