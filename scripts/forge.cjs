#!/usr/bin/env node
// Runs forge in contracts/ with the binary from node_modules, or `forge` from PATH where npm has none:
//   node scripts/forge.cjs test
//   node scripts/forge.cjs snapshot --check --match-path 'test/gas/*'
'use strict';
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const root = path.resolve(__dirname, '..');

function findForge() {
  const architecture = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  const suffix = process.platform === 'win32' ? '.exe' : '';
  try {
    return require.resolve(`@foundry-rs/forge-${process.platform}-${architecture}/bin/forge${suffix}`, {
      paths: [root],
    });
  } catch {
    return 'forge';
  }
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
