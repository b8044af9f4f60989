import { formatUsd } from '@florin/sdk';

/** Rows below their headings, in aligned columns. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Members that are Micro-USD. */
const amounts: ReadonlySet<string> = new Set([
  ...['amount', 'refundedAmount', 'unitPrice', 'commonPrices'],
  ...['totalValue', 'paymentValue', 'feeValue', 'netValue'],
]);

/** The members of an object, one a line: amounts in US dollars, inner objects as JSON. Empty ones are left out. */
export function details(value: object): string {
  const lines = Object.entries(value)
    .filter(([, member]) => member !== '' && member !== null && member !== undefined)
    .map(([name, member]) => [name, printable(memberText(name, member))] as const);
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

function memberText(name: string, member: unknown): string {
  if (amounts.has(name) && typeof member === 'number') return dollars(member);
  if (Array.isArray(member) && member.every((each) => typeof each !== 'object'))
    return member.map((each: unknown) => memberText(name, each)).join(', ');
  return typeof member === 'string' ? member : JSON.stringify(member);
}

/** An amount in Micro-USD for a person: `$4.50`. */
export function dollars(microUsd: number): string {
  return `$${formatUsd(microUsd)}`;
}

/** A text that controls no terminal: merchants' and payers' words come from elsewhere. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
