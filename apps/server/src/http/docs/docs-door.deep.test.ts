import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { buildSite } from '@florin/docs/build';
import type { FastifyInstance } from 'fastify';
import { finalityText } from '#chains/chain.ts';
import { expectedSecondsToFinal } from '#chains/condition.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { AgentWorld } from '../../../test/harness/agent-fixture.ts';
import { buildServer } from '../server.ts';
import { docsDoor } from './docs-door.ts';

const origin = 'https://pay.shop.test';
const docs = fileURLToPath(new URL('../../../../../docs/', import.meta.url));
/** The URL path of every page, from the names of the files in the repository. */
const paths = globSync(['changelog.md', 'guide/*.md', 'reference/**/*.md', 'runbook/*.md'], { cwd: docs })
  .map(
    (file) =>
      `/docs/${file
        .replace(/^reference\//, '')
        .replace(/(\/|^)README/, '')
        .replace(/\.md$/, '')}`,
  )
  .map((path) => path.replace(/\/$/, ''));
const browser = { accept: 'text/html,*/*' };
let world: AgentWorld;
let server: FastifyInstance;

const serve = (folder?: string) =>
  buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [docsDoor({ origin, chains: world.deps.chains, ...(folder === undefined ? {} : { folder }) })],
  });

before(async () => {
  await buildSite();
  world = await AgentWorld.open();
  server = await serve();
});

after(async () => {
  await server.close();
  await world.close();
});

