import { useFilters } from '../../app/use-filters.ts';

/** The filters and the page of a list of work, kept in the address. */
export function useWorkList<State extends string>(states: readonly { readonly value: State }[]) {
  const filters = useFilters(['tab', 'state', 'chain', 'of', 'page'], {
    state: states.map(({ value }) => value),
    page: (page) => /^[1-9]\d{0,6}$/.test(page),
  });
  const { values, set } = filters;
  const { chain, of } = values;
  // What the address names may be no state.
  const state = states.find(({ value }) => value === values.state)?.value ?? ('' as const);
  const isFiltered = state !== '' || chain !== '' || of !== '';
  return {
    filters,
    values: { ...values, state },
    set,
    state,
    page: Math.max(1, Number.parseInt(values.page, 10) || 1),
    /** Of the operation, besides the state. */
    query: { ...(chain === '' ? {} : { chain }), ...(of === '' ? {} : { of }) },
    toPage: (next: number) => set({ page: next === 1 ? '' : String(next) }),
    clear: isFiltered ? () => set({ state: '', chain: '', of: '', page: '' }) : undefined,
  };
}
