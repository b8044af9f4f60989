/** The first second of a day in the reader's time zone, in Unix seconds. Undefined for what no calendar has. */
export function dayStart(day: string): number | undefined {
  return startOf(day, 0);
}

/** The last second of a day. */
export function dayEnd(day: string): number | undefined {
  const next = startOf(day, 1);
  return next === undefined ? undefined : next - 1;
}

function startOf(day: string, later: 0 | 1): number | undefined {
  const [year = 0, month = 0, date = 0] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)?.slice(1).map(Number) ?? [];
  const start = new Date(year, month - 1, date);
  const isOfCalendar = month > 0 && start.getMonth() === month - 1 && start.getDate() === date;
  return isOfCalendar ? Math.floor(new Date(year, month - 1, date + later).getTime() / 1_000) : undefined;
}