test('every page is served as HTML that its policy allows, and as Markdown at the same path', async () => {
  assert.ok(paths.length > 130);
  for (const path of paths) {
    const [html, markdown] = await Promise.all([server.inject(path), server.inject(`${path}.md`)]);
    assert.equal(html.statusCode, 200, path);
    assert.equal(html.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(
      String(html.headers['content-security-policy']),
      /^default-src 'none'; script-src 'self'( 'sha256-[\w+/=]{44}'){2}; style-src 'self'; /,
    );
    assert.doesNotMatch(html.body, / on[a-z]+="| style="/, path);
    assert.equal(markdown.statusCode, 200, path);
    assert.equal(markdown.headers['content-type'], 'text/markdown; charset=utf-8');
    assert.match(markdown.body, /^# .+\n\n/, path);
    for (const { body } of [html, markdown]) assert.doesNotMatch(body, /pay\.example\.com/, path);
  }
});

test('every file that a page names is served, and every link leads into the documentation', async () => {
  const named = new Set<string>();
  const elsewhere = new Set<string>();
  for (const path of ['/docs', '/docs/api/products', '/docs/errors/100101']) {
    const { body } = await server.inject(path);
    for (const [, url = ''] of body.matchAll(/ (?:src|href)="(\/docs\/[^"#]+)"/g)) named.add(url);
    for (const [, url = ''] of body.matchAll(/ href="(\/(?!docs[/"#.])[^"]*)"/g)) elsewhere.add(url);
  }
  assert.ok(named.size > 40, String(named.size));
  assert.deepEqual([...elsewhere], []);
  for (const url of named) assert.equal((await server.inject(url)).statusCode, 200, url);
});

test('a page that is missing reads the names of the pages’ scripts', async () => {
  const names = await server.inject('/docs/hashmap.json');
  assert.deepEqual([names.statusCode, names.headers['content-type']], [200, 'application/json']);
  assert.equal(typeof names.json()['errors_100101.md'], 'string');
});

test('only pages of the sidebar name the next page', async () => {
  const [listed, single] = await Promise.all(
    ['/docs/conventions', '/docs/errors/100101'].map((path) => server.inject(path)),
  );
  assert.match(listed?.body ?? '', /Next page/);
  assert.doesNotMatch(single?.body ?? '', /Next page|Previous page/);
});

// proves W8.5
test('llms.txt lists the pages, and llms-full.txt holds them', async () => {
  const [short, full] = await Promise.all([server.inject('/llms.txt'), server.inject('/llms-full.txt')]);
  assert.match(short.body, /^# Florin\n\n> [^\n]+\n\n/);
  const linked = [...short.body.matchAll(/^- \[[^\]]+\]\((\S+)\): /gm)].map((match) => match[1] ?? '');
  assert.ok(linked.length > 15);
  // Pages of single errors and contract functions are too many to list.
  const isSingle = (path: string) => /^\/docs\/(?:errors\/\d+|contracts\/[\w-]+\/[\w-]+)$/.test(path);
  const listed = paths.filter((path) => path !== '/docs' && !isSingle(path));
  assert.deepEqual(linked.toSorted(), listed.map((path) => `${origin}${path}.md`).sort());
  for (const url of linked) {
    const reply = await server.inject(url.slice(origin.length));
    assert.equal(reply.statusCode, 200, url);
    assert.ok(full.body.includes(reply.body), url);
  }
  for (const name of ['llms.txt', 'llms-full.txt']) {
    const alias = await server.inject(`/aipay/${name}`);
    assert.equal(alias.body, (await server.inject(`/${name}`)).body);
  }
});

test('the page about chains has those of the installation', async () => {
  const expected = world.deps.chains.all.map((chain) => ({
    name: chain.name,
    chainId: chain.chainId,
    final: finalityText(chain.finality),
    usualSeconds: expectedSecondsToFinal(chain),
  }));
  assert.ok(expected.length > 0);
  assert.deepEqual((await server.inject('/docs/chains.json')).json(), expected);
  const { body } = await server.inject('/docs/chains.md');
  const rows = expected.map(
    ({ name, chainId, final, usualSeconds }) => `| ${name} | ${chainId} | ${final} | ${usualSeconds} s |\n`,
  );
  assert.ok(body.includes(`| --- | --- | --- | --- |\n${rows.join('')}\n`), body);
});

test('files travel compressed, assets are cached for a year, and pages are asked for again', async () => {
  const { body } = await server.inject('/docs');
  const [, asset = ''] = /src="(\/docs\/assets\/app\.[^"]+)"/.exec(body) ?? [];
  for (const [url, caching] of [
    [asset, 'public, max-age=31536000, immutable'],
    ['/docs', 'public, no-cache'],
  ] as const) {
    const plain = await server.inject(url);
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(plain.headers['cache-control'], caching);
    for (const [coding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const coded = await server.inject({ url, headers: { 'accept-encoding': coding } });
      assert.equal(coded.headers['content-encoding'], coding);
      assert.equal(coded.headers['vary'], 'accept, accept-encoding');
      assert.equal(decode(coded.rawPayload).toString(), plain.body);
    }
    const etag = String(plain.headers['etag']);
    for (const known of [etag, etag.slice('W/'.length), `"other", ${etag}`, '*']) {
      const again = await server.inject({ url, headers: { 'if-none-match': known } });
      assert.deepEqual([again.statusCode, again.body], [304, ''], known);
      assert.equal(again.headers['content-length'], undefined);
      assert.equal(again.headers['etag'], etag);
    }
    const other = await server.inject({ url, headers: { 'if-none-match': '"other"' } });
    assert.equal(other.statusCode, 200);
  }
});

const unknown = [
  '/docs/no-such-page',
  '/docs/..%2f..%2fpackage.json',
  '/docs/404',
  '/docs/404.html',
  '/docs/%00',
];

for (const url of unknown) {
  test(`${url} is a page that says so for browsers, and 404000 for programs`, async () => {
    const page = await server.inject({ url, headers: browser });
    assert.deepEqual([page.statusCode, page.headers['content-type']], [404, 'text/html; charset=utf-8']);
    assert.match(page.body, /<title>404 – Florin<\/title>/);
    const answer = await server.inject(url);
    assert.deepEqual([answer.statusCode, answer.json().code], [404, 404000]);
  });
}

test('before the first build every address says that the documentation is being built', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'florin-docs-'));
  const unbuilt = await serve(folder);
  try {
    for (const url of ['/docs', '/docs/errors/100101', '/llms.txt']) {
      const page = await unbuilt.inject({ url, headers: browser });
      assert.deepEqual(
        [page.statusCode, page.headers['retry-after'], page.headers['refresh']],
        [503, '3', '1'],
      );
      assert.match(page.body, /<h1>The documentation is being built<\/h1>/);
      const text = await unbuilt.inject(url);
      assert.deepEqual([text.statusCode, text.headers['content-type']], [503, 'text/plain; charset=utf-8']);
    }
  } finally {
    await unbuilt.close();
    await rm(folder, { recursive: true });
  }
});
