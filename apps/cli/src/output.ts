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

/** Members that are Unix seconds. */
const seconds: ReadonlySet<string> = new Set(['expirationTime', 'activeUntil']);

/**
 * The members of an object, one a line: amounts in US dollars, times in UTC. Inner objects are lines with dotted names, and
 * each item of a list is a line. Empty ones are left out.
 */
export function details(value: object): string {
  const lines = linesOf(value, '').map(([name, text]) => [printable(name), printable(text)] as const);
  const width = Math.max(0, ...lines.map(([name]) => name.length));
  return lines.map(([name, text]) => `${name.padEnd(width)}  ${text}`).join('\n');
}

type Line = readonly [name: string, text: string];

function linesOf(value: object, prefix: string): Line[] {
  return membersOf(value).flatMap(([name, member]): Line[] => {
    // A created link repeats its items beside them.
    const shown = itemsOf(member);
    if (Array.isArray(shown) && shown.some((each) => typeof each === 'object'))
      return shown.map((each, index) => [index === 0 ? prefix + name : '', memberText(name, each)]);
    if (typeof shown === 'object' && shown !== null && !Array.isArray(shown))
      return linesOf(shown, `${prefix}${name}.`);
    return [[prefix + name, memberText(name, shown)]];
  });
}

function itemsOf(member: unknown): unknown {
  const { items } = Object(member) as { items?: unknown };
  return Array.isArray(items) ? items : member;
}

/** The members that are not empty. */
function membersOf(value: object): [name: string, member: unknown][] {
  return Object.entries(value).filter(
    ([, member]) => member !== '' && member !== null && member !== undefined,
  );
}

function memberText(name: string, member: unknown): string {
  if (Array.isArray(member)) return member.map((each: unknown) => memberText(name, each)).join(', ');
  if (typeof member === 'object' && member !== null)
    return membersOf(member)
      .map(([inner, each]) => `${inner} ${memberText(inner, each)}`)
      .join(', ');
  if (amounts.has(name) && typeof member === 'number') return dollars(member);
  if (seconds.has(name) && typeof member === 'number') return utc(new Date(member * 1_000).toISOString());
  if (typeof member !== 'string') return JSON.stringify(member);
  return name.endsWith('At') ? utc(member) : member;
}

/** A time of the API, which is in UTC: `2030-01-31 00:00:00 UTC`. */
function utc(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?Z?$/, '$1 $2 UTC');
}

/** An amount in Micro-USD for a person: `$4.50`. */
export function dollars(microUsd: number): string {
  return `$${formatUsd(microUsd)}`;
}

/** A text that controls no terminal: merchants' and payers' words come from elsewhere. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
