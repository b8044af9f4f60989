import assert from 'node:assert/strict';
import {
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import { test } from 'node:test';
import { parseRecipient, sealFor } from './age.ts';

/** Printed by `age-keygen`. */
const recipient = 'age16yr3ldvhe3mu2etmf2v5nznfuxk70rgf38xvqz4eg42p4gskng9qjunmdd';

test('a recipient has a checksum, 32 bytes and no capitals, and a secret key is told from it', () => {
  const parsed = parseRecipient(recipient);
  assert.ok('key' in parsed && parsed.key.length === 32);
  const wrong = [
    '',
    'age1',
    recipient.slice(0, -1),
    recipient.replace('yr3', 'yr4'),
    recipient.toUpperCase(),
    'ssh-ed25519 AAAA',
    'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
  ];
  for (const text of wrong) {
    const found = parseRecipient(text);
    assert.ok('problem' in found && found.problem.startsWith('this is no recipient'), text);
  }
  const secret = parseRecipient(`AGE-SECRET-KEY-1${'Q'.repeat(58)}`);
  assert.ok('problem' in secret && secret.problem.startsWith('this is a secret key'));
});

test('only the secret key opens the file, and each file has a key of its own', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const plain = Buffer.from('rows of all merchants');
  const files = await Promise.all([1, 2].map(() => sealedBytes(key, plain)));
  assert.notDeepEqual(files[0], files[1]);
  for (const file of files) assert.deepEqual(openSealed(file, privateKey, key), plain);
});

async function sealedBytes(key: Buffer, plain: Buffer): Promise<Buffer> {
  const source = (async function* () {
    yield plain;
  })();
  const parts: Buffer[] = [];
  for await (const part of sealFor(key)(source)) parts.push(part);
  return Buffer.concat(parts);
}

/** Opens a file of one chunk, as the specification says. */
function openSealed(file: Buffer, privateKey: KeyObject, recipientKey: Buffer): Buffer {
  const end = file.indexOf('\n', file.indexOf('\n---') + 1) + 1;
  const [version, stanza = '', body = ''] = file.subarray(0, end).toString().split('\n');
  assert.equal(version, 'age-encryption.org/v1');
  const share = Buffer.from(stanza.replace('-> X25519 ', ''), 'base64');
  const publicKey = createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'X25519', x: share.toString('base64url') },
  });
  const salt = Buffer.concat([share, recipientKey]);
  const secret = diffieHellman({ privateKey, publicKey });
  const wrap = derived(secret, salt, 'age-encryption.org/v1/X25519');
  const fileKey = opened(wrap, Buffer.alloc(12), Buffer.from(body, 'base64'));
  const payload = derived(fileKey, file.subarray(end, end + 16), 'payload');
  const last = Buffer.alloc(12);
  last[11] = 1;
  return opened(payload, last, file.subarray(end + 16));
}

function derived(secret: Buffer, salt: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, purpose, 32));
}

function opened(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
  decipher.setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
}
