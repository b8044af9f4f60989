import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deliveryMoves, webhookMoves } from '@florin/outbox';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import {
  depositMoveTransitions,
  exceptionMoves,
  legMoves,
  linkMoves,
  productMoves,
  refundMoves,
  sentMoves,
  sessionMoves,
} from '@florin/server/documents';
import { deepOnly } from '@florin/server/testing';
import { createMarkdownRenderer } from 'vitepress';
import { anchorOf, headingsOf, headOf, mapLinks, plainText } from './markdown.ts';
import { readPages, readSections, servedMarkdown } from './pages.ts';
import { siteConfig } from './site/config.ts';
import { filePath, sitePath } from './site-path.ts';

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
const pages = readPages(docs);

function linkTargets(markdown: string): string[] {
  const targets: string[] = [];
  mapLinks(markdown, (target) => {
    targets.push(target);
    return target;
  });
  return targets;
}

test('every link of a page leads to an existing page and heading', () => {
  const anchors = new Map(
    [...pages.values()].map(({ path, markdown }) => [path, new Set(headingsOf(markdown).map(anchorOf))]),
  );
  const broken = [...pages.values()].flatMap(({ path: from, markdown }) =>
    linkTargets(markdown)
      .filter((target) => !/^https?:\/\//.test(target) && target !== '/openapi.json')
      .filter((target) => {
        const [path = '', anchor] = target.split('#');
        const known = anchors.get(path === '' ? from : path);
        return known === undefined || (anchor !== undefined && !known.has(anchor));
      })
      .map((target) => `${from} -> ${target}`),
  );
  assert.ok(pages.size > 130);
  assert.deepEqual(broken, []);
});

test('no two pages have the same title, by which a search shows them', () => {
  const titles = Map.groupBy(pages.values(), ({ title }) => title.toLowerCase());
  const shared = [...titles].filter(([, those]) => those.length > 1);
  assert.deepEqual(
    shared.map(([title, those]) => [title, those.map(({ path }) => path)]),
    [],
  );
});

test('headings of a page have unique anchors', () => {
  for (const { path, markdown } of pages.values()) {
    const anchors = headingsOf(markdown).map(anchorOf);
    assert.equal(new Set(anchors).size, anchors.length, path);
  }
});

test('the sidebar lists every page but those of single errors and contract operations', () => {
  const listed = readSections(pages).flatMap((section) => section.pages.map(({ path }) => path));
  const single = /^\/docs\/(?:errors\/\d+|contracts\/[\w-]+\/[\w-]+)$/;
  const expected = [...pages.keys()].filter((path) => path !== '/docs' && !single.test(path));
  assert.deepEqual(listed.toSorted(), expected.toSorted());
});

test('the page about states prints every move of every table', () => {
  const rows = [...(pages.get('/docs/states')?.markdown ?? '').matchAll(/^\| (.*) \|$/gm)].map(
    ([, row = '']) => row.split(' | '),
  );
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

test('the JavaScript of every operation is valid', () => {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const snippets = programsIn('js');
  assert.ok(snippets.length > 40);
  for (const snippet of snippets) assert.doesNotThrow(() => new AsyncFunction(snippet), snippet);
});

/** The programs of a language in the pages of the API. */
function programsIn(language: string): string[] {
  return [...pages.values()]
    .filter(({ path }) => path.startsWith('/docs/api/'))
    .flatMap(({ markdown }) =>
      [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\`$`, 'gm'))].map(
        ([, text = '']) => text,
      ),
    );
}

test('every operation of a merchant is shown as a call of the SDK', () => {
  assert.equal(programsIn('ts').length, Object.keys(merchantApi.routes).length);
});

test('the calls of the SDK compile, and the programs in Python parse', deepOnly, () => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  mkdirSync(join(root, '.test'), { recursive: true });
  const folder = mkdtempSync(join(root, '.test/snippets-'));
  try {
    for (const [index, text] of programsIn('ts').entries())
      writeFileSync(
        join(folder, `${index}.ts`),
        text.replace('@florin/sdk', '../../packages/sdk/src/florin.ts'),
      );
    const compilerOptions = { noPropertyAccessFromIndexSignature: false };
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }),
    );
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' });
    assert.equal(stdout, '');
    const check = 'import ast, json, sys; [ast.parse(text) for text in json.load(sys.stdin)]';
    const input = JSON.stringify(programsIn('py'));
    const { error, stderr } = spawnSync('python3', ['-c', check], { input, encoding: 'utf8' });
    // Without Python the programs are not judged.
    if (error === undefined) assert.equal(stderr, '');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a link in code is no link, and a link without a target becomes plain text', () => {
  const text = 'a [b](c.md#d)\n\n```js\n[x](y.md)\n```\n\n[e](f.md)\n';
  assert.equal(
    mapLinks(text, (target) => (target === 'f.md' ? undefined : `/docs/${target}`)),
    'a [b](/docs/c.md#d)\n\n```js\n[x](y.md)\n```\n\ne\n',
  );
  assert.deepEqual(linkTargets(text), ['c.md#d', 'f.md']);
});

test('a page begins with a title and a summary', () => {
  assert.deepEqual(headOf('# A\n\nFirst line\nsecond.\n\nMore.\n'), {
    title: 'A',
    summary: 'First line second.',
  });
  for (const text of ['A\n\nB.\n', '# A\n\n## B\n', '# A\n\n- b\n']) assert.throws(() => headOf(text), text);
  assert.equal(plainText('**a** `b` [c](d)'), 'a b c');
});

test('files and site paths name each other', () => {
  for (const path of pages.keys()) assert.equal(sitePath(filePath(path)), path);
});

test('the served Markdown has absolute links to other Markdown', () => {
  assert.equal(
    servedMarkdown('[a](/docs/errors#b) [c](/openapi.json) [d](https://example.org)'),
    '[a](https://pay.example.com/docs/errors.md#b) [c](https://pay.example.com/openapi.json) [d](https://example.org)',
  );
});

test('long names of code may break between their words', async () => {
  const renderer = await createMarkdownRenderer(docs, siteConfig({ hash: '', sections: [] }).markdown);
  const html = renderer.render('| `lineItems[].productData`, `/list/:page`, `<a.b>` |\n|---|\n', {
    ...{ path: 'x.md', relativePath: 'x.md', cleanUrls: true },
  });
  const names = [...html.matchAll(/<code[^>]*>(.*?)<\/code>/g)].map(([, name]) => name);
  assert.deepEqual(names, [
    'line<wbr>Items[].<wbr>product<wbr>Data',
    '/<wbr>list/<wbr>:page',
    '&lt;a.<wbr>b&gt;',
  ]);
});

test('text of a page becomes text in HTML, never markup', async () => {
  const { markdown } = siteConfig({ hash: '', sections: [] });
  const renderer = await createMarkdownRenderer(docs, markdown);
  const html = renderer.render(
    '# <b>\n\n"&\'<i> `<u>` **<u>** [<u>](/docs?"><u>)\n\n```html\n</code><script>\n```\n\n| <u> |\n|---|\n| <u> |\n',
    { path: 'x.md', relativePath: 'x.md', cleanUrls: true },
  );
  assert.match(html, /<h1/);
  assert.doesNotMatch(html, /<b>|<i>|<u>|<script/);
});
