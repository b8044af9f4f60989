import { createCipheriv, createDecipheriv, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto';
import { type Hex, keccak256 } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { RandomBytes } from './outside.ts';

/** Encrypted private keys in files: Web3 Secret Storage version 3, as geth and most wallets write them. */

/** The most memory that a file may request for the key derivation; geth's standard needs 256 MiB. */
const maxScryptBytes = 1024 * 1024 * 1024;
const maxScryptP = 16;
const maxPbkdf2Rounds = 10_000_000;
const derivedBytes = 32;

/** The fields of a version 3 file that decryption needs. */
interface Keystore {
  readonly iv: Buffer;
  readonly ciphertext: Buffer;
  readonly mac: Buffer;
  readonly derive: (password: string) => Buffer;
  /** Lower case without 0x; undefined in files without one. */
  readonly address: string | undefined;
}

/**
 * Decrypts a version 3 keystore: scrypt or PBKDF2-HMAC-SHA256, AES-128-CTR, Keccak-256 MAC. The password is its UTF-8
 * bytes. Throws for a wrong password, a broken file, and an address that is not the key's. Blocks for about a second:
 * use it only when a process starts.
 */
export function decryptKeystore(file: unknown, password: string): Hex {
  const keystore = parseKeystore(file);
  const derived = keystore.derive(password);
  const mac = macOf(derived, keystore.ciphertext);
  if (!timingSafeEqual(mac, keystore.mac)) throw new Error('the password is wrong');
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), keystore.iv);
  const key = Buffer.concat([decipher.update(keystore.ciphertext), decipher.final()]);
  // Early writers dropped leading zero bytes of the key.
  const privateKey: Hex = `0x${key.toString('hex').padStart(64, '0')}`;
  const address = privateKeyToAddress(privateKey).slice(2).toLowerCase();
  if (keystore.address !== undefined && keystore.address !== address) {
    throw new Error(`it names 0x${keystore.address} but holds the key of 0x${address}`);
  }
  return privateKey;
}

/** Encrypts a private key as a version 3 keystore with scrypt. `scryptN`: a power of two, 262,144 by default. */
export function encryptKeystore(
  random: RandomBytes,
  secrets: { privateKey: Hex; password: string },
  options: { scryptN?: number } = {},
): string {
  const n = options.scryptN ?? 262_144;
  const salt = Buffer.from(random.bytes(32));
  const iv = Buffer.from(random.bytes(16));
  const kdfparams = { dklen: derivedBytes, n, r: 8, p: 1, salt: salt.toString('hex') };
  const derived = scryptKey(secrets.password, salt, kdfparams);
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv);
  const key = Buffer.from(secrets.privateKey.slice(2), 'hex');
  if (key.length !== 32) throw new RangeError('a private key has 32 bytes');
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()]);
  const file = {
    version: 3,
    id: uuidOf(random),
    address: privateKeyToAddress(secrets.privateKey).slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams,
      mac: macOf(derived, ciphertext).toString('hex'),
    },
  };
  return `${JSON.stringify(file, undefined, 2)}\n`;
}

function macOf(derived: Buffer, ciphertext: Buffer): Buffer {
  return Buffer.from(keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]), 'bytes'));
}

/** A version 4 UUID (RFC 9562). */
function uuidOf(random: RandomBytes): string {
  const bytes = Buffer.from(random.bytes(16));
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

function scryptKey(
  password: string,
  salt: Buffer,
  { n, r, p, dklen }: { n: number; r: number; p: number; dklen: number },
): Buffer {
  const memory = 128 * n * r;
  // Node's default limit is 32 MiB; some slack besides the table itself is needed.
  const options = { N: n, r, p, maxmem: memory + 128 * r * p + 1024 * 1024 };
  return scryptSync(Buffer.from(password, 'utf8'), salt, dklen, options);
}

type Json = Readonly<Record<string, unknown>>;

function broken(reason: string): Error {
  return new Error(`it is not a version 3 keystore: ${reason}`);
}

function recordIn(owner: Json, name: string): Json {
  const value = owner[name];
  if (typeof value !== 'object' || value === null) throw broken(`${name} is missing`);
  return value as Json;
}

function hexIn(owner: Json, name: string, size: { min?: number; max?: number } = {}): Buffer {
  const value = owner[name];
  const isHex = typeof value === 'string' && /^(0x)?([0-9a-f]{2})+$/i.test(value);
  if (!isHex) throw broken(`${name} is not hexadecimal`);
  const bytes = Buffer.from(value.replace(/^0x/i, ''), 'hex');
  const { min = 1, max = 1024 } = size;
  if (bytes.length < min || bytes.length > max) {
    throw broken(`${name} has ${bytes.length} bytes, not ${min === max ? min : `${min} to ${max}`}`);
  }
  return bytes;
}

function countIn(owner: Json, name: string, max: number): number {
  const value = owner[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > max) {
    throw broken(`${name} is not an integer from 1 to ${max}`);
  }
  return value;
}

function parseKeystore(file: unknown): Keystore {
  if (typeof file !== 'object' || file === null) throw broken('it is not an object');
  const whole = file as Json;
  if (whole['version'] !== 3) throw broken('its version is not 3');
  // Some wallets write the section's name with a capital.
  const section = recordIn(whole, whole['crypto'] === undefined ? 'Crypto' : 'crypto');
  if (section['cipher'] !== 'aes-128-ctr') throw broken('its cipher is not aes-128-ctr');
  const address = whole['address'];
  return {
    iv: hexIn(recordIn(section, 'cipherparams'), 'iv', { min: 16, max: 16 }),
    ciphertext: hexIn(section, 'ciphertext', { min: 1, max: 32 }),
    mac: hexIn(section, 'mac', { min: 32, max: 32 }),
    derive: parseDerivation(section),
    address: typeof address === 'string' ? address.replace(/^0x/i, '').toLowerCase() : undefined,
  };
}

function parseDerivation(section: Json): Keystore['derive'] {
  const parameters = recordIn(section, 'kdfparams');
  const salt = hexIn(parameters, 'salt');
  if (parameters['dklen'] !== derivedBytes) throw broken(`dklen is not ${derivedBytes}`);
  if (section['kdf'] === 'scrypt') {
    const r = countIn(parameters, 'r', 64);
    const n = countIn(parameters, 'n', maxScryptBytes / 128 / r);
    if (n < 2 || !Number.isInteger(Math.log2(n))) throw broken('n is not a power of two');
    // OpenSSL enforces RFC 7914's n < 2^(128 * r / 8), which matters only for r = 1: no current wallet writes that.
    if (Math.log2(n) >= 16 * r) throw broken('n is too large for its r');
    const p = countIn(parameters, 'p', maxScryptP);
    return (password) => scryptKey(password, salt, { n, r, p, dklen: derivedBytes });
  }
  if (section['kdf'] === 'pbkdf2') {
    if (parameters['prf'] !== 'hmac-sha256') throw broken('its prf is not hmac-sha256');
    const rounds = countIn(parameters, 'c', maxPbkdf2Rounds);
    return (password) => pbkdf2Sync(Buffer.from(password, 'utf8'), salt, rounds, derivedBytes, 'sha256');
  }
  throw broken('its kdf is neither scrypt nor pbkdf2');
}
