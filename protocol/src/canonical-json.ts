/**
 * JSON with one spelling: keys sorted by UTF-16 code units, no white space (RFC 8785 for what Florin hashes: strings,
 * integers, booleans, null, arrays and plain objects; members that are undefined are left out).
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError(`not a JSON value: ${typeof value}`);
  return text;
}
