import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

/** The programs of each system as the registry has them, also of those that nothing runs on here. */

interface PlatformPackage {
  readonly name: string;
  readonly version: string;
}
const load = createRequire(import.meta.url);
const table: Record<string, Record<string, PlatformPackage>> = load('./platform-packages.json');
const {
  placePackages,
}: {
  placePackages(
    modules: string,
    packages: readonly PlatformPackage[],
    download: (specs: readonly string[], folder: string) => void,
  ): Promise<void>;
} = load('./platform.cjs');

/** What a command starts of each kind of package. */
const programsOf: Readonly<Record<string, readonly string[]>> = {
  node: ['bin/node'],
  anvil: ['bin/anvil'],
  forge: ['bin/forge'],
  postgres: ['native/bin/postgres', 'native/bin/initdb', 'native/bin/pg_ctl'],
  // JavaScript, made for no system.
  solc: [],
};

/** The systems that a program is made for: ELF names one processor, and a universal Mach-O several. */
function systemsOf(path: string): string[] {
  const head = Buffer.alloc(48);
  const file = openSync(path, 'r');
  readSync(file, head);
  closeSync(file);
  const isUniversal = head.readUInt32BE(0) === 0xcafebabe;
  if (head.subarray(0, 4).toString('latin1') === '\x7fELF')
    return [{ 62: 'linux-x64', 183: 'linux-arm64' }[head.readUInt16LE(18)] ?? 'unknown'];
  const processors = isUniversal
    ? [head.readUInt32BE(8), head.readUInt32BE(28)].slice(0, head.readUInt32BE(4))
    : [head.readUInt32LE(0) === 0xfeedfacf ? head.readUInt32LE(4) : 0];
  return processors.map(
    (processor) => ({ 16777223: 'darwin-x64', 16777228: 'darwin-arm64' })[processor] ?? 'unknown',
  );
}

for (const [system, kinds] of Object.entries(table))
  test(`the programs for ${system} are those that this checkout names, and made for it`, async () => {
    const modules = mkdtempSync(join(tmpdir(), 'florin-programs-'));
    try {
      await placePackages(modules, Object.values(kinds), (specs, folder) =>
        execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, ...specs], {
          stdio: 'ignore',
        }),
      );
      for (const [kind, { name }] of Object.entries(kinds))
        for (const program of programsOf[kind] ?? assert.fail(kind)) {
          const path = join(modules, name, program);
          assert.ok(systemsOf(path).includes(system), path);
          assert.equal(statSync(path).mode & 0o111, 0o111, path);
        }
    } finally {
      rmSync(modules, { recursive: true });
    }
  });
