import { ChevronDown } from 'lucide-react';
import { classNames } from './class-names.ts';
import { Field, type FieldProps, inputClass } from './field.tsx';

export interface Option<Value extends string = string> {
  readonly value: Value;
  readonly label: string;
  readonly isDisabled?: boolean;
}

interface SelectProps<Value extends string> extends Omit<FieldProps, 'children'> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly Option<Value>[];
  readonly isDisabled?: boolean;
}

/** A choice of a few. The platform's own list, which phones and screen readers know best. */
export function SelectField<Value extends string>({
  value,
  onChange,
  options,
  isDisabled = false,
  ...field
}: SelectProps<Value>) {
  return (
    <Field {...field}>
      {(parts) => (
        <span className="relative flex">
          <select
            {...parts}
            value={value}
            disabled={isDisabled}
            onChange={(event) => {
              const chosen = options.find((option) => option.value === event.target.value);
              if (chosen !== undefined) onChange(chosen.value);
            }}
            className={classNames(inputClass, 'h-10 appearance-none truncate pr-9 md:h-9')}
          >
            {options.map((option) => (
              <option key={option.value} value={option.value} disabled={option.isDisabled}>
                {option.label}
              </option>
            ))}
          </select>
          <ChevronDown
            aria-hidden
            className="pointer-events-none absolute inset-y-0 right-3 my-auto size-4 text-faint"
          />
        </span>
      )}
    </Field>
  );
}
