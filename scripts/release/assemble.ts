import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix, relative } from 'node:path';
import type { Closure } from './closure.ts';

/** Files of the checkout that the programs read, besides their workspaces. */
const sharedFiles = ['LICENSE', 'contracts/artifacts', 'contracts/deployments', 'deploy'];
/** Pages that are built ahead: folders with a `current.json` that names the build to serve. */
const builtPages = ['apps/dashboard/dist', 'apps/docs/dist'];

/** Files of a workspace that only its tests and its builders read. */
const isForTests = (file: string): boolean => /\.(test|fixture)\.ts$|^apps\/server\/test\//.test(file);
/** Files of a package that Node.js never reads: sources that it cannot run there, types, maps, and prose. */
const isUnread = (file: string): boolean => /\.([cm]?tsx?|map|md|markdown|flow|tsbuildinfo)$/i.test(file);

/**
 * Copies what runs into a folder that needs no npm: the files of the workspaces that git knows, the packages of the
 * closure, the pages, and Node.js. The layout is the checkout's, so that paths between files stay the same.
 */
export function assembleRelease(root: string, folder: string, closure: Closure, node: string): void {
  const copy = (path: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path), { recursive: true });
  };
  const tracked = execFileSync('git', ['ls-files', '-z', ...closure.workspaces, ...sharedFiles], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of tracked.split('\0')) {
    if (file === '' || isForTests(file) || !existsSync(join(root, file))) continue;
    if (file.endsWith('.ts')) writePlain(join(root, file), join(folder, file));
    else copy(file);
  }
  for (const path of closure.packages) copyPackage(join(root, path), join(folder, path), ofDevelopers);
  for (const workspace of closure.workspaces) linkWorkspace(folder, workspace);
  for (const path of builtPages) copyBuild(join(root, path), join(folder, path));
  mkdirSync(join(folder, 'bin'), { recursive: true });
  cpSync(node, join(folder, 'bin/node'));
  writeFileSync(join(folder, 'bin/florin'), program);
  chmodSync(join(folder, 'bin/florin'), 0o755);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
}

/**
 * Writes a source as JavaScript, line for line. Node.js could run it as it is, but would hold its compiler for that: some 45 MB
 * in each process, and a third of the time to start.
 */
function writePlain(from: string, to: string): void {
  const text = stripTypeScriptTypes(readFileSync(from, 'utf8'));
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to.replace(/\.ts$/, '.js'), text.replaceAll(namedSource, "$1$2.js'"));
}

/** The name of a source in an import, or in the address of a file. */
const namedSource = /(\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)('[^'\n]+)\.ts'/g;

/** The entries of a package.json, which name sources. */
function nameJavaScript(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/\.ts"/g, '.js"'));
}

/**
 * `florin serve` is the service; everything else is a command of the operator or of a merchant. The start of the service fills
 * V8's young generation to its limit, and a process at rest keeps it: 8 MiB for each half in place of 16 are 46 MiB less.
 */
const program = `#!/bin/sh
file=$0
if [ -L "$file" ]; then file=$(readlink -f "$file"); fi
home=\${file%/*}/..
main=apps/operator/src/main.js
flags=
if [ "\${1-}" = serve ]; then
  main=apps/server/src/main.js
  flags=--max-semi-space-size=8
  shift
fi
export FLORIN_PROGRAM=florin
exec "$home/bin/node" $flags --conditions=source --disable-warning=ExperimentalWarning "$home/$main" "$@"
`;

/** Folders of a package that only those who develop it read: 7 MB of all. Deeper ones may be imported, as viem's `actions/test`. */
const ofDevelopers: ReadonlySet<string> = new Set([
  ...['test', 'tests', 'benchmark', 'benchmarks', 'example', 'examples'],
  'node_modules',
]);
/** The packages inside a package: those of the closure have a line of their own. */
const ofOthers: ReadonlySet<string> = new Set(['node_modules']);

function copyPackage(from: string, to: string, leftOut: ReadonlySet<string>): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (leftOut.has(entry.name) || isUnread(entry.name)) continue;
    const source = join(from, entry.name);
    if (entry.isDirectory()) copyPackage(source, join(to, entry.name), ofOthers);
    else cpSync(source, join(to, entry.name), { dereference: true });
  }
}

function linkWorkspace(folder: string, workspace: string): void {
  nameJavaScript(join(folder, workspace, 'package.json'));
  const { name } = JSON.parse(readFileSync(join(folder, workspace, 'package.json'), 'utf8')) as {
    name: string;
  };
  const link = posix.join('node_modules', name);
  mkdirSync(dirname(join(folder, link)), { recursive: true });
  symlinkSync(relative(dirname(link), workspace), join(folder, link));
}

/** Only the build that is to be served: others may lie beside it. */
function copyBuild(from: string, to: string): void {
  const current = readFileSync(join(from, 'current.json'), 'utf8');
  const { build } = JSON.parse(current) as { build: string };
  cpSync(join(from, build), join(to, build), { recursive: true });
  writeFileSync(join(to, 'current.json'), current);
}
