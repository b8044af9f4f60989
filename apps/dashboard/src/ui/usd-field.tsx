import { parseUsd, readUsd, usdFault } from './amount.ts';
import { TextField, type TextProps } from './field.tsx';
import { formatUsd } from './format.ts';

/** Typed dollars. Below them stands the amount as it will be read, after the words of `said`, what two amounts the text can mean, or that it is above `most`. */
export function UsdField({
  most,
  said = 'Saved as',
  error,
  ...props
}: TextProps & { readonly most?: number; readonly said?: string }) {
  const { value } = props;
  const isAbove = most !== undefined && (parseUsd(value) ?? 0) > most;
  return (
    <TextField
      prefix="$"
      inputMode="decimal"
      autoComplete="off"
      {...props}
      note={noteOf(value, said)}
      error={error ?? (isAbove ? usdFault(value, { most }) : undefined)}
    />
  );
}

function noteOf(typed: string, said: string): string | undefined {
  const read = readUsd(typed);
  if (read.kind === 'amount') return `${said} ${formatUsd(read.amount)}`;
  return read.kind === 'unclear' ? usdFault(typed) : undefined;
}
