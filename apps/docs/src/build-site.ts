import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildOnce } from '@florin/build-once';
import { exampleOrigin } from '@florin/protocol/example.ts';
import { build, disposeMdItInstance } from 'vitepress';
import { llmsFullText, llmsText } from './llms.ts';
import { mapLinks, plainText } from './markdown.ts';
import { readPages, readSections, type SitePage, servedMarkdown } from './pages.ts';
import type { SiteContent } from './site/config.ts';

const source = dirname(fileURLToPath(import.meta.url));
const root = join(source, '../../..');
const dist = join(source, '../dist');

/** Builds the site unless the same content is built already. */
export function buildSite(): Promise<{ folder: string; isNew: boolean }> {
  return buildOnce({
    dist,
    root,
    sources: [
      'apps/docs/package.json',
      'docs/changelog.md',
      'docs/{guide,reference}/**/*.md',
      'apps/docs/src/**/*.*',
    ],
    entry: 'index.html',
    build: async (work, hash) => {
      await writeSources(work, hash);
      // VitePress keeps one renderer for the process, and another user's would not know the base path.
      disposeMdItInstance();
      await build(work, { outDir: join(work, 'out') });
      await writeTexts(join(work, 'out'));
    },
    policyOf,
  });
}

/** Writes a VitePress project: the pages, and a configuration that names our own configuration and theme. */
async function writeSources(work: string, hash: string): Promise<void> {
  const pages = readPages(join(root, 'docs'));
  const sections = readSections(pages);
  const listed = new Set(sections.flatMap((section) => section.pages.map(({ path }) => path)));
  for (const page of pages.values()) {
    await writeAt(
      join(work, 'pages', `${fileOf(page.path)}.md`),
      vitePressMarkdown(page, listed.has(page.path)),
    );
  }
  const content: SiteContent = {
    hash,
    sections: sections.map((section) => ({
      text: section.title,
      items: section.pages.map(({ title, path }) => ({ text: title, link: path.slice('/docs'.length) })),
    })),
  };
  const config = pathToFileURL(join(source, 'site/config.ts')).href;
  await writeAt(
    join(work, '.vitepress/config.mjs'),
    `const file = '${config}';
const { siteConfig } = await import(file);
export default siteConfig(${JSON.stringify(content)});
`,
  );
  await writeAt(
    join(work, '.vitepress/theme/index.mjs'),
    `export { default } from ${JSON.stringify(join(source, 'site/theme/index.ts'))};\n`,
  );
}

/**
 * VitePress puts the base path `/docs` before links that begin with a slash. It takes a page outside the sidebar for the
 * one before the first, so such a page names no neighbours.
 */
function vitePressMarkdown({ path, markdown, summary }: SitePage, isListed: boolean): string {
  const linked = mapLinks(markdown, (target) => {
    if (target.startsWith('/docs')) return target.slice('/docs'.length) || '/';
    return target.startsWith('/') ? `${exampleOrigin}${target}` : target;
  });
  const neighbours = isListed ? '' : 'prev: false\nnext: false\n';
  // Below each operation are its errors, whose headings say nothing new beside it.
  const outline = path.startsWith('/docs/api/') ? 'outline: 2\n' : '';
  return `---\ndescription: ${JSON.stringify(plainText(summary))}\n${neighbours}${outline}---\n\n${linked}`;
}

/** The Markdown of each page, and the indexes for language models. */
async function writeTexts(out: string): Promise<void> {
  const pages = readPages(join(root, 'docs'));
  const sections = readSections(pages);
  for (const { path, markdown } of pages.values()) {
    await writeAt(join(out, `${fileOf(path)}.md`), servedMarkdown(markdown));
  }
  await writeAt(join(out, 'llms.txt'), llmsText(sections));
  await writeAt(join(out, 'llms-full.txt'), llmsFullText(sections));
}

/** The name of a page's files, without their endings. */
function fileOf(path: string): string {
  return path === '/docs' ? 'index' : path.slice('/docs/'.length);
}

async function writeAt(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** Pages load only files of this service, and run only its scripts and the inline ones of the build, named by hash. */
async function policyOf(folder: string): Promise<string> {
  const html = await readFile(join(folder, 'index.html'), 'utf8');
  const hashes = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self'${hashes.join('')}`,
    "style-src 'self'",
    // The theme's icons are masks in its style sheet.
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
