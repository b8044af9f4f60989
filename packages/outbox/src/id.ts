import type { Random } from './context.ts';

/** An id is its prefix and 22 base62 characters: 131 random bits. */
export const idPrefixes = { webhook: 'wkid_', event: 'evt_', delivery: 'dlv_' } as const;

export const idBodyLength = 22;
export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Makes a new id. Unbiased: bytes of 248 and more are thrown away. */
export function newId(kind: 'webhook' | 'event', random: Pick<Random, 'bytes'>): string {
  const units: number[] = [];
  while (units.length < idBodyLength) {
    for (const byte of random.bytes(idBodyLength + 6)) {
      if (byte < 248 && units.length < idBodyLength) units.push(base62Alphabet.charCodeAt(byte % 62));
    }
  }
  return idPrefixes[kind] + String.fromCharCode(...units);
}

/** All of a delivery's id but the last character, which tells the webhooks of one owner apart. */
export function deliveryStemOf(eventId: string): string {
  return idPrefixes.delivery + eventId.slice(idPrefixes.event.length, -1);
}
