import { classNames } from './class-names.ts';

/** One of a few short words, side by side. */
export function SegmentedChoice<Value extends string>({
  label,
  value,
  onChange,
  options,
}: {
  /** For screen readers. */
  readonly label: string;
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
}) {
  return (
    <fieldset className="flex rounded-lg border border-line-strong bg-raised p-0.5">
      <legend className="sr-only">{label}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={classNames(
            'h-8 rounded-md px-3 font-medium whitespace-nowrap md:h-7',
            option.value === value ? 'bg-tint text-accent' : 'text-soft hover:text-ink',
          )}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
