import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The package as it is published: packed, installed into a clean folder, and used there. */

const run = promisify(execFile);
const checkout = fileURLToPath(new URL('../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'florin-react-package-'));
const tools = [
  ...['publint@0.3.25', '@arethetypeswrong/cli@0.18.5', 'typescript@5.9.3'],
  ...['react@18.3.1', 'react-dom@18.3.1', '@types/react@18.3.27'],
];
let tarball: string;

before(() => {
  // This repository runs no scripts of packages, so packing alone would not build.
  execFileSync('npm', ['run', 'build', '--workspace', '@florin/react'], { cwd: checkout, stdio: 'ignore' });
  const pack = ['pack', '--workspace', '@florin/react', '--pack-destination', folder, '--json'];
  const [{ filename }] = JSON.parse(
    execFileSync('npm', pack, { cwd: checkout, encoding: 'utf8' }).replace(/^[^[]*/, ''),
  );
  tarball = join(folder, filename);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball, ...tools];
  execFileSync('npm', install, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
});
after(() => rmSync(folder, { recursive: true }));

function tool(name: string, ...args: readonly string[]): Promise<{ stdout: string }> {
  return run(process.execPath, [join(folder, 'node_modules/.bin', name), ...args], { cwd: folder });
}

test('publint and are-the-types-wrong find nothing, and React is the only peer', async () => {
  const { stdout } = await tool('publint', 'run', '--strict', tarball);
  assert.match(stdout, /All good!/);
  await tool('attw', '--profile', 'esm-only', tarball);
  const installed = JSON.parse(readFileSync(join(folder, 'node_modules/@florin/react/package.json'), 'utf8'));
  assert.deepEqual([installed.dependencies ?? {}, installed.peerDependencies], [{}, { react: '>=18' }]);
  // Frameworks with server components need the mark at the top.
  const script = readFileSync(join(folder, 'node_modules/@florin/react/dist/florin-react.js'), 'utf8');
  assert.match(script, /^'use client';/);
});

test('the README’s component compiles strictly with React 18, which renders it', async () => {
  const [, example = ''] =
    /```tsx\n([\s\S]*?)```/.exec(readFileSync(join(checkout, 'packages/react/README.md'), 'utf8')) ?? [];
  writeFileSync(join(folder, 'buy.tsx'), example);
  const options = ['--strict', '--exactOptionalPropertyTypes', '--jsx', 'react-jsx', '--module', 'nodenext'];
  await tool('tsc', ...options, '--lib', 'es2022,dom', '--skipLibCheck', 'buy.tsx');
  const render = `import { createElement } from 'react'; import { renderToStaticMarkup } from 'react-dom/server';
    import { Buy } from './buy.js'; console.log(renderToStaticMarkup(createElement(Buy)));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', render], { cwd: folder });
  assert.equal(stdout.trim(), '<florin-button>Buy tea</florin-button><p>none</p>');
});
