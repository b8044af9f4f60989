// Writes packages/kit/florin-kit.html: one file that needs nothing but a browser, out of packages/kit/page.html and the modules of packages/kit/src.
//   node scripts/generate-kit.ts            writes
//   node scripts/generate-kit.ts --check    exits 1 when the committed file differs from its source
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pageFile = join(root, 'packages/kit', 'florin-kit.html');

/** In the order in which they use each other. */
const modules = [
  { name: '@florin/protocol/canonical-json.ts', path: 'packages/protocol/src/canonical-json.ts' },
  ...['keccak', 'wire', 'payment', 'receipt', 'deposit', 'page'].map((name) => ({
    name: `./${name}.ts`,
    path: `packages/kit/src/${name}.ts`,
  })),
];

main(process.argv.slice(2));

function main(args: readonly string[]): void {
  const text = renderPage();
  const isStale = !existsSync(pageFile) || readFileSync(pageFile, 'utf8') !== text;
  if (args.includes('--check')) {
    if (isStale) console.error('out of date: packages/kit/florin-kit.html\nrun: npm run generate');
    process.exitCode = isStale ? 1 : 0;
    return;
  }
  if (isStale) writeFileSync(pageFile, text);
  console.log(`the kit's page, ${isStale ? '1' : '0'} changed`);
}

/** The page allows exactly this script and this style, by their hashes. */
function renderPage(): string {
  const template = readFileSync(join(root, 'packages/kit', 'page.html'), 'utf8');
  const code = modules.map(({ name, path }) => bundleModule(name, path)).join('\n');
  const style = /<style>([\s\S]*?)<\/style>/.exec(template)?.[1] ?? '';
  const page = template
    .replace('{{style}}', () => hashSource(style))
    .replace('// The modules of packages/kit/src come here.', () => code);
  const script = /<script type="module">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  if (!script.includes('start()'))
    throw new Error('the script of the page holds the end of a script element');
  return page.replace('{{script}}', () => hashSource(script));
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A module as one constant that holds what it exports, so that private names of two modules cannot meet. */
function bundleModule(name: string, path: string): string {
  const source = stripTypeScriptTypes(readFileSync(join(root, path), 'utf8'))
    .replace(/^import\s*\{([^}]*)\}\s*from '([^']+)';$/gm, (_match, names: string, from: string) => {
      return `const {${names.replaceAll(/\s+/g, ' ')}} = ${nameOf(from)};`;
    })
    .replaceAll(/[ \t]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n');
  const exported = [...source.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(
    (match) => match[1],
  );
  const body = source.replaceAll(/^export /gm, '').trim();
  if (/^\s*(import|export) /m.test(body))
    throw new Error(`${path} imports or exports in a way that is not understood`);
  return `const ${nameOf(name)} = (() => {\n${body}\nreturn { ${exported.join(', ')} };\n})();\n`;
}

function nameOf(module: string): string {
  const name = module.replace(/^.*\//, '').replace(/\.ts$/, '');
  return `${name.replaceAll(/-(\w)/g, (_match, letter: string) => letter.toUpperCase())}Module`;
}
