import { createCipheriv, createDecipheriv, createHash, createSecretKey } from 'node:crypto';
import type { Random } from './random.ts';

/** Keeps secrets in the database readable only with a master key. AES-256-GCM (NIST SP 800-38D). */
export interface SecretBox {
  /** Seals under the current master key. `context` names the row; opening needs the same context. */
  seal(random: Random, secret: Uint8Array, context: string): Uint8Array;
  /** Opens a secret sealed by any of the master keys. Throws when none fits, or when a byte or the context differs. */
  open(sealed: Uint8Array, context: string): Uint8Array;
  /** Whether the current master key sealed it. */
  isCurrent(sealed: Uint8Array): boolean;
}

const algorithm = 'aes-256-gcm';
const idBytes = 8;
const nonceBytes = 12;
const tagBytes = 16;

/**
 * A box of 32-byte master keys: the first seals, all open, so that a key can be replaced without downtime.
 * Sealed bytes are key id (8), nonce (12), ciphertext, tag (16).
 */
export function secretBox(masterKeys: readonly [Uint8Array, ...Uint8Array[]]): SecretBox {
  const keys = masterKeys.map((key) => {
    if (key.length !== 32) throw new RangeError(`a master key has 32 bytes, not ${key.length}`);
    // The key object is created once: creating one per use would cost five times the opening itself.
    return { id: keyId(key), key: createSecretKey(key) };
  });
  const [current] = keys;
  if (current === undefined) throw new RangeError('a secret box needs a master key');
  return {
    isCurrent: (sealed) => current.id.equals(sealed.subarray(0, idBytes)),
    seal(random, secret, context) {
      const nonce = random.bytes(nonceBytes);
      const cipher = createCipheriv(algorithm, current.key, nonce).setAAD(Buffer.from(context));
      const ciphertext = [cipher.update(secret), cipher.final()];
      return Buffer.concat([current.id, nonce, ...ciphertext, cipher.getAuthTag()]);
    },
    open(sealed, context) {
      if (sealed.length < idBytes + nonceBytes + tagBytes) throw new RangeError('sealed bytes are too short');
      const bytes = Buffer.from(sealed);
      const entry = keys.find(({ id }) => id.equals(bytes.subarray(0, idBytes)));
      if (entry === undefined) throw new Error('sealed under a master key that is not configured');
      const nonce = bytes.subarray(idBytes, idBytes + nonceBytes);
      const decipher = createDecipheriv(algorithm, entry.key, nonce, { authTagLength: tagBytes });
      decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
      return Buffer.concat([
        decipher.update(bytes.subarray(idBytes + nonceBytes, -tagBytes)),
        decipher.final(),
      ]);
    },
  };
}

/** Identifies the sealing key without revealing it. */
function keyId(key: Uint8Array): Buffer {
  return createHash('sha256').update('florin master key id').update(key).digest().subarray(0, idBytes);
}
