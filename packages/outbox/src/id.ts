import type { Random } from './context.ts';

/** An id is its prefix and 22 base62 characters: 131 random bits. */
export const idPrefixes = { webhook: 'wkid_', event: 'evt_', delivery: 'dlv_' } as const;

export const idBodyLength = 22;
export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a new id. It skips bytes from 248 on, so that all characters are equally likely. */
export function newId(kind: 'webhook' | 'event', random: Pick<Random, 'bytes'>): string {
  const units: number[] = [];
  while (units.length < idBodyLength) {
    for (const byte of random.bytes(idBodyLength + 6)) {
      if (byte < 248 && units.length < idBodyLength) units.push(base62Alphabet.charCodeAt(byte % 62));
    }
  }
  return idPrefixes[kind] + String.fromCharCode(...units);
}

/** A delivery's id without its last character, which is different for each webhook of an owner. */
export function deliveryStemOf(eventId: string): string {
  return idPrefixes.delivery + eventId.slice(idPrefixes.event.length, -1);
}
