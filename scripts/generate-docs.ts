// Writes docs/reference/ from the route tables, the catalogue of errors, the tables of states, the rules of conformance
// and the documentation in the contracts.
//   node scripts/generate-docs.ts            writes
//   node scripts/generate-docs.ts --check    exits 1 when a committed file differs from its source
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  conformancePage,
  contractPage,
  guidePages,
  indexPage,
  type LinkTarget,
  referencePages,
  renderMarkdown,
} from '@florin/server/operator';
import { agentApi } from '../packages/protocol/src/agent-api.ts';
import { exampleOrigin } from '../packages/protocol/src/example.ts';
import { merchantApi } from '../packages/protocol/src/merchant-api.ts';
import { x402Api } from '../packages/protocol/src/x402-api.ts';
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

/** Every file below docs/ with its text. */
function generate(): Map<string, string> {
  const conformance = conformanceMarkdown(root);
  const pages = referencePages({ origin: exampleOrigin, tables: [merchantApi, agentApi, x402Api] });
  const contracts = contractPages(root);
  const ofContracts = [...contracts].map(([file, text]) =>
    contractPage(file.slice('reference/contracts/'.length), text),
  );
  const index = indexPage([...guidePages(), ...pages, conformancePage(conformance), ...ofContracts]);
  const files = new Map(
    [...pages, index].map((page) => {
      const file = fileOf(page.path);
      return [file, renderMarkdown(page, targetFrom(file))];
    }),
  );
  for (const [file, text] of contracts) files.set(file, text);
  return files.set('reference/conformance.md', conformance);
}

/** The file of a page, below docs/. */
function fileOf(path: string): string {
  if (path === '/docs') return 'reference/README.md';
  const rest = path.slice('/docs/'.length);
  if (/^contracts(?:\/[\w-]+)?$/.test(rest)) return `reference/${rest}/README.md`;
  return rest.startsWith('guide/') ? `${rest}.md` : `reference/${rest}.md`;
}

/** Links between files are relative, so that they work wherever the repository is read. */
function targetFrom(file: string): LinkTarget {
  return (target) => {
    const [path = '', anchor] = target.split('#');
    if (!path.startsWith('/docs')) return target;
    const to = relative(posix.dirname(file), fileOf(path));
    return anchor === undefined ? to : `${to}#${anchor}`;
  };
}

function filesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
