/** Less is the way of the answer, and the whole seconds of the header. */
const toleratedMs = 5_000;

let aheadMs = 0;

/** Takes the time of an answer's `Date`. The reader's clock may be wrong; the local world's service lives in its own time. */
export function noteServiceTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) aheadMs = Math.abs(difference) < toleratedMs ? 0 : difference;
}

/** The time of the service in milliseconds, by the latest answer: what is relative to it is right on every device. */
export function serviceNow(): number {
  return Date.now() + aheadMs;
}
