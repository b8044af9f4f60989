// Writes docs/reference/ from the route tables, the catalogue of errors, the tables of states, the table of settings, the rules
// of conformance and the documentation in the contracts; and deploy/florin.schema.json from the settings.
//   node scripts/generate-docs.ts            writes
//   node scripts/generate-docs.ts --check    exits 1 when a committed file differs from its source
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filePath, indexMarkdown, mapLinks, pageMarkdown, referencePages, sitePath } from '@florin/docs';
import { settingsSchema } from '@florin/server/documents';
import { configurationMarkdown } from './generate-configuration.ts';
import { conformanceMarkdown } from './generate-conformance.ts';
import { contractPages } from './generate-contract-pages.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const docsFolder = join(root, 'docs');
const folder = join(docsFolder, 'reference');

main(process.argv.slice(2));

function main(args: readonly string[]): void {
  const outputs = generate();
  const stale = [...outputs].filter(([path, text]) => readIfPresent(join(docsFolder, path)) !== text);
  const orphans = filesIn(folder).filter((path) => !outputs.has(posix.join('reference', path)));
  if (args.includes('--check')) {
    for (const [path] of stale) console.error(`out of date: docs/${path}`);
    for (const path of orphans) console.error(`has no source: docs/reference/${path}`);
    if (stale.length + orphans.length > 0) console.error('run: npm run generate');
    process.exitCode = stale.length + orphans.length > 0 ? 1 : 0;
    return;
  }
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(docsFolder, path)), { recursive: true });
    writeFileSync(join(docsFolder, path), text);
  }
  for (const path of orphans) rmSync(join(folder, path));
  console.log(`${outputs.size} pages, ${stale.length} changed, ${orphans.length} removed`);
}

/** Every generated file below docs/ with its text. */
function generate(): Map<string, string> {
  const reference = new Map(referencePages().map((page) => [page.path, pageMarkdown(page)]));
  const files = new Map([
    ...contractPages(root),
    ['reference/conformance.md', conformanceMarkdown(root)],
    ['reference/configuration.md', configurationMarkdown()],
  ]);
  const index = indexMarkdown(
    new Map([
      ...['guide', 'runbook'].flatMap((part) =>
        filesIn(join(docsFolder, part))
          .sort()
          .map((name) => written(`${part}/${name}`)),
      ),
      ...reference,
      ...[...files].map(([file, text]) => [sitePath(file), text] as const),
      written('changelog.md'),
    ]),
  );
  for (const [path, text] of [...reference, ['/docs', index] as const]) {
    files.set(filePath(path), withFileLinks(filePath(path), text));
  }
  files.set('../deploy/florin.schema.json', `${JSON.stringify(settingsSchema(), null, 2)}\n`);
  return files;
}

/** The path and the text of a hand-written page. */
function written(file: string): [path: string, markdown: string] {
  return [sitePath(file), readFileSync(join(docsFolder, file), 'utf8')];
}

/** Links between files are relative, so that they work wherever the repository is read. */
function withFileLinks(file: string, markdown: string): string {
  return mapLinks(markdown, (target) => {
    const [path = '', anchor] = target.split('#');
    if (!path.startsWith('/docs')) return target;
    const to = posix.relative(posix.dirname(file), filePath(path));
    return anchor === undefined ? to : `${to}#${anchor}`;
  });
}

function filesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
