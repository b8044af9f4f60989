// Runs the published packages in Deno and Bun, whose binaries are too large to be everybody's dependencies: they come from npm
// into a folder of their own, and go with it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const processors = { x64: { deno: 'x64', bun: 'x64' }, arm64: { deno: 'arm64', bun: 'aarch64' } } as const;
const versions = { deno: '2.9.6', bun: '1.4.5' } as const;

function namesOf({ arch, platform }: NodeJS.Process) {
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64'))
    throw new Error(`the binaries are chosen for Linux on x64 and arm64, not for ${platform} on ${arch}`);
  const { deno, bun } = processors[arch];
  return { deno: `@deno/linux-${deno}-glibc`, bun: `@oven/bun-linux-${bun}` };
}

const folder = mkdtempSync(join(tmpdir(), 'florin-runtimes-'));
try {
  const { deno, bun } = namesOf(process);
  const packages = [`${deno}@${versions.deno}`, `${bun}@${versions.bun}`];
  const install = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  execFileSync('npm', [...install, ...packages], { stdio: 'inherit' });
  const tests = ['apps/server/test/life/agent-runtime.test.ts', 'packages/sdk/src/runtime.test.ts'].map(
    (path) => fileURLToPath(new URL(`../${path}`, import.meta.url)),
  );
  execFileSync(process.execPath, ['--conditions=source', '--test', ...tests], {
    stdio: 'inherit',
    env: {
      ...process.env,
      FLORIN_DENO: join(folder, 'node_modules', deno, 'deno'),
      FLORIN_BUN: join(folder, 'node_modules', bun, 'bin', 'bun'),
    },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
