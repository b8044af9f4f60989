import { SearchBox } from '../../ui/search-box.tsx';
import { SelectField } from '../../ui/select.tsx';
import { useHealth } from '../use-installation.ts';

/** State, chain and exact id above a list of work. Each change begins at the first page. */
export function WorkFilters({
  values,
  onChange,
  states,
  search,
}: {
  readonly values: { readonly state: string; readonly chain: string; readonly of: string };
  readonly onChange: (changed: Readonly<Record<string, string>>) => void;
  readonly states: readonly { readonly value: string; readonly label: string }[];
  readonly search: { readonly label: string; readonly placeholder: string };
}) {
  const { data } = useHealth();
  const chains = data?.chains.map(({ chain }) => ({ value: chain, label: chain })) ?? [];
  const change = (changed: Readonly<Record<string, string>>) => onChange({ ...changed, page: '' });
  return (
    <div className="mb-3 flex flex-wrap items-end gap-2">
      <div className="min-w-36 flex-1 sm:flex-none">
        <SelectField
          label={<span className="sr-only">Status</span>}
          value={values.state}
          onChange={(state) => change({ state })}
          options={states}
        />
      </div>
      <div className="min-w-36 flex-1 sm:flex-none">
        <SelectField
          label={<span className="sr-only">Chain</span>}
          value={values.chain}
          onChange={(chain) => change({ chain })}
          options={[{ value: '', label: 'All chains' }, ...chains]}
        />
      </div>
      <SearchBox {...search} value={values.of} onChange={(of) => change({ of: of.trim() })} />
    </div>
  );
}
