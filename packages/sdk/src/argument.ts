import { FlorinError, wrongArgument } from './error.ts';

/** The most retries of one call. */
const mostRetries = 1_000;
/** The longest timer of JavaScript, in milliseconds: some 25 days. */
const longestTimeoutMs = 2 ** 31 - 1;
/** What every runtime carries in a header, and what no proxy changes: visible ASCII, with spaces within. */
const headerText = /^[!-~](?:[ -~]{0,253}[!-~])?$/;

/**
 * Refuses a member that nothing reads, and options that are no object: of either nothing would be seen. `path` stands before
 * its name. Programs in JavaScript may give null for no options.
 */
export function refuseUnknown(given: unknown, known: readonly string[], path = ''): void {
  if (given !== undefined && given !== null && typeof given !== 'object')
    throw wrongArgument('options', `give an object with ${known.join(', ')}, not a ${typeof given}`);
  for (const [name, value] of Object.entries(Object(given)))
    if (value !== undefined && !known.includes(name))
      throw wrongArgument(`${path}${name}`, `${path}${name} is not known: give ${known.join(', ')}`);
}

/** An id as text, as a request places it. Refuses one that is missing, and an object that has it. */
export function idText(name: string, given: unknown): string {
  const value = typeof given === 'string' ? given : typeof given === 'number' ? String(given) : '';
  if (value !== '' && value.isWellFormed()) return value;
  const isText = typeof given === 'string' && given !== '';
  const ofObject = Object(given) === given ? `is an object: give its ${name} alone` : 'is missing';
  const what = isText ? 'is no Unicode text' : ofObject;
  throw wrongArgument(name, `${name} ${what}`);
}

/** Refuses a count of retries that would never end, and a time that no timer can wait. */
export function checkLimits(limits: { readonly maxRetries: number; readonly timeoutMs: number }): void {
  const { maxRetries, timeoutMs } = limits;
  refuseOutside('maxRetries', maxRetries, 0, mostRetries);
  refuseOutside('timeoutMs', timeoutMs, 1, longestTimeoutMs);
}

function refuseOutside(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw wrongArgument(name, `${name} is a whole number from ${least} to ${most}, not ${value}`);
}

/** Refuses a key that a header cannot carry, which would fail like a broken connection, and one that a proxy may change. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (key === undefined || headerText.test(key)) return;
  throw wrongArgument(
    'idempotencyKey',
    'idempotencyKey has 1 to 255 characters of ASCII, without control characters and spaces around it',
  );
}

/** The JSON of a body. Refuses what JSON cannot hold. */
export function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body, (name, value: unknown) => {
      if (typeof value !== 'bigint') return value;
      throw wrongArgument(name, `the member ${name} is a bigint: give a number`);
    });
  } catch (cause) {
    if (cause instanceof FlorinError) throw cause;
    throw new FlorinError('argument_invalid', `the request is no JSON: ${cause}`, { cause });
  }
}
