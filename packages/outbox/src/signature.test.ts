import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { Webhook as Verifier } from 'standardwebhooks';
import { signWebhook } from './signature.ts';

const timestampSeconds = Math.floor(Date.now() / 1000);

function verifier(key: Uint8Array): Verifier {
  return new Verifier(`whsec_${Buffer.from(key).toString('base64')}`);
}

// proves W6.6
test('the standard library verifies every body that we sign', () => {
  const key = randomBytes(32);
  const property = fc.property(fc.jsonValue(), (value) => {
    const body = JSON.stringify(value);
    const headers = signWebhook({ eventId: 'evt_1', timestampSeconds, body, keys: [key] });
    assert.deepEqual(verifier(key).verify(body, { ...headers }), JSON.parse(body));
  });
  fc.assert(property, { numRuns: 300 });
});

test('with an old key still valid, holders of either key can verify', () => {
  const keys = [randomBytes(32), randomBytes(32)];
  const headers = { ...signWebhook({ eventId: 'evt_1', timestampSeconds, body: '{"a":1}', keys }) };
  for (const key of keys) assert.deepEqual(verifier(key).verify('{"a":1}', headers), { a: 1 });
});

test('another key, another body, another id or another time do not verify', () => {
  const key = randomBytes(32);
  const headers = { ...signWebhook({ eventId: 'evt_1', timestampSeconds, body: '{}', keys: [key] }) };
  assert.throws(() => verifier(randomBytes(32)).verify('{}', headers));
  assert.throws(() => verifier(key).verify('{ }', headers));
  assert.throws(() => verifier(key).verify('{}', { ...headers, 'webhook-id': 'evt_2' }));
  assert.throws(() =>
    verifier(key).verify('{}', { ...headers, 'webhook-timestamp': `${timestampSeconds - 1}` }),
  );
});
