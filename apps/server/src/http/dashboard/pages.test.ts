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

const serve = (from?: string, origin = 'https://pay.shop.test', dashboardOrigin = origin) =>
  buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [dashboardPagesDoor({ origin, dashboardOrigin, folder: from })],
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

test('a tool that takes any type gets the page, and one that wants JSON a refusal', async () => {
  for (const headers of [{}, { accept: '*/*' }])
    assert.equal((await server.inject({ url: '/dashboard', headers })).statusCode, 200);
  assert.equal((await server.inject({ method: 'HEAD', url: '/dashboard/sign-in' })).statusCode, 200);
  const wantsJson = { accept: 'application/json' };
  assert.equal((await server.inject({ url: '/dashboard', headers: wantsJson })).statusCode, 404);
});

test('in the local world the address of the service leads to its name', async () => {
  const local = await serve(undefined, 'http://127.0.0.1:4300', 'http://localhost:4300');
  const at = async (host: string) => {
    const { statusCode, headers } = await local.inject({
      url: '/dashboard/a?b=1',
      headers: { ...browser, host },
    });
    return [statusCode, headers.location];
  };
  assert.deepEqual(await at('127.0.0.1:4300'), [302, 'http://localhost:4300/dashboard/a?b=1']);
  assert.deepEqual(await at('localhost:4300'), [200, undefined]);
  await local.close();
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

/** The files that the browser reads before it runs these, with these. */
async function withImports(names: readonly string[], known = new Set<string>()): Promise<Set<string>> {
  for (const name of names.filter((each) => !known.has(each))) {
    known.add(name);
    if (!name.endsWith('.js')) continue;
    const script = await readFile(join(folder, name), 'utf8');
    const imported = [...script.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)];
    await withImports(
      imported.map(([, file]) => `assets/${file}`),
      known,
    );
  }
  return known;
}

/** The files that these scripts read later, when something of them is opened. */
async function readLater(names: Iterable<string>): Promise<string[]> {
  const scripts = await Promise.all(
    [...names].filter((name) => name.endsWith('.js')).map((name) => readFile(join(folder, name), 'utf8')),
  );
  const found = scripts.flatMap((script) => [
    ...script.matchAll(/import\(\s*[`"']\.\/([^`"']+\.js)[`"']\)/g),
  ]);
  return [...new Set(found.map(([, file]) => `assets/${file}`))];
}

test('the first visit loads at most 200 KiB, compressed, with every screen that may be its first one', async () => {
  const index = await readFile(join(folder, 'index.html'), 'utf8');
  const names = [...index.matchAll(/(?:src|href)="\/dashboard\/([^"]+)"/g)].map(([, name = '']) => name);
  assert.ok(names.length > 3);
  // All screens, and some parts that are opened on every screen.
  const screens = await readLater(await withImports(names));
  assert.ok(screens.length > 35, `${screens.length} screens`);
  const proof = screens.filter((name) => name.startsWith('assets/proof-dialog-'));
  assert.equal(proof.length, 1);
  const tooLarge: Record<string, number> = {};
  for (const screen of screens) {
    const loaded = await withImports([...names, ...proof, screen]);
    // The page of a link shows its code at once.
    const code = (await readLater([screen])).filter((name) => name.startsWith('assets/link-qr-'));
    const sizes = await Promise.all(
      [...(await withImports([...loaded, ...code]))].map(
        async (name) => gzipSync(await readFile(join(folder, name))).length,
      ),
    );
    const total = sizes.reduce((sum, size) => sum + size, 0);
    if (total > firstLoadBytes) tooLarge[screen] = total;
  }
  assert.deepEqual(tooLarge, {});
});
