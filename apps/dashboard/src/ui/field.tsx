import { Check, CircleAlert, Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { classNames } from './class-names.ts';

/** The look of everything that is typed into. 16 px on phones, or they zoom. */
export const inputClass = classNames(
  'w-full min-w-0 rounded-lg border border-line-strong bg-raised px-3 text-lg text-ink shadow-card md:text-base',
  'hover:border-faint focus:border-accent focus:outline-2 focus:outline-offset-0 focus:outline-accent/35',
  'disabled:bg-sunken disabled:text-soft',
  '[&[readonly]]:bg-sunken [&[readonly]]:text-soft',
  'aria-invalid:border-bad aria-invalid:outline-bad/35',
);

/** What takes the focus of a form: a field, or a group of fields, that shows an error. */
export const invalidPart = '[aria-invalid="true"], [data-invalid]';

interface FieldParts {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

export interface FieldProps {
  readonly label: ReactNode;
  /** What to write, below the label; one short sentence. */
  readonly hint?: ReactNode;
  /** What to change, in words. The field takes the focus when it appears. */
  readonly error?: string | undefined;
  /** How the service reads what is typed, below the control. An error takes its place. */
  readonly note?: string | undefined;
  readonly isOptional?: boolean;
  readonly className?: string;
  readonly children: (parts: FieldParts) => ReactNode;
}

/** A label, its control, and the error at the control. */
export function Field({ label, hint, error, note, isOptional = false, className, children }: FieldProps) {
  const isNoted = note !== undefined && error === undefined;
  const id = useId();
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error === undefined) return;
    // The first field with an error takes the focus, not the last one.
    const form = frame.current?.closest('form') ?? frame.current;
    form?.querySelector<HTMLElement>(invalidPart)?.focus();
  }, [error]);
  const described = [
    hint === undefined ? '' : `${id}-hint`,
    isNoted ? `${id}-note` : '',
    error === undefined ? '' : `${id}-error`,
  ]
    .filter((part) => part !== '')
    .join(' ');
  return (
    <div ref={frame} className={classNames('grid gap-1.5', className)}>
      <label htmlFor={id} className="font-medium">
        {label}
        {isOptional && <span className="ml-1.5 font-normal text-faint">optional</span>}
      </label>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="-mt-1 text-sm text-soft">
          {hint}
        </p>
      )}
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': error === undefined ? undefined : true,
      })}
      {isNoted && (
        <p id={`${id}-note`} className="text-sm text-soft">
          {note}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="flex items-start gap-1.5 text-sm text-bad">
          <CircleAlert aria-hidden className="mt-0.5 size-3.5 shrink-0" />
          <span>{error}</span>
        </p>
      )}
    </div>
  );
}

export type TextProps = Omit<ComponentProps<'input'>, 'children' | 'onChange' | 'value'> &
  Omit<FieldProps, 'children'> & {
    readonly value: string;
    readonly onChange: (value: string) => void;
    /** Stands inside the control, before what is typed, as `$`. */
    readonly prefix?: string;
    readonly suffix?: string;
  };

/** One line of text with its label. */
export function TextField({
  label,
  hint,
  error,
  note,
  isOptional,
  className,
  onChange,
  prefix,
  suffix,
  ...rest
}: TextProps) {
  return (
    <Field {...{ label, hint, error, note }} isOptional={isOptional ?? false} className={className ?? ''}>
      {(parts) => (
        <span className="relative flex">
          {prefix !== undefined && (
            <span className="pointer-events-none absolute inset-y-0 left-3 flex items-center text-faint">
              {prefix}
            </span>
          )}
          <input
            {...rest}
            {...parts}
            onChange={(event) => onChange(event.target.value)}
            className={classNames(
              inputClass,
              'h-10 md:h-9',
              prefix !== undefined && 'pl-7',
              suffix !== undefined && 'pr-14',
            )}
          />
          {suffix !== undefined && (
            <span className="pointer-events-none absolute inset-y-0 right-3 flex items-center text-faint">
              {suffix}
            </span>
          )}
        </span>
      )}
    </Field>
  );
}

/** A password that can be shown. */
export function PasswordField({ label, hint, error, value, onChange, ...rest }: TextProps) {
  const [isShown, setShown] = useState(false);
  return (
    <Field {...{ label, hint, error }}>
      {(parts) => (
        <span className="relative flex">
          <input
            {...rest}
            {...parts}
            type={isShown ? 'text' : 'password'}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className={classNames(inputClass, 'h-10 pr-10 md:h-9')}
          />
          <button
            type="button"
            aria-label={isShown ? 'Hide the password' : 'Show the password'}
            onClick={() => setShown(!isShown)}
            className="absolute inset-y-0 right-0 flex w-10 items-center justify-center rounded-r-lg text-faint hover:text-ink"
          >
            {isShown ? <EyeOff className="size-4" /> : <Eye className="size-4" />}
          </button>
        </span>
      )}
    </Field>
  );
}

/** A password that is made now: the same rule and hint wherever one is. */
export function NewPasswordField(
  props: Omit<TextProps, 'hint' | 'autoComplete' | 'minLength' | 'maxLength'>,
) {
  return (
    <PasswordField
      hint="At least 12 characters, such as several unrelated words."
      autoComplete="new-password"
      required
      minLength={12}
      maxLength={128}
      {...props}
    />
  );
}

type AreaProps = Omit<ComponentProps<'textarea'>, 'children' | 'onChange' | 'value'> &
  Omit<FieldProps, 'children'> & { readonly value: string; readonly onChange: (value: string) => void };

/** Several lines of text with their label. */
export function AreaField({ label, hint, error, isOptional, onChange, ...rest }: AreaProps) {
  return (
    <Field {...{ label, hint, error }} isOptional={isOptional ?? false}>
      {(parts) => (
        <textarea
          rows={4}
          {...rest}
          {...parts}
          onChange={(event) => onChange(event.target.value)}
          className={classNames(inputClass, 'resize-y py-2')}
        />
      )}
    </Field>
  );
}

export interface CheckProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly isDisabled?: boolean;
}

/** A box to tick. */
export function CheckField({ label, hint, isChecked, onChange, isDisabled = false }: CheckProps) {
  const id = useId();
  return (
    <div className="flex items-start gap-2.5">
      <span className="relative mt-0.5 flex size-4 shrink-0">
        <input
          id={id}
          type="checkbox"
          checked={isChecked}
          disabled={isDisabled}
          aria-describedby={hint === undefined ? undefined : `${id}-hint`}
          onChange={(event) => onChange(event.target.checked)}
          className="peer size-4 appearance-none rounded-sm border border-line-strong bg-raised checked:border-accent checked:bg-accent disabled:opacity-60"
        />
        <Check
          aria-hidden
          strokeWidth={3}
          className="pointer-events-none invisible absolute inset-0.5 size-3 text-on-accent peer-checked:visible"
        />
      </span>
      <div className="min-w-0">
        <label htmlFor={id}>{label}</label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-sm text-soft">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}
