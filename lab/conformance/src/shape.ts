/**
 * The required shape of a value. A test checks one value. An array's entries all have the shape of its first entry.
 * An object has at least these members and may have more. A member whose name ends in `?` is optional.
 */
export type Shape = Test | readonly Shape[] | ShapeFields;
export type ShapeFields = { readonly [name: string]: Shape };

/** A test of one value, and its description, such as `an integer`. */
export interface Test {
  readonly must: string;
  readonly holds: (value: unknown) => boolean;
}

function test(must: string, holds: (value: unknown) => boolean): Test {
  return { must, holds };
}

function isTest(shape: Shape): shape is Test {
  return 'holds' in shape && typeof shape.holds === 'function';
}

const anyValue = test('anything', () => true);
export const text = test('a string', (value) => typeof value === 'string');
export const integer = test('an integer', (value) => Number.isSafeInteger(value));
export const boolean = test('a boolean', (value) => typeof value === 'boolean');
export const anyObject = test('an object', (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value));
export const filledText = test('a string that is not empty', (value) =>
  typeof value === 'string' && value !== '');
export const emptyText = test('an empty string', (value) => value === '');
export const absent = test('absent', (value) => value === undefined);
export const timestamp = matching('YYYY-MM-DD HH:MM:SS', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
export const timestampOrNull = test('YYYY-MM-DD HH:MM:SS or null', (value) =>
  value === null || timestamp.holds(value));
export const url = test('a URL', (value) => typeof value === 'string' && URL.canParse(value));
export const address = matching('an address', /^0x[0-9a-fA-F]{40}$/);
export const tokenId = matching('a token id of the form <chain>::<token>', /^[^:]+::[^:]+$/);
export const decimal = matching('a decimal string', /^\d+(\.\d+)?$/);
export const digits = matching('a string of digits', /^\d+$/);

/** A string that matches. */
export function matching(must: string, pattern: RegExp): Test {
  return test(must, (value) => typeof value === 'string' && pattern.test(value));
}

/** A string that is longer than this prefix and starts with it. */
export function id(prefix: string): Test {
  return matching(`an id that begins with ${prefix}`, new RegExp(`^${prefix}[0-9A-Za-z]+$`));
}

/** One of these values. */
export function oneOf(...values: readonly unknown[]): Test {
  return test(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(value));
}

/** Deep equality with this value. */
export function exactly(expected: unknown): Test {
  const wanted = JSON.stringify(expected);
  return test(wanted, (value) => JSON.stringify(value) === wanted);
}

/** The mismatches of a value, one sentence each. Empty when it has the shape. */
export function mismatches(value: unknown, shape: Shape, path = 'data'): string[] {
  if (isTest(shape))
    return shape.holds(value) ? [] : [`${path} must be ${shape.must}, but is ${shown(value)}`];
  if (Array.isArray(shape)) {
    const [entry = anyValue] = shape as readonly Shape[];
    if (!Array.isArray(value)) return [`${path} must be an array, but is ${shown(value)}`];
    return value.flatMap((element, index) => mismatches(element, entry, `${path}[${index}]`));
  }
  if (!anyObject.holds(value)) return [`${path} must be an object, but is ${shown(value)}`];
  return Object.entries(shape).flatMap(([key, member]) => {
    const name = key.replace(/\?$/, '');
    const found: unknown = Reflect.get(value as object, name);
    return found === undefined && name !== key ? [] : mismatches(found, member as Shape, `${path}.${name}`);
  });
}

const longestShown = 200;

function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? 'absent';
  return written.length > longestShown ? `${written.slice(0, longestShown)}...` : written;
}
