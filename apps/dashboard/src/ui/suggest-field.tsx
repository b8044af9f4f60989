import { useId, useState } from 'react';
import { TextField, type TextProps } from './field.tsx';
import { meantOption, namedApart, typedValue } from './named-option.ts';
import type { Option } from './select.tsx';

/**
 * A choice of many: a name from the list, which the browser narrows to what is typed, or the id, with its prefix, of what the
 * list does not have. Below a part of a name stands the name that it means.
 */
export function SuggestField({
  value,
  onChange,
  options,
  idPrefix,
  ...field
}: Omit<TextProps, 'list' | 'autoComplete' | 'spellCheck'> & {
  readonly options: readonly Option[];
  readonly idPrefix: string;
}) {
  const listId = useId();
  const [typed, setTyped] = useState('');
  const named = namedApart(options);
  const known = named.find((option) => option.value === value)?.label ?? value;
  const shown = typedValue(named, idPrefix, typed) === value ? typed : known;
  const meant = meantOption(named, idPrefix, shown)?.label;
  const isWhole = meant?.toLowerCase() === shown.trim().toLowerCase();
  return (
    <>
      <TextField
        {...field}
        note={isWhole ? undefined : meant}
        list={listId}
        autoComplete="off"
        spellCheck={false}
        value={shown}
        onChange={(text) => {
          setTyped(text);
          onChange(typedValue(named, idPrefix, text));
        }}
      />
      <datalist id={listId}>
        {named.map((option) => (
          <option key={option.value} value={option.label} />
        ))}
      </datalist>
    </>
  );
}
