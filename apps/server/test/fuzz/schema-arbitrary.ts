import { isVisibleLine, visibleText } from '@florin/protocol/visible-text.ts';
import fc from 'fast-check';

/** The parts of our TypeBox schemas, as plain JSON Schema. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Arbitraries that replace the schema of members with these names, at any depth. */
export type ByName = Readonly<Record<string, fc.Arbitrary<unknown>>>;

/** Any value that a schema accepts; members named in `byName` come from there. Throws for schemas that it cannot read. */
export function valuesOf(schema: JsonSchema, byName: ByName): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((branch) => valuesOf(branch, byName)));
  switch (schema.type) {
    case 'object':
      return objectOf(schema, byName);
    case 'array':
      return fc.array(valuesOf(schema.items ?? {}, byName), lengths(schema.minItems, schema.maxItems));
    case 'string':
      return stringOf(schema);
    case 'integer':
      return integerOf(schema);
    case 'boolean':
      return fc.boolean();
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new Error(`no values are known for a schema of type ${schema.type}`);
  }
}

function objectOf(schema: JsonSchema, byName: ByName): fc.Arbitrary<unknown> {
  const properties = schema.properties ?? {};
  if (Object.keys(properties).length === 0)
    return fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, byName[name] ?? valuesOf(member, byName)]),
  );
  return fc.record(members, { requiredKeys: [...(schema.required ?? [])] });
}

function lengths(least = 0, most = 10): { minLength: number; maxLength: number } {
  return { minLength: least, maxLength: Math.min(most, Math.max(least, 6)) };
}

const longText = 2_000;

function stringOf({
  format,
  pattern,
  minLength = 0,
  maxLength = longText,
}: JsonSchema): fc.Arbitrary<string> {
  if (pattern !== undefined) return fc.stringMatching(new RegExp(pattern));
  if (format === 'https-url' || format === 'image-url') return httpsUrlOf(maxLength);
  if (format === 'name') return namesOf(minLength, maxLength);
  // Every code point of UTF-8, including bidirectional marks and control characters. Only NUL is refused.
  const short = fc
    .string({ unit: 'binary', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 24)) })
    .map((text) => text.replaceAll('\0', '\u202e'));
  return fc.oneof(
    { weight: 8, arbitrary: short },
    { weight: 1, arbitrary: fc.constantFrom('\u{1f9c9}'.repeat(maxLength), 'x'.repeat(maxLength)) },
  );
}

/** Names in the form in which they are stored. */
function namesOf(minLength: number, maxLength: number): fc.Arbitrary<string> {
  const short = fc.string({ unit: 'binary', minLength, maxLength: Math.min(maxLength, 24) }).map(visibleText);
  return fc.oneof(
    {
      weight: 8,
      arbitrary: short.filter((name) => {
        const length = [...name].length;
        return length >= minLength && length <= maxLength && isVisibleLine(name);
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom('\u{1f9c9}'.repeat(maxLength), 'x'.repeat(maxLength)) },
  );
}

/** https URLs up to the maximum length. */
function httpsUrlOf(maxLength: number): fc.Arbitrary<string> {
  const start = 'https://shop.example.com/';
  return fc.oneof(
    fc
      .webUrl({ validSchemes: ['https'], withQueryParameters: true })
      .filter((url) => url.length <= maxLength),
    fc.constantFrom(
      `${start}{SESSION_ID}`,
      start + 'p'.repeat(maxLength - start.length),
      `${start}日本?q=%00#<b>`,
    ),
  );
}

function integerOf({ minimum = -1_000, maximum = 1_000 }: JsonSchema): fc.Arbitrary<number> {
  const near = Math.min(maximum, minimum + 50_000_000);
  return fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: minimum, max: near }) },
    { weight: 1, arbitrary: fc.constantFrom(minimum, maximum) },
    { weight: 1, arbitrary: fc.maxSafeInteger().map((value) => Math.min(maximum, Math.max(minimum, value))) },
  );
}
