import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { agentApi } from './agent-api.ts';
import { merchantApi } from './merchant-api.ts';
import { openApiDocument } from './openapi.ts';
import { x402Api } from './x402-api.ts';

/** The programs of the guide “Generate a client”, compiled against what generators make of the document. */

const run = promisify(execFile);
const guide = readFileSync(
  fileURLToPath(new URL('../../../docs/guide/generate-a-client.md', import.meta.url)),
  'utf8',
);
/** Too large to be everybody's dependencies. */
const packages = [
  'openapi-typescript@7.13.0',
  'openapi-fetch@0.17.0',
  '@hey-api/openapi-ts@0.99.0',
  '@redocly/cli@2.77.0',
  '@types/node@24.19.2',
  'typescript@5.9.3',
];
const folder = mkdtempSync(join(tmpdir(), 'florin-clients-'));

before(() => {
  const tables = [merchantApi, agentApi, x402Api];
  const document = openApiDocument({ origin: 'https://pay.florin.test', tables });
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder];
  execFileSync('npm', ['install', ...flags, ...packages], { stdio: ['ignore', 'ignore', 'inherit'] });
});
after(() => rmSync(folder, { recursive: true }));

function tool(name: string, ...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off' };
  return run(process.execPath, [join(folder, 'node_modules/.bin', name), ...args], { cwd: folder, env });
}

function programOf(name: string): string {
  const program = new RegExp(`^\`\`\`ts ${name}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(guide)?.[1];
  assert.ok(program !== undefined, name);
  return program;
}

/** What the compiler says about a program; empty when it compiles. */
async function errorsIn(file: string, program: string, module: string): Promise<string> {
  writeFileSync(join(folder, file), program);
  const options = ['--noEmit', '--strict', '--noPropertyAccessFromIndexSignature', '--target', 'es2022'];
  const more = ['--module', module, '--skipLibCheck', '--allowImportingTsExtensions'];
  try {
    await tool(
      'tsc',
      ...options,
      ...more,
      ...(module === 'nodenext' ? [] : ['--moduleResolution', 'bundler']),
      file,
    );
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test('a linter finds no error and no weakness in the document', async () => {
  // `Failure` is for people who want a type of all failures.
  const { stderr } = await tool('redocly', 'lint', '--skip-rule=no-unused-components', 'openapi.json');
  assert.match(stderr, /is valid/);
  assert.doesNotMatch(stderr, /warning/);
});

test('the program for openapi-typescript compiles without a cast, and one with a wrong slug or type does not', async () => {
  await tool('openapi-typescript', 'openapi.json', '--output', 'florin.d.ts');
  const program = programOf('payments.ts');
  assert.doesNotMatch(program, / as |: any|!\./);
  assert.equal(await errorsIn('payments.ts', program, 'nodenext'), '');
  for (const [right, wrong] of [
    ["'session_not_found'", "'sesion_not_found'"],
    ["'session_not_found'", "'link_not_found'"],
    ["'session.expired'", "'session.over'"],
    ['data.code === 0', 'data.code === 1'],
    ['data.data.session.payment', 'data.data.payment'],
  ] as const) {
    const broken = program.replace(right, wrong);
    assert.notEqual(broken, program);
    assert.match(await errorsIn('broken.ts', broken, 'nodenext'), /error TS/, wrong);
  }
});

test('the program for Hey API compiles without a cast, and one with a wrong slug does not', async () => {
  await tool('openapi-ts', '--input', 'openapi.json', '--output', 'florin');
  const program = programOf('payments-hey.ts');
  assert.doesNotMatch(program, / as |: any|!\./);
  assert.equal(await errorsIn('payments-hey.ts', program, 'esnext'), '');
  const broken = program.replace('session_not_found', 'sesion_not_found');
  assert.match(await errorsIn('broken-hey.ts', broken, 'esnext'), /error TS2367/);
});
