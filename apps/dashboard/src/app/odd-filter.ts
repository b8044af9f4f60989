/** Whether a list reads a value: one of these, or what passes the check. Any text where there is no entry. */
export type ReadableValues<Name extends string> = Partial<
  Record<Name, readonly string[] | ((value: string) => boolean)>
>;

/** A part of the address that the list cannot read, as `color=red`. */
export interface OddFilter {
  readonly name: string;
  readonly value: string;
}

/** What an address has beside the names of a list, and values of them that it cannot read. */
export function oddFilters<Name extends string>(
  search: Readonly<Record<string, unknown>>,
  names: readonly Name[],
  readable: ReadableValues<Name>,
): readonly OddFilter[] {
  const isRead = (name: string, value: string) => {
    const known = names.find((each) => each === name);
    if (known === undefined) return false;
    const check = readable[known];
    if (check === undefined || value === '') return true;
    return typeof check === 'function' ? check(value) : check.includes(value);
  };
  return Object.entries(search)
    .map(([name, value]) => ({
      name,
      value: typeof value === 'object' ? JSON.stringify(value) : String(value),
    }))
    .filter(({ name, value }) => !isRead(name, value));
}
