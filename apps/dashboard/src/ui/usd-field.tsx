import { parseUsd, readUsd, usdFault } from './amount.ts';
import { TextField, type TextProps } from './field.tsx';
import { formatUsd } from './format.ts';

/** Typed dollars. Below them stands the amount as it will be saved, what two amounts the text can mean, or that it is above `most`. */
export function UsdField({ most, error, ...props }: TextProps & { readonly most?: number }) {
  const { value } = props;
  const isAbove = most !== undefined && (parseUsd(value) ?? 0) > most;
  return (
    <TextField
      prefix="$"
      inputMode="decimal"
      autoComplete="off"
      {...props}
      note={noteOf(value)}
      error={error ?? (isAbove ? usdFault(value, { most }) : undefined)}
    />
  );
}

function noteOf(typed: string): string | undefined {
  const read = readUsd(typed);
  if (read.kind === 'amount') return `Saved as ${formatUsd(read.amount)}`;
  return read.kind === 'unclear' ? usdFault(typed) : undefined;
}
