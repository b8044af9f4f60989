const daySeconds = 86_400;
/** The service sums at most so many days. */
const maxDays = 100;
const monthCount = 24;

/** Whole days in UTC, from the first up to before the last; Unix seconds. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

const utc = (year: number, month: number) => Date.UTC(year, month, 1) / 1_000;

/** The months up to this one, the latest first, as `2026-11`. */
export function latestMonths(now: Date): string[] {
  return Array.from({ length: monthCount }, (_, index) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - index, 1)).toISOString().slice(0, 7),
  );
}

/** The month as a period; undefined for a text that is no month. */
export function periodOfMonth(month: string): Period | undefined {
  const [, year, number] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(month) ?? [];
  if (year === undefined) return undefined;
  return { from: utc(Number(year), Number(number) - 1), to: utc(Number(year), Number(number)) };
}

/** The days from one up to and with another, as `2026-11-30`; a text says why they are no period. */
export function periodOfDays(from: string, to: string): Period | string {
  const [start, end] = [from, to].map((day) => Date.parse(`${day}T00:00:00Z`) / 1_000);
  if (start === undefined || end === undefined || Number.isNaN(start) || Number.isNaN(end))
    return 'Choose both days.';
  if (start > end) return 'The last day is before the first.';
  if (end + daySeconds - start > maxDays * daySeconds) return `Choose at most ${maxDays} days.`;
  return { from: start, to: end + daySeconds };
}

/** Where the months of the period begin, and its end. */
export function monthTimes({ from, to }: Period): number[] {
  const start = new Date(from * 1_000);
  const times = [from];
  for (let month = 1; (times.at(-1) ?? to) < to; month += 1)
    times.push(Math.min(to, utc(start.getUTCFullYear(), start.getUTCMonth() + month)));
  return times;
}

/** `November 2026`. */
export function monthName(seconds: number): string {
  return new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    seconds * 1_000,
  );
}

/** The day in UTC, as `2026-11-30`. */
export function dayText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}

/** The first and the last day. */
export function periodText({ from, to }: Period): string {
  return `${dayText(from)} to ${dayText(to - 1)}`;
}
