import { Field, inputClass } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { warningsOf } from './color.ts';

/** A colour, chosen or typed. `usual` is what the page shows while it is empty. */
export function ColorField({
  label,
  hint,
  usual,
  typed,
  onChange,
  error,
}: {
  readonly label: string;
  readonly hint: string;
  readonly usual: string;
  readonly typed: string;
  readonly onChange: (typed: string) => void;
  readonly error: string | undefined;
}) {
  const isWhole = /^#?[0-9a-f]{6}$/i.test(typed.trim());
  return (
    <Field label={label} hint={hint} isOptional error={error}>
      {(parts) => (
        <div className="flex gap-2">
          <input
            type="color"
            aria-label={`Choose: ${label}`}
            value={isWhole ? `#${typed.trim().replace('#', '').toLowerCase()}` : usual}
            onChange={(event) => onChange(event.target.value)}
            className="h-10 w-14 shrink-0 cursor-pointer rounded-lg border border-line-strong bg-raised p-1 md:h-9"
          />
          <input
            {...parts}
            value={typed}
            onChange={(event) => onChange(event.target.value)}
            placeholder={usual}
            maxLength={9}
            spellCheck={false}
            autoComplete="off"
            className={`${inputClass} h-10 font-mono md:h-9`}
          />
        </div>
      )}
    </Field>
  );
}

/** Buttons have the colour as it is. Where links would be hard to read in it, the page shows another one. */
export function LinkColorNotes({ color }: { readonly color: string | undefined }) {
  const warnings = color === undefined || color === '' ? [] : warningsOf(color);
  return warnings.map(({ scheme, shown }) => (
    <Notice key={scheme} tone="warn">
      Links would be hard to read on {scheme} pages, so they are{' '}
      <span className="inline-flex items-center gap-1.5 font-mono text-sm">
        <span
          aria-hidden
          className="size-3.5 rounded-full border border-line-strong"
          style={{ background: shown }}
        />
        {shown}
      </span>
      . Buttons keep your colour.
    </Notice>
  ));
}
