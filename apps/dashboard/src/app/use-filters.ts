import { useNavigate, useSearch } from '@tanstack/react-router';

/**
 * The filters of a list, kept in the address: a reload, a link to a colleague and the browser's back button keep them.
 * Every value is text; an empty one is no filter.
 */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>;
  const navigate = useNavigate();
  const values = Object.fromEntries(
    names.map((name) => [name, search[name] === undefined ? '' : String(search[name])]),
  ) as Record<Name, string>;
  const set = (changed: Partial<Record<Name, string>>) => {
    const next = Object.entries<string | undefined>({ ...values, ...changed }).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    void navigate({ to: '.', search: Object.fromEntries(next), replace: true });
  };
  return {
    values,
    set,
    isAnySet: names.some((name) => values[name] !== ''),
    clear: () => void navigate({ to: '.', search: {}, replace: true }),
  };
}
