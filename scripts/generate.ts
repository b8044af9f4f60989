import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Writes everything that is generated from a source. With --check nothing is written: it exits 1 when a committed file
 * differs from what its source gives. The contracts' files are checked where the contracts are compiled, in `npm test contracts`.
 */

const args = process.argv.slice(2);
const generators = [
  ...(args.includes('--check') ? [] : ['generate-contracts.ts']),
  'generate-docs.ts',
  'generate-kit.ts',
  'generate-lists.ts',
  'generate-sdk.ts',
  'generate-tokens.ts',
  'generate-trees.ts',
];
const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

let failures = 0;
for (const generator of generators) {
  const script = fileURLToPath(new URL(generator, import.meta.url));
  const { status } = spawnSync(process.execPath, [...flags, script, ...args], {
    stdio: 'inherit',
  });
  if (status !== 0) failures += 1;
}
process.exitCode = failures === 0 ? 0 : 1;
