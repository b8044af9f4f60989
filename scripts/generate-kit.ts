// Writes packages/kit/florin-kit.html: one file that needs nothing but a browser, out of packages/kit/page.html and the modules of packages/kit/src.
//   node scripts/generate-kit.ts            writes
//   node scripts/generate-kit.ts --check    exits 1 when the committed file differs from its source
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const pageFile = join(root, 'packages/kit', 'florin-kit.html');

await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  const text = await renderPage();
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
async function renderPage(): Promise<string> {
  const template = readFileSync(join(root, 'packages/kit', 'page.html'), 'utf8');
  const code = await bundleScript();
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

/** All modules of the page in one script, readable as it is. */
async function bundleScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'packages/kit/src/page.ts')],
    absWorkingDir: root,
    bundle: true,
    conditions: ['source'],
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'silent',
  });
  // Where npm puts a package must not change the page.
  return (outputFiles[0]?.text ?? '').trim().replaceAll(/^( *\/\/ ).*node_modules\//gm, '$1');
}
