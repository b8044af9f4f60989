import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { defaultRetrySettings } from '@florin/outbox';
import { openTestApi } from './api.fixture.ts';
import { attemptDelaysMs, receiverOf } from './forward.ts';

test('the times of attempts are those of the service', () => {
  assert.deepEqual(attemptDelaysMs, defaultRetrySettings.delaysMs);
});

test('a receiver is a URL, or one without its scheme', () => {
  const cases = [
    ['localhost:3000/hook', 'http://localhost:3000/hook'],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
    ['http://shop.test/hook?a=1', 'http://shop.test/hook?a=1'],
    ['https://shop.test', 'https://shop.test'],
  ] as const;
  for (const [given, url] of cases) assert.equal(receiverOf('the receiver', given), url);
  for (const given of ['', 'ftp://shop.test', 'http://', 'file:///etc/passwd'])
    assert.throws(() => receiverOf('the receiver', given), { name: 'UsageError' });
});

test('the secret of an installation is kept over starts, each with its own, in a private file', async () => {
  await using api = await openTestApi(() => []);
  const secretAt = async (url: string) => {
    const environment = { XDG_CONFIG_HOME: api.folder, FLORIN_URL: url, FLORIN_KEY: 'sk_live_test' };
    return (await api.run(['listen', '--print-secret'], { environment })).stdout.trim();
  };
  const first = await secretAt('https://pay.example.com');
  assert.match(first, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(await secretAt('https://pay.example.com/payment/v1'), first);
  assert.notEqual(await secretAt('https://other.example.com'), first);
  assert.equal(await secretAt('https://pay.example.com'), first);
  assert.equal(statSync(join(api.folder, 'florin/listen.json')).mode & 0o777, 0o600);
});
