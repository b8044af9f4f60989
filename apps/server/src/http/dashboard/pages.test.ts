import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildPages } from '@florin/dashboard/build';
import type { FastifyInstance } from 'fastify';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { buildServer } from '../server.ts';
import { dashboardPagesDoor } from './pages.ts';

const browser = { accept: 'text/html,*/*' };
/** What a first visit may load, compressed. */
const firstLoadBytes = 200 * 1024;
let folder: string;
let server: FastifyInstance;

const serve = (from?: string) =>
  buildServer({
    log: silentLog,
    random: systemRandom,
    origin: 'https://pay.shop.test',
    ready: async () => ({ ready: true, checks: {} }),
    doors: [dashboardPagesDoor(from)],
  });

before(async () => {
  ({ folder } = await buildPages());
  server = await serve();
});
after(() => server.close());

test('every address below /dashboard is the one page, under a policy without anything inline', async () => {
  const index = await readFile(join(folder, 'index.html'), 'utf8');
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/mer_1/payments/sess_2?status=paid']) {
    const reply = await server.inject({ url: path, headers: browser });
    assert.deepEqual([path, reply.statusCode, reply.payload], [path, 200, index]);
    assert.equal(reply.headers['cache-control'], 'no-cache');
    const policy = String(reply.headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|nonce|sha256|https:/);
  }
  assert.doesNotMatch(index, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
});

test('an asset is cached for good, and an unknown one is not the page', async () => {
  const [asset = ''] = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.js'));
  const found = await server.inject({
    url: `/dashboard/assets/${asset}`,
    headers: { 'accept-encoding': 'br' },
  });
  assert.deepEqual(
    [found.statusCode, found.headers['cache-control'], found.headers['content-encoding']],
    [200, 'public, max-age=31536000, immutable', 'br'],
  );
  for (const url of ['/dashboard/assets/gone.js', '/dashboard/api/unknown']) {
    const reply = await server.inject({ url, headers: browser });
    assert.deepEqual([url, reply.statusCode], [url, 404]);
  }
});

test('before the first build the page says so and reloads', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'florin-'));
  const unbuilt = await serve(empty);
  const reply = await unbuilt.inject({ url: '/dashboard/mer_1', headers: browser });
  assert.deepEqual([reply.statusCode, reply.headers['refresh']], [503, '1']);
  await unbuilt.close();
  await rm(empty, { recursive: true });
});

test('the first visit loads at most 200 KiB, compressed', async () => {
  const index = await readFile(join(folder, 'index.html'), 'utf8');
  const names = [...index.matchAll(/(?:src|href)="\/dashboard\/([^"]+)"/g)].map(([, name = '']) => name);
  const sizes = await Promise.all(
    names.map(async (name) => gzipSync(await readFile(join(folder, name))).length),
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(names.length > 3);
  assert.ok(total <= firstLoadBytes, `the first visit loads ${total} bytes`);
});
