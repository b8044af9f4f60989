import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { ImageStoreFailure } from '#catalog/images/image-store.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { buildServer } from '../server.ts';
import { imagesDoor } from './images-door.ts';

const name = 'a'.repeat(22);
const bytes = Buffer.from('RIFF....WEBP');
const asked: string[] = [];
let isAway = false;
let server: FastifyInstance;
before(async () => {
  const store = {
    read: async (file: string) => {
      asked.push(file);
      if (isAway) throw new ImageStoreFailure('away');
      return file === `${name}-320.webp` ? bytes : undefined;
    },
  };
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: 'https://pay.example.com',
    ready: async () => ({ ready: true, checks: {} }),
    doors: [imagesDoor({ store, log: silentLog })],
  });
});
after(() => server.close());

test('an image is served with its type, a permanent cache, access from every site, and no active content', async () => {
  const reply = await server.inject({ url: `/images/${name}-320.webp` });
  assert.deepEqual([reply.statusCode, reply.rawPayload], [200, bytes]);
  const { 'request-id': _, date: __, connection: ___, ...headers } = reply.headers;
  assert.deepEqual(headers, {
    'cache-control': 'public, max-age=31536000, immutable',
    'content-disposition': 'inline',
    'content-length': '12',
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': 'image/webp',
    'cross-origin-resource-policy': 'cross-origin',
    etag: `"${name}-320"`,
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=63072000; includeSubDomains',
    'x-content-type-options': 'nosniff',
  });
});

test('HEAD returns the headers without the image, and a matching ETag gets 304', async () => {
  const head = await server.inject({ method: 'HEAD', url: `/images/${name}-320.webp` });
  assert.deepEqual(
    [head.statusCode, head.body, head.headers['content-length'], head.headers['content-type']],
    [200, '', '12', 'image/webp'],
  );
  const cached = await server.inject({
    url: `/images/${name}-320.webp`,
    headers: { 'if-none-match': `"${name}-320"` },
  });
  assert.deepEqual([cached.statusCode, cached.body], [304, '']);
});

test('a missing image is 404000 and not cached; only image names reach the store', async () => {
  const missing = await server.inject({ url: `/images/${name}-96.webp` });
  assert.deepEqual(
    [missing.statusCode, missing.json().code, missing.headers['cache-control']],
    [404, 404_000, 'no-store'],
  );
  asked.length = 0;
  for (const file of [
    '',
    '..',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%5c..%5cetc',
    `${name}-320.webp%00`,
    `${name}-320.webp%0a`,
    `${name}-321.webp`,
    `${name}.webp`,
    `x/${name}-320.webp`,
    `%2f${name}-320.webp`,
    `${name}-320.webp/`,
    `${name}-320.svg`,
    '%ff',
  ]) {
    const reply = await server.inject({ url: `/images/${file}` });
    assert.deepEqual([reply.statusCode, reply.json().code], [404, 404_000], file);
  }
  assert.deepEqual(asked, []);
  const posted = await server.inject({ method: 'POST', url: `/images/${name}-320.webp` });
  assert.deepEqual([posted.statusCode, posted.json().code], [405, 405_000]);
});

test('an unavailable store is 503 and not cached', async () => {
  isAway = true;
  const reply = await server.inject({ url: `/images/${name}-320.webp` });
  isAway = false;
  assert.deepEqual(
    [reply.statusCode, reply.headers['retry-after'], reply.headers['cache-control']],
    [503, '5', 'no-store'],
  );
});
