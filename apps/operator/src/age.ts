import {
  createCipheriv,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** The form of files that `age` decrypts (c2sp.org/age): sealed for one X25519 recipient, whose secret key is elsewhere. */
export const ageVersion = 'age-encryption.org/v1';
const chunkBytes = 65_536;

/** A recipient that `age-keygen` has printed; a sentence that says what is wrong with a text that is none. */
export type Recipient = { readonly key: Buffer } | { readonly problem: string };

/** Parses a recipient such as `age1…`: 32 bytes in Bech32, in lower case. */
export function parseRecipient(text: string): Recipient {
  const key = bech32Bytes(text, 'age');
  if (key?.length === 32) return { key };
  const isSecret = /^age-secret-key-/i.test(text);
  return {
    problem: isSecret
      ? 'this is a secret key, which belongs to another machine: give the recipient that age-keygen -y prints for it'
      : 'this is no recipient of age: give the public key that age-keygen prints, age1…',
  };
}

/** The bytes of an age file with the source's bytes, for one recipient. */
export function sealFor(recipient: Buffer): (source: AsyncIterable<Buffer>) => AsyncGenerator<Buffer> {
  return async function* (source) {
    const fileKey = randomBytes(16);
    const nonce = randomBytes(16);
    yield Buffer.concat([headerFor(recipient, fileKey), nonce]);
    const key = derived(fileKey, nonce, 'payload');
    let waiting: Buffer = Buffer.alloc(0);
    let count = 0n;
    for await (const piece of source) {
      waiting = Buffer.concat([waiting, piece]);
      // The last chunk is marked, so a full one waits until there is more.
      while (waiting.length > chunkBytes) {
        yield sealed(key, chunkNonce(count, false), waiting.subarray(0, chunkBytes));
        waiting = waiting.subarray(chunkBytes);
        count += 1n;
      }
    }
    yield sealed(key, chunkNonce(count, true), waiting);
  };
}

function headerFor(recipient: Buffer, fileKey: Buffer): Buffer {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const share = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  // Refuses a recipient for which every secret would be the same.
  const shared = diffieHellman({ privateKey, publicKey: publicKeyOf(recipient) });
  const wrapKey = derived(shared, Buffer.concat([share, recipient]), `${ageVersion}/X25519`);
  const wrapped = sealed(wrapKey, Buffer.alloc(12), fileKey);
  const signed = `${ageVersion}\n-> X25519 ${unpadded(share)}\n${unpadded(wrapped)}\n---`;
  const mac = createHmac('sha256', derived(fileKey, Buffer.alloc(0), 'header'))
    .update(signed)
    .digest();
  return Buffer.from(`${signed} ${unpadded(mac)}\n`);
}

function publicKeyOf(recipient: Buffer): KeyObject {
  return createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'X25519', x: recipient.toString('base64url') },
  });
}

function derived(secret: Buffer, salt: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32));
}

function sealed(key: Buffer, nonce: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Eleven bytes that count, and one that marks the last chunk. */
function chunkNonce(count: bigint, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  // Bytes 0 to 10 count, of which the first three stay zero for any file.
  nonce.writeBigUInt64BE(count, 3);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

const unpadded = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');

const bech32Letters = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const bech32Generator = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3] as const;

/** The bytes of a lower-case Bech32 text (BIP 173) with a prefix; undefined for anything else. */
function bech32Bytes(text: string, prefix: string): Buffer | undefined {
  if (!text.startsWith(`${prefix}1`)) return undefined;
  const values = [...text.slice(prefix.length + 1)].map((letter) => bech32Letters.indexOf(letter));
  if (values.length < 6 || values.includes(-1)) return undefined;
  const codes = [...prefix].map((letter) => letter.charCodeAt(0));
  const checked = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...values];
  let sum = 1;
  for (const value of checked) {
    const top = sum >>> 25;
    sum = ((sum & 0x1ffffff) << 5) ^ value;
    for (const [bit, generator] of bech32Generator.entries()) if ((top >> bit) & 1) sum ^= generator;
  }
  if (sum !== 1) return undefined;
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  for (const value of values.slice(0, -6)) {
    held = (held << 5) | value;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(held >> bits);
    held &= (1 << bits) - 1;
  }
  // What is left are zeros that fill the last letter.
  return bits < 5 && held === 0 ? Buffer.from(bytes) : undefined;
}
