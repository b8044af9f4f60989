import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { test } from 'node:test';
import { hashPassword, verifyPassword } from './password.ts';

// Other tests calculate with a lower cost (test/harness/quick-scrypt.ts).
test('a password is stored as scrypt of 32 MiB with a salt of its own', async () => {
  const password = 'correct horse battery';
  const hash = await hashPassword(password);
  const [salt = '', key] = hash.split(':');
  const cost = { N: 16_384, r: 16, p: 1, maxmem: 64 * 1024 * 1024 };
  assert.equal(key, scryptSync(password, salt, 64, cost).toString('hex'));
  assert.notEqual((await hashPassword(password)).split(':')[0], salt);
  assert.equal(await verifyPassword({ hash, password }), true);
  assert.equal(await verifyPassword({ hash, password: 'correct horse cattery' }), false);
});
