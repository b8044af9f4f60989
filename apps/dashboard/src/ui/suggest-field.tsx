import { useId, useState } from 'react';
import { TextField, type TextProps } from './field.tsx';
import { namedApart, typedValue } from './named-option.ts';
import type { Option } from './select.tsx';

/**
 * A choice of many: a name from the list, which the browser narrows to what is typed, or any other text, such as an id that the
 * list does not have.
 */
export function SuggestField({
  value,
  onChange,
  options,
  ...field
}: Omit<TextProps, 'list' | 'autoComplete' | 'spellCheck'> & { readonly options: readonly Option[] }) {
  const listId = useId();
  const [typed, setTyped] = useState('');
  const named = namedApart(options);
  const known = named.find((option) => option.value === value)?.label ?? value;
  return (
    <>
      <TextField
        {...field}
        list={listId}
        autoComplete="off"
        spellCheck={false}
        value={typedValue(named, typed) === value ? typed : known}
        onChange={(text) => {
          setTyped(text);
          onChange(typedValue(named, text));
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
