'use strict';
// Runs on the Node that the machine has (20 or newer), before any dependency exists: CommonJS, nothing imported
// but Node itself. The packages may not run scripts at install, so `npm install` alone is complete.
const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const { createHash } = require('node:crypto');
const {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { delimiter, dirname, join } = require('node:path');
const { DRAFT, checkAnvil, findAnvil, isPresent, packagesOf, placePackages, run } = require('./platform.cjs');
const { countArchives, countPackages, telling } = require('./progress.cjs');

const LOCK_PATIENCE_MS = 15 * 60_000;
const LOCK_PAUSE_MS = 200;

/** The checkout. */
const root = dirname(__dirname);
const modules = join(root, 'node_modules');
const stampPath = join(modules, '.florin-lock-hash');
const lockFolder = join(modules, '.florin-install');
/** npm does not look into folders that begin with a dot. */
const asideFolder = join(modules, '.florin-aside');

const readStamp = () => (existsSync(stampPath) ? readFileSync(stampPath, 'utf8').trim() : undefined);

const hashLockfile = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');

const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** A lock is abandoned if its holder was killed, or never wrote its name. */
const isAbandoned = () => {
  try {
    const holder = join(lockFolder, 'pid');
    if (existsSync(holder)) return !isAlive(Number(readFileSync(holder, 'utf8')));
    return Date.now() - statSync(lockFolder).mtimeMs > 5_000;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
};

/** Making a folder is atomic everywhere, which is all that a lock needs. */
const takeLock = () => {
  mkdirSync(modules, { recursive: true });
  const deadline = Date.now() + LOCK_PATIENCE_MS;
  let hasSaid = false;
  for (;;) {
    try {
      mkdirSync(lockFolder);
      writeFileSync(join(lockFolder, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned()) {
      rmSync(lockFolder, { recursive: true, force: true });
      continue;
    }
    if (Date.now() > deadline)
      throw new Error(`Another installation has held ${lockFolder} for too long; remove it.`);
    if (!hasSaid) console.error('Waits for another installation of the dependencies …');
    hasSaid = true;
    pause(LOCK_PAUSE_MS);
  }
};

const runNpm = async (args, options) => {
  const { npm_execpath: npm, npm_node_execpath: node = process.execPath } = process.env;
  // The program that runs this may be a package that is being installed, and absent meanwhile.
  const isScript = npm !== undefined && /\.[cm]?js$/.test(npm) && existsSync(node);
  if (isScript) await run(node, [npm, ...args], { cwd: root, ...options });
  else await run('npm', args, { cwd: root, ...options });
};

const sayDone = (what, begin) => console.error(`✓ ${what}  ${((Date.now() - begin) / 1_000).toFixed(1)} s`);

/** Moves packages between folders of modules, unless npm has put one there; returns those that moved. */
const movePackages = (from, to, names) =>
  names.filter((name) => {
    if (!existsSync(join(from, name)) || existsSync(join(to, name))) return false;
    mkdirSync(dirname(join(to, name)), { recursive: true });
    renameSync(join(from, name), join(to, name));
    return true;
  });

const installDependencies = async () => {
  console.error('Installs the dependencies (once) …');
  const begin = Date.now();
  const wanted = hashLockfile();
  // npm removes what the lockfile does not have: the programs for this system, and so perhaps the one that runs this.
  const programs = Object.values(packagesOf()).map(({ name }) => name);
  rmSync(asideFolder, { recursive: true, force: true });
  const kept = movePackages(modules, asideFolder, programs);
  try {
    // Not `npm ci`: it refuses a lockfile with packages for other systems that a registry mirror lacks.
    await runNpm(['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']);
  } finally {
    movePackages(asideFolder, modules, kept);
    rmSync(asideFolder, { recursive: true, force: true });
  }
  writeFileSync(stampPath, `${wanted}\n`);
  sayDone('dependencies', begin);
};

/**
 * Compiles the contracts with the programs of a folder, while npm unpacks with one processor: half a minute less for
 * `npm test`. What it cannot compile, the tests of the contracts compile again, and say why.
 */
const compileContracts = async (programs) => {
  const { forge, node } = packagesOf();
  const program = join(programs, forge?.name ?? '', 'bin', 'forge');
  if (!existsSync(program)) return;
  const nodeFolder = node === undefined ? dirname(process.execPath) : join(programs, node.name, 'bin');
  const PATH = `${nodeFolder}${delimiter}${process.env.PATH}`;
  const child = spawn(program, ['build', '--offline'], {
    cwd: join(root, 'contracts'),
    stdio: 'ignore',
    env: { ...process.env, PATH, NODE_PATH: programs },
  });
  await once(child, 'close');
};

const fetchPrograms = async (packages, options) => {
  console.error(`Fetches ${packages.map(({ name }) => name).join(', ')} (once) …`);
  const begin = Date.now();
  const download = (specs, folder) =>
    // It says the names of the files that it writes.
    runNpm(['pack', '--silent', '--pack-destination', folder, ...specs], { stdio: ['ignore', 'ignore', 2] });
  await placePackages(modules, packages, download, options);
  sayDone('programs', begin);
};

const withLock = async (work) => {
  takeLock();
  try {
    await work();
  } finally {
    rmSync(lockFolder, { recursive: true, force: true });
  }
};

const findMissing = (kinds) => {
  const packages = packagesOf();
  return kinds
    .map((kind) => packages[kind])
    .filter((each) => each !== undefined && !isPresent(modules, each));
};

/** How many of the programs have come. */
const countPrograms = ({ length }) => countArchives(join(modules, DRAFT), length);

/** Fetches the packages of these kinds that this system has and that are missing. */
const ensurePlatform = async (kinds) => {
  if (findMissing(kinds).length === 0) return;
  await withLock(async () => {
    const missing = findMissing(kinds);
    if (missing.length > 0) await telling([countPrograms(missing)], fetchPrograms(missing));
  });
};

/**
 * Installs the dependencies when those that are there do not belong to this lockfile, and fetches the programs of these kinds.
 * npm unpacks with one processor, so both take no longer than the first. If asked, the contracts are compiled meanwhile.
 */
const ensureInstalled = async (kinds, { compilesContracts = false } = {}) => {
  const isStale = () => readStamp() !== hashLockfile();
  if (isStale()) {
    await withLock(async () => {
      if (!isStale()) return;
      const missing = findMissing(kinds);
      const installed = installDependencies();
      const use = compilesContracts ? compileContracts : undefined;
      const fetched = missing.length > 0 ? fetchPrograms(missing, { isFree: installed, use }) : undefined;
      // Both end before the lock does, also when one has failed.
      const counts = [countPackages(root), ...(fetched ? [countPrograms(missing)] : [])];
      const ended = await telling(counts, Promise.allSettled([installed, fetched]));
      const failed = ended.find(({ reason }) => reason);
      if (failed) throw failed.reason;
    });
  }
  await ensurePlatform(kinds);
};

/** What a world starts that is not on this machine yet. An anvil that is used instead goes into the environment. */
const findWorldKinds = (home) => {
  const { DATABASE_URL, FLORIN_ANVIL } = process.env;
  const hasServer = (DATABASE_URL ?? '') !== '' || existsSync(join(home, 'database.json'));
  const kinds = hasServer ? [] : ['postgres'];
  const packaged = packagesOf().anvil;
  if (FLORIN_ANVIL) checkAnvil(FLORIN_ANVIL);
  else if (packaged === undefined || !isPresent(modules, packaged)) {
    const found = findAnvil();
    if (found === undefined) return [...kinds, 'anvil'];
    process.env.FLORIN_ANVIL = found;
  }
  return kinds;
};

const majorOf = (program) => {
  const result = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' });
  return result.status === 0 ? Number.parseInt(result.stdout, 10) : 0;
};

/** The path of a Node 24 or newer: the packaged one, the running one, or the one on the path. */
const findNode = () => {
  const { node } = packagesOf();
  const packaged = node && join(modules, node.name, 'bin', 'node');
  if (packaged !== undefined && existsSync(packaged)) return packaged;
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath;
  if (majorOf('node') >= 24) return 'node';
  throw new Error(
    `Florin runs on Node.js 24 or newer; this is ${process.versions.node}, and there is no packaged one for ${process.platform}-${process.arch}.`,
  );
};

module.exports = { ensureInstalled, ensurePlatform, findNode, findWorldKinds, root };
