#!/usr/bin/env node
// Runs forge in contracts/ with the packaged program, which it fetches when missing, or `forge` from PATH where npm has none:
//   node scripts/forge.cjs test
//   node scripts/forge.cjs snapshot --check --match-path 'test/gas/*'
'use strict';
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const { ensurePlatform, root } = require('./ensure.cjs');
const { packagesOf } = require('./platform.cjs');

async function findForge() {
  const { forge } = packagesOf();
  if (forge === undefined) return 'forge';
  await ensurePlatform(['forge', 'solc']);
  return path.join(root, 'node_modules', forge.name, 'bin', 'forge');
}

async function runForge([command, ...rest]) {
  // The other commands never download a compiler and do not know the option.
  const takesOffline = ['build', 'test', 'snapshot', 'coverage', 'inspect', 'create', 'script'].includes(
    command,
  );
  const args =
    command === undefined ? ['--help'] : [command, ...(takesOffline ? ['--offline'] : []), ...rest];
  const result = spawnSync(await findForge(), args, {
    cwd: path.join(root, 'contracts'),
    stdio: 'inherit',
    // scripts/solc.cjs starts with `env node`: let it be the node that runs this.
    env: {
      ...process.env,
      PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH ?? ''}`,
    },
  });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

runForge(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    console.error(`cannot run forge: ${error.message}`);
    process.exitCode = 1;
  },
);
