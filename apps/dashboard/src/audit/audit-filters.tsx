import { type AuditLogKind, actNamesOf } from '@florin/protocol/act-title.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { SelectField } from '../ui/select.tsx';
import { Id } from '../ui/value.tsx';
import type { AuditFilters } from './use-audit.ts';

/** Who acted, the act, and the days. */
export function AuditFilterFields({
  values,
  onChange,
  people,
  kind,
}: {
  readonly values: AuditFilters;
  readonly onChange: (changed: Partial<AuditFilters>) => void;
  readonly people: readonly { readonly userId: string; readonly email: string }[];
  readonly kind: AuditLogKind;
}) {
  const actors = [
    ...people.map(({ userId, email }) => ({ value: userId, label: email })),
    { value: 'operator', label: 'The operator’s command line' },
  ];
  const isNamed = values.actor === '' || actors.some(({ value }) => value === values.actor);
  return (
    <div className="mb-3 grid grid-cols-2 gap-2 xl:grid-cols-4">
      <SelectField
        label="By"
        value={values.actor}
        onChange={(actor) => onChange({ actor })}
        options={[
          { value: '', label: 'Everybody' },
          ...actors,
          ...(isNamed ? [] : [{ value: values.actor, label: values.actor }]),
        ]}
      />
      <SelectField
        label="Act"
        value={values.action}
        onChange={(action) => onChange({ action })}
        options={[{ value: '', label: 'Every act' }, ...actNamesOf(kind)]}
      />
      <TextField
        label="From"
        type="date"
        value={values.from}
        onChange={(from) => onChange({ from })}
        className="max-[429px]:col-span-full"
      />
      <TextField
        label="To"
        type="date"
        value={values.to}
        onChange={(to) => onChange({ to })}
        className="max-[429px]:col-span-full"
      />
      {values.subject !== '' && (
        <div className="col-span-full flex items-center gap-2 text-soft">
          Only acts on <Id id={values.subject} />
          <Button size="small" onClick={() => onChange({ subject: '' })}>
            Show all
          </Button>
        </div>
      )}
    </div>
  );
}
