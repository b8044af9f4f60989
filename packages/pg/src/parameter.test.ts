import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { ColumnKind, ColumnSpec } from './column-types.ts';
import { encodeParameters } from './parameter.ts';
import { type ParameterKind, type Statement, statement } from './statement.ts';
import { openedDatabase, type TestDatabase } from './test-database.ts';

let database: TestDatabase;
before(async () => {
  database = await openedDatabase();
});
after(() => database.close());

function echo<const Kind extends ColumnKind>(kind: Kind) {
  return statement({
    name: `parameter_test_${kind}`,
    parameters: { values: `${kind}[]` as ParameterKind },
    columns: { value: `${kind}?` as const },
    text: `select value from unnest(:values::${kind}[]) with ordinality as t (value, position) order by position`,
  });
}

type Echo = Statement<{ readonly value: ColumnSpec }, [{ readonly values: never }]>;

async function returned(echoed: Echo, values: readonly unknown[]): Promise<unknown[]> {
  const rows = await database.db.query(echoed, { values: values as never });
  return rows.map((row) => row['value']);
}

const storableText = fc
  .string({ unit: 'binary', maxLength: 40 })
  .map((text) => text.toWellFormed().replaceAll('\0', ''));
// Years outside four digits have other formats in JavaScript; four digits are enough for payments.
const time = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });

const kinds: [Echo, fc.Arbitrary<unknown>][] = [
  [echo('text'), storableText],
  [echo('int4'), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
  [echo('int8'), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })],
  [echo('bool'), fc.boolean()],
  [echo('timestamptz'), time],
  [echo('bytea'), fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes))],
];

for (const [echoed, values] of kinds) {
  test(`an array of ${echoed.parameters[0]} arrives as sent, with nulls or empty`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(values), { maxLength: 20 }), async (list) => {
        assert.deepEqual(await returned(echoed, list), list);
      }),
      { numRuns: 60, examples: [[[]], [[null]]] },
    );
  });
}

const echoJson = statement({
  name: 'parameter_test_jsonb',
  parameters: { values: 'jsonb[]' },
  columns: { value: 'jsonb?' },
  text: 'select value from unnest(:values::jsonb[]) with ordinality as t (value, position) order by position',
});

test('an array of jsonb accepts the texts of its values', async () => {
  const values = [{ name: 'a "quoted" \\ name', list: [1, null] }, [], 'text', null];
  const texts = values.map((value) => (value === null ? null : JSON.stringify(value)));
  assert.deepEqual(await returned(echoJson, texts), values);
});

const echoText = statement({
  name: 'parameter_test_text_whole',
  parameters: { list: 'text[]' },
  columns: { value: 'text[]' },
  text: 'select :list::text[] as value',
});

test('an array far larger than the first buffer arrives complete', async () => {
  const list = Array.from({ length: 300 }, (_, index) => `${index}€`.repeat(2_000));
  assert.deepEqual(await database.db.query(echoText, { list }), [{ value: list }]);
});

test('encoding an array does not change the bytes of an earlier one', () => {
  const encode = (list: string[]) => encodeParameters([list], ['text[]'])[0];
  const first = encode(['first']);
  encode(['another']);
  assert.deepEqual(encode(['first']), first);
});

for (const [kind, wrong] of [
  ['text[]', 1],
  ['int4[]', '1'],
  ['int8[]', true],
  ['bool[]', 'true'],
  ['timestamptz[]', '2026-01-01'],
  ['bytea[]', '00'],
] as const) {
  test(`an element that is not a ${kind.slice(0, -2)} is refused before it is sent`, () => {
    assert.throws(() => encodeParameters([[wrong]], [kind]), TypeError);
  });
}

test('numbers out of range are refused, never truncated', () => {
  assert.throws(() => encodeParameters([[2 ** 31]], ['int4[]']), RangeError);
  assert.throws(() => encodeParameters([[2n ** 63n]], ['int8[]']), RangeError);
  assert.throws(() => encodeParameters([[1.5]], ['int4[]']), TypeError);
  assert.throws(() => encodeParameters([[1.5]], ['int8[]']), TypeError);
});
