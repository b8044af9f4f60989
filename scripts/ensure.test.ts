import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const scripts = fileURLToPath(new URL('.', import.meta.url));
const { packagesOf }: { packagesOf(): Record<string, { name: string; version: string }> } = createRequire(
  import.meta.url,
)('./platform.cjs');

/** A checkout without dependencies, whose Node.js is the packaged one. Returns its folder and that program. */
function makeCheckout() {
  const checkout = mkdtempSync(join(tmpdir(), 'florin ensure '));
  mkdirSync(join(checkout, 'scripts'));
  for (const name of ['ensure.cjs', 'platform.cjs', 'platform-packages.json'])
    copyFileSync(join(scripts, name), join(checkout, 'scripts', name));
  const manifest = { name: 'checkout', version: '1.0.0' };
  const lock = { ...manifest, lockfileVersion: 3, requires: true, packages: { '': manifest } };
  writeFileSync(join(checkout, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify(lock));
  const packaged = packagesOf()['node'];
  assert.ok(packaged !== undefined);
  const node = join(checkout, 'node_modules', packaged.name, 'bin', 'node');
  mkdirSync(dirname(node), { recursive: true });
  writeFileSync(join(dirname(node), '..', 'package.json'), JSON.stringify(packaged));
  // The program is large, and its folder may be on another disk.
  try {
    linkSync(process.execPath, node);
  } catch {
    copyFileSync(process.execPath, node);
  }
  return { checkout, node };
}

const npmScript = execFileSync('sh', ['-c', 'readlink -f "$(command -v npm)"'], { encoding: 'utf8' }).trim();

/** Installs on the checkout's own Node.js, without a registry; returns the Node.js that is found then. */
function ensure(checkout: string, node: string, settings: Record<string, string>): string {
  const program = `const ensure = require('./scripts/ensure.cjs');
    ensure.ensureInstalled(['node']).then(() => console.log(ensure.findNode()));`;
  const own = Object.entries(process.env).filter(([name]) => !/^npm_/.test(name));
  const env = { ...Object.fromEntries(own), npm_config_registry: 'http://127.0.0.1:1', ...settings };
  const { status, stdout, stderr } = spawnSync(node, ['-e', program], {
    cwd: checkout,
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

const skip = packagesOf()['node'] === undefined && 'this system uses the Node.js of the machine';

test('a changed lockfile is installed on the Node.js of the checkout itself, which stays', { skip }, () => {
  const { checkout, node } = makeCheckout();
  try {
    for (const settings of [{}, { npm_execpath: npmScript }]) {
      rmSync(join(checkout, 'node_modules', '.florin-lock-hash'), { force: true });
      assert.equal(ensure(checkout, node, settings), node);
      assert.ok(existsSync(join(checkout, 'node_modules', '.florin-lock-hash')));
      assert.equal(existsSync(join(checkout, 'node_modules', '.florin-aside')), false);
    }
    assert.match(readFileSync(join(dirname(node), '..', 'package.json'), 'utf8'), /"integrity"/);
  } finally {
    rmSync(checkout, { recursive: true });
  }
});
