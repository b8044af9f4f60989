#!/usr/bin/env node
// Runs forge in contracts/ with the packaged program, which it fetches when missing, or `forge` from PATH where npm has none:
//   node scripts/forge.cjs test
//   node scripts/forge.cjs snapshot --check --match-path 'test/gas/*'
'use strict';
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const { ensurePlatform, root } = require('./ensure.cjs');
const { packagesOf } = require('./platform.cjs');

function findForge() {
  const { forge } = packagesOf();
  if (forge === undefined) return 'forge';
  ensurePlatform(['forge']);
  return path.join(root, 'node_modules', forge.name, 'bin', 'forge');
}

const [command, ...rest] = process.argv.slice(2);
// The other commands never download a compiler and do not know the option.
const takesOffline = ['build', 'test', 'snapshot', 'coverage', 'inspect', 'create', 'script'].includes(
  command,
);
const args = command === undefined ? ['--help'] : [command, ...(takesOffline ? ['--offline'] : []), ...rest];
const result = spawnSync(findForge(), args, {
  cwd: path.join(root, 'contracts'),
  stdio: 'inherit',
  // scripts/solc.cjs starts with `env node`: let it be the node that runs this.
  env: {
    ...process.env,
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH ?? ''}`,
  },
});
if (result.error) {
  process.stderr.write(`cannot run forge: ${result.error.message}\n`);
}
process.exitCode = result.status ?? 1;
