import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemRandom } from '#outside/random.ts';
import { recordingLog } from '../../../test/harness/toy-server.ts';
import { buildServer } from '../server.ts';
import { statusDoor } from './status-door.ts';

test('without its database the status and its metrics are 503 with Retry-After', async () => {
  const readStatus = async () => {
    throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
  };
  const server = await buildServer({
    log: recordingLog(),
    random: systemRandom,
    origin: 'https://pay.example.com',
    ready: async () => ({ ready: false, checks: {} }),
    doors: [statusDoor({ readStatus })],
  });
  for (const url of ['/status', '/status/metrics']) {
    const reply = await server.inject({ url });
    assert.deepEqual(
      [reply.statusCode, reply.headers['retry-after'], reply.json().code],
      [503, '5', 900203],
      url,
    );
  }
});
