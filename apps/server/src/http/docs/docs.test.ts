import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliveryMoves, webhookMoves } from '@florin/outbox';
import { agentApi } from '@florin/protocol/agent-api.ts';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import type { FastifyInstance } from 'fastify';
import { productMoves } from '#catalog/product.machine.ts';
import { sentMoves } from '#chains/sender/sent.machine.ts';
import { depositMoveTransitions } from '#deposits/deposit-move.machine.ts';
import { exceptionMoves } from '#exceptions/exception.machine.ts';
import { linkMoves } from '#links/link.machine.ts';
import { systemRandom } from '#outside/random.ts';
import { refundMoves } from '#refunds/refund.machine.ts';
import { sessionMoves } from '#sessions/session.machine.ts';
import { legMoves } from '#settlement/leg.machine.ts';
import { silentLog } from '#telemetry/log.ts';
import { buildServer } from '../server.ts';
import { docsDoor } from './docs-door.ts';
import { renderDocsPage } from './html-page.ts';
import { inlineParts, parseMarkdown, renderMarkdown } from './markdown.ts';
import { anchorOf, type Block, type DocsPage } from './page.ts';
import { sitePages } from './site.ts';

const options = { origin: exampleOrigin, tables: [merchantApi, agentApi, x402Api] };
const pages = sitePages(options);
let server: FastifyInstance;

before(async () => {
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: exampleOrigin,
    doors: [docsDoor(options)],
    ready: async () => ({ ready: true, checks: {} }),
  });
});

after(async () => {
  await server.close();
});

function texts(block: Block): readonly string[] {
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return [block.text];
    case 'list':
      return block.items;
    case 'code':
      return [];
    case 'table':
      return [...block.head, ...block.rows.flat()];
  }
}

test('every page is served as HTML without scripts and as Markdown at the same path', async () => {
  for (const { path, title } of pages) {
    const [html, markdown] = await Promise.all([server.inject(path), server.inject(`${path}.md`)]);
    assert.equal(html.statusCode, 200, path);
    assert.equal(html.headers['content-type'], 'text/html; charset=utf-8');
    assert.match(String(html.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-/);
    assert.doesNotMatch(html.body, /<script|\son[a-z]+=|style="/i, path);
    assert.equal(markdown.statusCode, 200, path);
    assert.equal(markdown.headers['content-type'], 'text/markdown; charset=utf-8');
    assert.ok(markdown.body.startsWith(`# ${title}\n`), path);
  }
});

test('every link of a page leads to an existing page and heading', () => {
  const anchors = new Map(
    pages.map((page) => [
      page.path,
      new Set(page.blocks.flatMap((block) => (block.kind === 'heading' ? [anchorOf(block.text)] : []))),
    ]),
  );
  const broken = pages.flatMap((page) =>
    [page.summary, ...page.blocks.flatMap(texts)]
      .flatMap(inlineParts)
      .flatMap((part) => (part.kind === 'link' ? [part.href] : []))
      .filter((href) => href.startsWith('/') && href !== '/openapi.json')
      .filter((href) => {
        const [path = '', anchor] = href.split('#');
        const known = anchors.get(path);
        return known === undefined || (anchor !== undefined && !known.has(anchor));
      })
      .map((href) => `${page.path} -> ${href}`),
  );
  assert.deepEqual(broken, []);
});

test('headings of a page have unique anchors', () => {
  for (const { path, blocks } of pages) {
    const anchors = blocks.flatMap((block) => (block.kind === 'heading' ? [anchorOf(block.text)] : []));
    assert.equal(new Set(anchors).size, anchors.length, path);
  }
});

test('the page about states prints every move of every table', () => {
  const page = pages.find(({ path }) => path === '/docs/states');
  const rows = page?.blocks.flatMap((block) => (block.kind === 'table' ? block.rows : [])) ?? [];
  for (const { from, trigger, to } of sessionMoves) {
    const target = from === to ? 'stays' : `\`${to}\``;
    assert.ok(
      rows.some((row) => row[0] === `\`${from}\`` && row[1] === `\`${trigger}\`` && row[3] === target),
      `${from} ${trigger} ${to}`,
    );
  }
  const tables = [
    ...[productMoves, linkMoves, refundMoves, exceptionMoves, webhookMoves, deliveryMoves],
    ...[legMoves, sentMoves, depositMoveTransitions],
  ];
  for (const { from, trigger, to } of tables.flat()) {
    const cells = [`\`${from}\``, `\`${trigger}\``, from === to ? 'stays' : `\`${to}\``];
    assert.ok(
      rows.some((row) => cells.every((cell, index) => row[index] === cell)),
      cells.join(' '),
    );
  }
});

// proves W8.5
test('llms.txt lists the pages, and llms-full.txt holds them', async () => {
  const [short, full] = await Promise.all([server.inject('/llms.txt'), server.inject('/llms-full.txt')]);
  assert.match(short.body, /^# Florin\n\n> [^\n]+\n\n/);
  const linked = [...short.body.matchAll(/^- \[[^\]]+\]\((\S+)\): /gm)].map((match) => match[1] ?? '');
  assert.ok(linked.length > 15);
  // Pages of single errors and contract functions are too many to list.
  const isSingle = (path: string) => /^\/docs\/(?:errors\/\d+|contracts\/[\w-]+\/[\w-]+)$/.test(path);
  const listed = pages.filter(({ path }) => path !== '/docs' && !isSingle(path));
  assert.deepEqual(linked.toSorted(), listed.map(({ path }) => `${exampleOrigin}${path}.md`).sort());
  for (const url of linked) {
    assert.ok(url.startsWith(`${exampleOrigin}/docs`), url);
    const reply = await server.inject(url.slice(exampleOrigin.length));
    assert.equal(reply.statusCode, 200, url);
    assert.ok(full.body.includes(reply.body), url);
  }
});

test('page content becomes text in HTML, never markup', () => {
  const page: DocsPage = {
    path: '/docs/x',
    title: '<b>',
    summary: '"&\'<i>',
    section: 'API',
    blocks: [
      { kind: 'paragraph', text: '`<u>` **<u>** [<u>](/docs?"><u>)' },
      { kind: 'code', language: 'html', text: '</code><script>' },
      { kind: 'table', head: ['<u>'], rows: [['<u>']] },
    ],
  };
  assert.doesNotMatch(renderDocsPage(page), /<b>|<i>|<u>|<script/);
});

test('rendered Markdown parses to the same page', () => {
  for (const page of pages) {
    const { title, summary, blocks } = parseMarkdown(renderMarkdown(page, (target) => target));
    assert.deepEqual(
      { title, summary, blocks },
      { title: page.title, summary: page.summary, blocks: page.blocks },
    );
  }
});
