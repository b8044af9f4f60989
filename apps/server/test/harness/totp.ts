import { createHmac } from 'node:crypto';

/** The code that an authenticator shows for a secret in base32 (RFC 6238). */
export function totpCode(secret: string, atMs = Date.now()): string {
  const bits = [...secret.replaceAll('=', '')]
    .map((letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / 30_000)));
  const digest = createHmac('sha1', key).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, '0');
}

/** The code of an authenticator that has scanned this URI, now or some time steps later. */
export function totpCodeOf(totpUri: string, later = 0): string {
  return totpCode(new URL(totpUri).searchParams.get('secret') ?? '', Date.now() + later * 30_000);
}
