import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'contracts', 'src');

/** What is deployed, by file. Interfaces have no code, and the question about a signature is only asked. */
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.sol') && !/^(?:interfaces\/|CounterfactualSignature)/.test(file))
  .map((file) => ({ file, text: readFileSync(join(folder, file), 'utf8') }));

const isOfVaultOrRoute = (file: string): boolean => ['PayoutVault.sol', 'CctpRoute.sol'].includes(file);

/** Lines that are neither blank nor comment. */
function countLines(text: string): number {
  const code = text.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '');
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

test('an auditor reads at most 750 lines of the gateway and 220 of vault and route', () => {
  const sum = (chosen: typeof sources) => chosen.reduce((total, { text }) => total + countLines(text), 0);
  const gateway = sum(sources.filter(({ file }) => !isOfVaultOrRoute(file)));
  const vaultAndRoute = sum(sources.filter(({ file }) => isOfVaultOrRoute(file)));
  assert.ok(gateway <= 750, `gateway, parts and factory have ${gateway} lines`);
  assert.ok(vaultAndRoute <= 220, `vault and route have ${vaultAndRoute} lines`);
});

test('the contracts have at most eight blocks of assembly, and each says why', () => {
  // A blank line stands before the documentation of each function.
  const blocks = sources.flatMap(({ file, text }) =>
    text
      .split(/\n\n(?= {4}\S)/)
      .filter((part) => part.includes('assembly ('))
      .map((part) => ({ file, hasReason: /In assembly, (?:so that|because)|costs\s[\d,]+ gas/.test(part) })),
  );
  const count = sources.reduce((total, { text }) => total + text.split('assembly (').length - 1, 0);
  assert.ok(count <= 8, `there are ${count}`);
  assert.equal(blocks.length, count, 'two in one function');
  assert.deepEqual(
    blocks.filter(({ hasReason }) => !hasReason),
    [],
  );
});
