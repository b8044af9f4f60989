import type { EventType } from '@florin/protocol/event.ts';

/** Bytes of a body beyond which line items lose their productData. */
export const maxBodyBytes = 64 * 1024;

/** The digits of the largest sequence that the database can hold. */
const maxSequenceDigits = 19;

/** A body in two halves; the sequence, which only the database knows, goes between them. */
export interface BodyHalves {
  readonly head: string;
  readonly tail: string;
}

/**
 * The exact text of an event's body around its sequence. `dataJson` is spliced in byte for byte, because it holds the
 * merchant's own metadata; a body over 64 KiB drops productData from the line items and says `truncated`.
 */
export function eventBody(event: {
  readonly eventId: string;
  readonly type: EventType;
  readonly at: Date;
  readonly dataJson: string;
}): BodyHalves {
  const head = `{"id":"${event.eventId}","type":"${event.type}","apiVersion":"v1","timestamp":"${event.at.toISOString()}","sequence":`;
  const tail = `,"data":${event.dataJson}}`;
  if (fitsInEvent(event.dataJson)) return { head, tail };
  if (Buffer.byteLength(head) + maxSequenceDigits + Buffer.byteLength(tail) <= maxBodyBytes)
    return { head, tail };
  return { head, tail: `,"data":${withoutProductData(event.dataJson)},"truncated":true}` };
}

/** Whether an event of this data surely has it whole: its text is far enough from 64 KiB whatever letters it is of. */
export function fitsInEvent(dataJson: string): boolean {
  // Three bytes at most for each UTF-16 unit; what stands around the data has some 200.
  return dataJson.length * 3 + 1024 <= maxBodyBytes;
}

/** The text of `data.session` in the body of a session.created event, byte for byte as it was spliced in. */
export function sessionOfCreated(body: string): string {
  // What stands before it is our own ids and words, none of which can hold this mark.
  const start = body.indexOf(createdMark);
  if (start < 0 || !body.endsWith('}}')) throw new Error('not the whole body of a session.created event');
  return body.slice(start + createdMark.length, -2);
}

const createdMark = ',"sequence":1,"data":{"session":';

/**
 * Cuts `data.<object>.lineItems.items[].productData` out of JSON text and leaves every other byte alone. Parsing and
 * writing again would lose the metadata's duplicate keys, escapes and long numbers. The text must be valid JSON.
 */
export function withoutProductData(json: string): string {
  const cuts: Span[] = [];
  for (const object of members(json, firstCharacter(json, 0))) {
    for (const item of lineItemsOf(json, object.valueStart)) {
      const all = members(json, item);
      all.forEach((member, index) => {
        if (member.key === 'productData') cuts.push(cutOf(all, index));
      });
    }
  }
  let kept = '';
  let from = 0;
  for (const cut of cuts) {
    kept += json.slice(from, cut.start);
    from = cut.end;
  }
  return kept + json.slice(from);
}

/**
 * An event's text for readers who may not see everything: `data.session` with `clientCode` as `****` and a `paymentUrl`
 * without its secret fragment, or with an empty `payerEmail`, as reads show them to the same reader. Every other byte
 * stays.
 */
export function withoutSecrets(
  json: string,
  reader: { readonly showClientCode: boolean; readonly showPayerEmail: boolean },
): string {
  const hidden: Record<string, (value: string) => string> = {
    ...(reader.showPayerEmail ? {} : { payerEmail: () => '' }),
    ...(reader.showClientCode
      ? {}
      : { clientCode: () => '****', paymentUrl: (url) => url.slice(0, `${url}#`.indexOf('#')) }),
  };
  let kept = '';
  let from = 0;
  for (const member of sessionOf(json)) {
    const hide = Object.hasOwn(hidden, member.key) ? hidden[member.key] : undefined;
    if (hide === undefined) continue;
    const value = JSON.parse(json.slice(member.valueStart, member.end)) as string;
    kept += json.slice(from, member.valueStart) + JSON.stringify(hide(value));
    from = member.end;
  }
  return kept + json.slice(from);
}

/** The members of `data.session`; none in events about something else. */
function sessionOf(json: string): Member[] {
  const data = members(json, 0).find((member) => member.key === 'data');
  if (data === undefined) return [];
  const session = members(json, data.valueStart).find((member) => member.key === 'session');
  return session === undefined ? [] : members(json, session.valueStart);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member extends Span {
  readonly key: string;
  readonly valueStart: number;
}

/** A member with the comma that its going makes superfluous: the one behind it, or for the last one the one before. */
function cutOf(all: readonly Member[], index: number): Span {
  const member = all[index];
  const next = all[index + 1];
  const previous = all[index - 1];
  if (member === undefined) throw new RangeError('no such member');
  if (next !== undefined) return { start: member.start, end: next.start };
  return { start: previous?.end ?? member.start, end: member.end };
}

function lineItemsOf(json: string, objectStart: number): number[] {
  const lineItems = members(json, objectStart).find((member) => member.key === 'lineItems');
  if (lineItems === undefined) return [];
  const items = members(json, lineItems.valueStart).find((member) => member.key === 'items');
  return items === undefined ? [] : elements(json, items.valueStart).filter((start) => json[start] === '{');
}

/** The members of the object at `start`; none when another kind of value stands there. */
function members(json: string, start: number): Member[] {
  if (json[start] !== '{') return [];
  const found: Member[] = [];
  let at = firstCharacter(json, start + 1);
  while (json[at] === '"') {
    const keyEnd = stringEnd(json, at);
    const valueStart = firstCharacter(json, firstCharacter(json, keyEnd) + 1);
    const end = valueEnd(json, valueStart);
    found.push({ key: JSON.parse(json.slice(at, keyEnd)) as string, start: at, valueStart, end });
    at = firstCharacter(json, end);
    if (json[at] === ',') at = firstCharacter(json, at + 1);
  }
  return found;
}

/** Where each element of the array at `start` begins. */
function elements(json: string, start: number): number[] {
  if (json[start] !== '[') return [];
  const found: number[] = [];
  let at = firstCharacter(json, start + 1);
  while (at < json.length && json[at] !== ']') {
    found.push(at);
    at = firstCharacter(json, valueEnd(json, at));
    if (json[at] === ',') at = firstCharacter(json, at + 1);
  }
  return found;
}

function firstCharacter(json: string, from: number): number {
  let at = from;
  while (at < json.length && ' \n\r\t'.includes(json.charAt(at))) at += 1;
  return at;
}

function stringEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at + 1;
}

function valueEnd(json: string, start: number): number {
  const first = json.charAt(start);
  if (first === '"') return stringEnd(json, start);
  let at = start;
  if (first !== '{' && first !== '[') {
    while (at < json.length && !',}] \n\r\t'.includes(json.charAt(at))) at += 1;
    return at;
  }
  let depth = 0;
  while (at < json.length) {
    const character = json.charAt(at);
    if (character === '"') {
      at = stringEnd(json, at);
      continue;
    }
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    at += 1;
    if (depth === 0) return at;
  }
  return at;
}
