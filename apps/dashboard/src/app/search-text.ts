/** The part of an address behind `?` as texts, and as a list of them where a name comes twice. */
export function parseSearch(text: string): Record<string, unknown> {
  const given = new URLSearchParams(text);
  return Object.fromEntries(
    [...given.keys()].map((name) => {
      const [first, ...more] = given.getAll(name);
      return [name, more.length === 0 ? first : [first, ...more]];
    }),
  );
}

/** The other way: `?amountFrom=100`, as a person would write it. Empty without values. */
export function writeSearch(search: Readonly<Record<string, unknown>>): string {
  const written = new URLSearchParams();
  for (const [name, value] of Object.entries(search))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== undefined) written.append(name, String(each));
  const text = written.toString();
  return text === '' ? '' : `?${text}`;
}
