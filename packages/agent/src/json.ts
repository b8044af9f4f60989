import { AgentError } from './error.ts';

/** Parsers of external answers. An answer of any other shape is refused (answer_refused). */

/** A member of an object; undefined when it is absent, or the value is not an object. */
export function member(value: unknown, ...names: string[]): unknown {
  let found = value;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** Refuses an answer that breaks the protocol. */
export function refuseAnswer(what: string): never {
  throw new AgentError('answer_refused', `the service answered something unexpected: ${what}`);
}

/** A member that is a text. */
export function textOf(value: unknown, ...names: string[]): string {
  const found = member(value, ...names);
  return typeof found === 'string' ? found : refuseAnswer(`no text ${names.join('.')}`);
}

/** A member that is a list; empty when it is absent. */
export function listOf(value: unknown, ...names: string[]): readonly unknown[] {
  const found = member(value, ...names) ?? [];
  return Array.isArray(found) ? found : refuseAnswer(`${names.join('.')} is no list`);
}

/** A member that is a decimal string of an unsigned integer. */
export function integerOf(value: unknown, ...names: string[]): bigint {
  const text = textOf(value, ...names);
  return /^(0|[1-9][0-9]{0,77})$/.test(text)
    ? BigInt(text)
    : refuseAnswer(`${names.join('.')} is no decimal integer`);
}

/** A member that is a decimal string of a chain id. */
export function chainIdOf(value: unknown, ...names: string[]): number {
  const id = integerOf(value, ...names);
  return id > 0n && id <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(id)
    : refuseAnswer(`${names.join('.')} is no chain id`);
}

/** A 0x-prefixed hexadecimal text. */
export type Hex = `0x${string}`;

/** A member that is an address, in lower case. */
export function addressOf(value: unknown, ...names: string[]): Hex {
  const text = textOf(value, ...names).toLowerCase();
  return isAddress(text) ? text : refuseAnswer(`${names.join('.')} is no address`);
}

function isAddress(text: string): text is Hex {
  return /^0x[0-9a-f]{40}$/.test(text);
}

/** A member that is bytes in hexadecimal, in lower case. */
export function bytesOf(value: unknown, ...names: string[]): Hex {
  const text = textOf(value, ...names).toLowerCase();
  return isBytes(text) ? text : refuseAnswer(`${names.join('.')} is not hexadecimal`);
}

function isBytes(text: string): text is Hex {
  return /^0x([0-9a-f]{2})*$/.test(text);
}
