const rawText = Symbol('raw JSON text');

/** JSON text that goes into a reply unchanged, for values that must stay byte for byte, such as metadata. */
export interface RawJson {
  readonly [rawText]: string;
}

/** Marks a text as finished JSON. The caller guarantees that it is valid. */
export function rawJson(text: string): RawJson {
  return { [rawText]: text };
}

export function isRawJson(value: object): value is RawJson {
  return rawText in value;
}

/** A value whose parts may be finished JSON text. */
export type WithRawJson<T> =
  | RawJson
  | (T extends object ? { readonly [Key in keyof T]: WithRawJson<T[Key]> } : T);

/**
 * Writes a value as JSON and inserts raw texts. `JSON.rawJSON` cannot do this: it accepts only primitives. As with
 * JSON.stringify, undefined members are left out; a value without a JSON form throws a TypeError.
 */
export function writeJson(value: unknown): string {
  // The engine's own writer is four times as fast as walking the value here, and most answers have no raw text.
  if (!holdsRawJson(value)) return written(JSON.stringify(value), value);
  if (Array.isArray(value)) return `[${value.map(writeJson).join(',')}]`;
  if (isRawJson(value)) return value[rawText];
  const members: string[] = [];
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${writeJson(member)}`);
  }
  return `{${members.join(',')}}`;
}

function written(text: string | undefined, value: unknown): string {
  if (text === undefined) throw new TypeError(`not a JSON value: ${typeof value}`);
  return text;
}

function holdsRawJson(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (rawText in value) return true;
  for (const key in value) {
    if (holdsRawJson((value as Record<string, unknown>)[key])) return true;
  }
  return false;
}
