// Runs the published packages in Deno, Bun and the runtime of Workers, whose binaries are too large to be everybody's dependencies: they come from npm
// into a folder of their own, and go with it.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const processors = {
  x64: { deno: 'x64', bun: 'x64', workerd: '64' },
  arm64: { deno: 'arm64', bun: 'aarch64', workerd: 'arm64' },
} as const;
const versions = { deno: '2.9.6', bun: '1.4.5', workerd: '1.20261117.1' } as const;

function namesOf({ arch, platform }: NodeJS.Process) {
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64'))
    throw new Error(`the binaries are chosen for Linux on x64 and arm64, not for ${platform} on ${arch}`);
  const { deno, bun, workerd } = processors[arch];
  return {
    deno: `@deno/linux-${deno}-glibc`,
    bun: `@oven/bun-linux-${bun}`,
    workerd: `@cloudflare/workerd-linux-${workerd}`,
  };
}

const folder = mkdtempSync(join(tmpdir(), 'florin-runtimes-'));
try {
  const { deno, bun, workerd } = namesOf(process);
  const packages = [`${deno}@${versions.deno}`, `${bun}@${versions.bun}`, `${workerd}@${versions.workerd}`];
  const install = ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', '--prefix', folder];
  execFileSync('npm', [...install, ...packages], { stdio: 'inherit' });
  const tests = ['apps/server/test/life/agent-runtime.deep.test.ts', 'packages/sdk/src/runtime.test.ts'].map(
    (path) => fileURLToPath(new URL(`../${path}`, import.meta.url)),
  );
  execFileSync(process.execPath, ['--conditions=source', '--test', ...tests], {
    stdio: 'inherit',
    env: {
      ...process.env,
      FLORIN_DENO: join(folder, 'node_modules', deno, 'deno'),
      FLORIN_BUN: join(folder, 'node_modules', bun, 'bin', 'bun'),
      FLORIN_WORKERD: join(folder, 'node_modules', workerd, 'bin', 'workerd'),
    },
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
