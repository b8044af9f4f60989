'use strict';
// How far an installation is: npm says nothing while it fetches and unpacks, and that takes minutes.
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const TELL_MS = 10_000;

/** The folders that npm fills on this system for a lockfile. */
const foldersOf = (lockfile) => {
  const suits = (list, own) => list === undefined || list.includes(own);
  return Object.entries(JSON.parse(readFileSync(lockfile, 'utf8')).packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .filter(([, { os, cpu, libc, optional }]) =>
      // Most optional packages are for other systems, and some of them do not say so.
      optional
        ? os?.includes(process.platform) && suits(cpu, process.arch) && suits(libc, 'glibc')
        : suits(os, process.platform),
    )
    .map(([path]) => path);
};

/** How many packages of a lockfile are in a checkout: `312 of 655 packages`. npm unpacks none before it has planned all. */
const countPackages = (root) => {
  const folders = foldersOf(join(root, 'package-lock.json'));
  return () => {
    const there = folders.filter((path) => existsSync(join(root, path, 'package.json')));
    return there.length === 0
      ? `npm plans ${folders.length} packages`
      : `${there.length} of ${folders.length} packages`;
  };
};

/** How many archives are in a folder that is made for them: `1 of 3 programs`. */
const countArchives = (folder, wanted) => () => {
  const there = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.tgz')).length : 0;
  return `${there} of ${wanted} programs`;
};

/** Says every ten seconds, also to a file, what is there, until the work has ended. */
const telling = async (counts, work, everyMs = TELL_MS) => {
  const begin = Date.now();
  const timer = setInterval(
    () =>
      console.error(
        `  ${Math.round((Date.now() - begin) / 1_000)} s: ${counts.map((count) => count()).join(', ')}`,
      ),
    everyMs,
  );
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
};

module.exports = { countArchives, countPackages, telling };
