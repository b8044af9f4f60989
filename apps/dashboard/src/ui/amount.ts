import { maxMicroUsd } from '@florin/protocol/money.ts';
import {
  type AmountStyle,
  amountFault,
  parseTypedAmount,
  type TypedAmount,
  writeTypedAmount,
} from '@florin/protocol/typed-amount.ts';
import { formatNumber, formatUsd } from './format.ts';

/** Dollars as the reader types them. Each amount field of the dashboard reads and writes them here. */

/** Enough for every limit of the service. */
const maxWholeDigits = 10;

/** The separators of the reader's numbers, as these are shown everywhere else. */
function styleOf(locale: string | undefined): AmountStyle {
  const sample = formatNumber('1234567.5', {}, locale);
  const [, group = '', decimal = '.'] = /^1(\D*)234\D*567(\D)5$/.exec(sample) ?? [];
  return { group, decimal: decimal === ',' ? ',' : '.', maxWholeDigits };
}

/** Reads typed dollars, with or without their sign. */
export function readUsd(typed: string, locale?: string): TypedAmount {
  return parseTypedAmount(styleOf(locale), withoutDollar(typed));
}

function withoutDollar(typed: string): string {
  return typed.trim().replace(/^\$\s*|\s*\$$/g, '');
}

/** Typed dollars as Micro-USD; undefined for anything but one amount above zero. */
export function parseUsd(typed: string, locale?: string): number | undefined {
  const read = readUsd(typed, locale);
  return read.kind === 'amount' ? Number(read.amount) : undefined;
}

/** Micro-USD as a field holds them before anything is typed: `readUsd` reads the same amount back. */
export function typedUsd(microUsd: bigint | number, locale?: string): string {
  return writeTypedAmount(styleOf(locale), BigInt(microUsd));
}

/** What is wrong with typed dollars, by the limit that they break; undefined for an amount up to `most`. */
export function usdFault(
  typed: string,
  { most = maxMicroUsd, locale }: { readonly most?: bigint | number; readonly locale?: string } = {},
): string | undefined {
  const read = readUsd(typed, locale);
  const tooLarge = `Too large: at most ${formatUsd(most, locale)}.`;
  if (read.kind === 'amount') return read.amount > BigInt(most) ? tooLarge : undefined;
  if (read.kind === 'unclear') {
    const [first, second] = read.readings.map((reading) => typedUsd(reading, locale));
    return `${typed.trim()} can mean two amounts. Write ${first} or ${second}.`;
  }
  const example = typedUsd(12_500_000, locale);
  return {
    unreadable:
      typed.trim() === '' ? `Write an amount, as ${example}.` : `This is no amount. Write it as ${example}.`,
    negative: 'Write an amount above zero, without a minus.',
    zero: 'Write an amount above zero.',
    too_large: tooLarge,
    too_precise: 'Too many digits: an amount has at most 6 after the decimal sign.',
  }[amountFault(styleOf(locale), withoutDollar(typed))];
}
