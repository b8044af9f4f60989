import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
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
import { createInterface } from 'node:readline';
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
  for (const name of ['ensure.cjs', 'platform.cjs', 'progress.cjs', 'platform-packages.json'])
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

test('an installation says how many packages are there, until it ends', { skip }, async () => {
  const { checkout, node } = makeCheckout();
  try {
    const packages = {
      'node_modules/tea': { version: '1.0.0' },
      'apps/cup/node_modules/milk': { version: '1.0.0' },
      'node_modules/linked': { link: true },
      'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['aix'] },
    };
    writeFileSync(join(checkout, 'package-lock.json'), JSON.stringify({ packages }));
    // It goes on until its folder has the file.
    const program = `const { countPackages, telling } = require('./scripts/progress.cjs');
      const { existsSync } = require('node:fs');
      const work = new Promise((resolve) => {
        const timer = setInterval(() => {
          if (!existsSync('end')) return;
          clearInterval(timer);
          resolve('done');
        }, 10);
      });
      telling([countPackages('.'), () => '1 of 1 programs'], work, 10).then((end) => console.error(end));`;
    const child = spawn(node, ['-e', program], { cwd: checkout, stdio: ['ignore', 'ignore', 'pipe'] });
    const lines = createInterface({ input: child.stderr })[Symbol.asyncIterator]();
    assert.match((await lines.next()).value ?? '', /^ {2}\d+ s: npm plans 2 packages, 1 of 1 programs$/);
    mkdirSync(join(checkout, 'node_modules/tea'));
    writeFileSync(join(checkout, 'node_modules/tea/package.json'), '{}');
    mkdirSync(join(checkout, 'apps/cup/node_modules/milk'), { recursive: true });
    writeFileSync(join(checkout, 'apps/cup/node_modules/milk/package.json'), '{}');
    let last = '';
    while (!/s: 2 of 2 packages, /.test(last)) last = (await lines.next()).value ?? assert.fail('it ended');
    writeFileSync(join(checkout, 'end'), '');
    while (last !== 'done') last = (await lines.next()).value ?? assert.fail('it goes on');
  } finally {
    rmSync(checkout, { recursive: true });
  }
});
