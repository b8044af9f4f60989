// Builds a release into dist/: the service and the command line with all that they need, without npm and without tools
// of development. The folder, its archive, the archive's SHA-256, and a bill of materials.
//   node scripts/release.ts [--no-archive]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPages } from '@florin/dashboard/build';
import { buildSite } from '@florin/docs/build';
import { buildHostedPages } from '@florin/server/build';
import { assembleRelease } from './release/assemble.ts';
import { billOfMaterials } from './release/bill-of-materials.ts';
import { findClosure, readLockfile } from './release/closure.ts';
import { node, root } from './test/processes.ts';

const { values } = parseArgs({ options: { 'no-archive': { type: 'boolean', default: false } } });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const name = `florin-${version}-${process.platform}-${process.arch}`;
const dist = join(root, 'dist');
const folder = join(dist, name);

const lockfile = readLockfile(root);
const closure = findClosure(root, lockfile, ['@florin/server', '@florin/operator']);
await Promise.all([buildPages(), buildSite()]);
const hostedPages = await buildHostedPages();

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
assembleRelease(root, folder, closure, node);
mkdirSync(join(folder, 'apps/checkout/dist'), { recursive: true });
writeFileSync(join(folder, 'apps/checkout/dist/built-ahead.json'), JSON.stringify(hostedPages));

const seconds = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim();
const facts = {
  version,
  date: new Date(Number(seconds) * 1_000).toISOString(),
  nodeVersion: process.versions.node,
};
const bill = `${JSON.stringify(billOfMaterials(lockfile, closure, facts), null, 2)}\n`;
writeFileSync(join(folder, 'bom.cdx.json'), bill);
writeFileSync(join(dist, `${name}.cdx.json`), bill);
console.log(`built ${folder}: ${closure.packages.length} packages`);
if (!values['no-archive']) archive();
// esbuild keeps a process for further builds.
process.exit(0);

/** The same files give the same archive: sorted, without owners, with the commit's time. */
function archive(): void {
  const file = `${name}.tar.gz`;
  const options = ['--sort=name', `--mtime=@${seconds}`, '--owner=0', '--group=0', '--numeric-owner'];
  execFileSync('tar', [...options, '--use-compress-program=gzip -n', '-cf', file, name], { cwd: dist });
  const hash = createHash('sha256')
    .update(readFileSync(join(dist, file)))
    .digest('hex');
  writeFileSync(join(dist, `${file}.sha256`), `${hash}  ${file}\n`);
  console.log(`wrote dist/${file}`);
}
