import { useNavigate, useSearch } from '@tanstack/react-router';
import { oddFilters, type ReadableValues } from './odd-filter.ts';

/**
 * The filters of a list, kept in the address: a reload, a link to a colleague and the browser's back button keep them.
 * Every value is text; an empty one is no filter. `odd` is what the address has and the list cannot read: no value has it.
 */
export function useFilters<Name extends string>(names: readonly Name[], readable: ReadableValues<Name> = {}) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>;
  const navigate = useNavigate();
  const valuesOf = (from: Readonly<Record<string, unknown>>) => {
    const unread = new Set(oddFilters(from, names, readable).map(({ name }) => name));
    const textOf = (name: Name) => (from[name] === undefined || unread.has(name) ? '' : String(from[name]));
    return Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Name, string>;
  };
  const values = valuesOf(search);
  // The place on the page stays: a log and its filters may stand below other things.
  const set = (changed: Partial<Record<Name, string>>) => {
    // From the address as it becomes: a typed search may still be on its way there when a filter is chosen.
    const next = (from: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(
        Object.entries<string>({ ...valuesOf(from), ...changed }).filter(([, value]) => value !== ''),
      );
    void navigate({ to: '.', search: next, replace: true, resetScroll: false });
  };
  const odd = oddFilters(search, names, readable);
  return {
    values,
    set,
    odd,
    isAnySet: names.some((name) => values[name] !== ''),
    clear: () => void navigate({ to: '.', search: {}, replace: true, resetScroll: false }),
    clearOdd: () => set({}),
  };
}
