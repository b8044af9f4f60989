import { readUsd, usdFault } from './amount.ts';
import { TextField, type TextProps } from './field.tsx';
import { formatUsd } from './format.ts';

/** Typed dollars. Below them stands the amount as it will be saved, or what two amounts the text can mean. */
export function UsdField(props: TextProps) {
  return (
    <TextField prefix="$" inputMode="decimal" autoComplete="off" {...props} note={noteOf(props.value)} />
  );
}

function noteOf(typed: string): string | undefined {
  const read = readUsd(typed);
  if (read.kind === 'amount') return `Saved as ${formatUsd(read.amount)}`;
  return read.kind === 'unclear' ? usdFault(typed) : undefined;
}
