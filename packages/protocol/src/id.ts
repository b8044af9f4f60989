/** Every id is its prefix and 22 base62 characters, 131 random bits. */
export const idPrefixes = {
  product: 'prd_',
  account: 'acc_',
  accountVersion: 'acv_',
  link: 'lnk_',
  linkVersion: 'ver_',
  session: 'sess_',
  lineItem: 'li_',
  webhook: 'wkid_',
  event: 'evt_',
  delivery: 'dlv_',
  receipt: 'rcpt_',
  refund: 'rfd_',
  exception: 'exc_',
  report: 'rpt_',
  request: 'req_',
  merchant: 'mer_',
  apiKey: 'key_',
  user: 'usr_',
  invitation: 'inv_',
  accountChange: 'acg_',
  audit: 'aud_',
  recovery: 'rec_',
} as const;

export type IdKind = keyof typeof idPrefixes;

/** How many base62 characters follow the prefix. */
export const idBodyLength = 22;

/** The digits of base62, in the order of their values. */
export const base62Alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Returns random bytes; production passes the system's generator, the simulator a seeded one. */
export type RandomBytes = (size: number) => Uint8Array;

/** Creates a new id. */
export function newId(kind: IdKind, randomBytes: RandomBytes): string {
  return idPrefixes[kind] + randomBase62(randomBytes);
}

/** 22 random base62 characters, 131 bits. Unbiased: bytes of 248 and more are discarded. */
export function randomBase62(randomBytes: RandomBytes): string {
  const units: number[] = [];
  while (units.length < idBodyLength) {
    for (const byte of randomBytes(idBodyLength + 6)) {
      if (byte < 248 && units.length < idBodyLength) units.push(base62Alphabet.charCodeAt(byte % 62));
    }
  }
  // One text instead of 22 concatenations.
  return String.fromCharCode(...units);
}

/** Writes the first 131 bits' worth of a digest of at least 20 bytes as 22 base62 characters. */
export function base62Of(digest: Uint8Array): string {
  let value = 0n;
  for (const byte of digest) value = (value << 8n) | BigInt(byte);
  let body = '';
  for (let index = 0; index < idBodyLength; index += 1) {
    body += base62Alphabet[Number(value % 62n)];
    value /= 62n;
  }
  return body;
}

/** Whether a text has the shape of an id of this kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = idPrefixes[kind];
  return (
    text.length === prefix.length + idBodyLength &&
    text.startsWith(prefix) &&
    /^[0-9A-Za-z]+$/.test(text.slice(prefix.length))
  );
}
