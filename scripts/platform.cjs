'use strict';
// Programs that npm packages bring for one system each: node, anvil, forge, postgres; and solc, which is the same for all. A
// command fetches those that it needs and that are missing, at exactly the version and the SHA-512 of platform-packages.json.
// They are not in package-lock.json, because npm installs everything in it, whatever the command, and refuses one in which a
// registry lacks a package.
const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const { createHash } = require('node:crypto');
const { accessSync, constants, mkdirSync, readFileSync, renameSync, rmSync } = require('node:fs');
const { delimiter, dirname, isAbsolute, join } = require('node:path');

const table = require('./platform-packages.json');

/** Where packages wait in a folder of modules until they are placed. */
const DRAFT = '.florin-draft';

/** What this system has packages for, by kind. */
const packagesOf = (platform = `${process.platform}-${process.arch}`) => table[platform] ?? {};

/** Whether exactly this package is in a folder of modules. */
const isPresent = (modules, { name, version }) => {
  try {
    return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')).version === version;
  } catch {
    // Absent, or cut short by an interrupted installation: it is fetched again.
    return false;
  }
};

const hashOf = (path) => `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`;

/** Throws unless a downloaded file is the one that this checkout names. */
const checkIntegrity = (path, { name, version, integrity }) => {
  const found = hashOf(path);
  if (found !== integrity)
    throw new Error(
      `${name}@${version} is refused: its hash is ${found}, and not ${integrity} as this checkout says.`,
    );
};

const archiveOf = ({ name, version }) => `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;

const run = async (program, args, options) => {
  const child = spawn(program, args, { stdio: ['ignore', 2, 2], ...options });
  const [code, signal] = await once(child, 'close').catch((error) => {
    throw new Error(`${program} could not be started: ${error.message}`);
  });
  if (code !== 0) throw new Error(`${program} ${args[0]} failed (${signal ?? `code ${code}`}).`);
};

/**
 * Places packages in a folder of modules: each complete and checked, or absent. `download(specs, folder)` writes their
 * archives. Nothing in the folder changes before `isFree` has resolved. Meanwhile, `use(folder)` may run the programs in the
 * folder where they wait.
 */
const placePackages = async (modules, packages, download, { isFree, use } = {}) => {
  const draft = join(modules, DRAFT);
  const contentOf = ({ name }) => join(draft, 'content', name);
  // Of an installation that was killed.
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    await download(
      packages.map(({ name, version }) => `${name}@${version}`),
      draft,
    );
    for (const wanted of packages) {
      const archive = join(draft, archiveOf(wanted));
      checkIntegrity(archive, wanted);
      mkdirSync(contentOf(wanted), { recursive: true });
      // `o`: the files belong to this user, not to the one who made the archive.
      await run('tar', ['-xozf', archive, '-C', contentOf(wanted), '--strip-components=1']);
    }
    await use?.(join(draft, 'content'));
    await isFree;
    for (const wanted of packages) {
      const place = join(modules, wanted.name);
      rmSync(place, { recursive: true, force: true });
      mkdirSync(dirname(place), { recursive: true });
      renameSync(contentOf(wanted), place);
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};

const leastAnvil = packagesOf('linux-x64').anvil.version.split('.').map(Number);

/** Whether the words of `anvil --version` name the packaged version or a later one of the same major version. */
const isAnvilEnough = (said) => {
  const [, ...found] = /anvil[^\d]*(\d+)\.(\d+)\.(\d+)/i.exec(said) ?? [];
  const [major, minor, patch] = found.map(Number);
  const [leastMajor, leastMinor, leastPatch] = leastAnvil;
  return major === leastMajor && (minor > leastMinor || (minor === leastMinor && patch >= leastPatch));
};

const isProgram = (path) => {
  try {
    accessSync(path, constants.X_OK);
    return isAbsolute(path);
  } catch {
    return false;
  }
};

const askVersion = (path) =>
  spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 }).stdout ?? '';

/** The first anvil of a search path whose version suffices. */
const findAnvil = (searchPath = process.env.PATH ?? '') =>
  searchPath
    .split(delimiter)
    .map((folder) => join(folder, 'anvil'))
    .find((path) => isProgram(path) && isAnvilEnough(askVersion(path)));

/** Throws for an anvil that is named and does not suffice. */
const checkAnvil = (path) => {
  if (!isProgram(path)) throw new Error(`FLORIN_ANVIL=${path} is not the absolute path of a program.`);
  const said = askVersion(path);
  if (!isAnvilEnough(said))
    throw new Error(
      `FLORIN_ANVIL=${path} is ${said.split('\n')[0] || 'no anvil'}: at least ${leastAnvil.join('.')} is needed, below ${leastAnvil[0] + 1}.0.0.`,
    );
};

module.exports = { DRAFT, checkAnvil, findAnvil, isAnvilEnough, isPresent, packagesOf, placePackages, run };
