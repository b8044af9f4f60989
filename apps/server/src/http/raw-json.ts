const rawText = Symbol('raw JSON text');

/** JSON text that goes into a reply exactly as it is; for what must stay byte for byte, such as metadata. */
export interface RawJson {
  readonly [rawText]: string;
}

/** Marks a text as finished JSON. The caller vouches that it is valid. */
export function rawJson(text: string): RawJson {
  return { [rawText]: text };
}

function isRawJson(value: object): value is RawJson {
  return rawText in value;
}

/** A value of which any part may be given as finished JSON text. */
export type WithRawJson<T> =
  | RawJson
  | (T extends object ? { readonly [Key in keyof T]: WithRawJson<T[Key]> } : T);

/**
 * Writes a value as JSON and splices raw texts in. `JSON.rawJSON` cannot do this: it takes primitives only.
 * As with JSON.stringify, members that are undefined are left out; a value that JSON has no form for is a TypeError.
 */
export function writeJson(value: unknown): string {
  // The engine's own writer is four times as fast as walking the value here, and most answers hold no raw text.
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
