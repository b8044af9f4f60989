#!/usr/bin/env node
// As solc.cjs, but keeps every answer below the folder FLORIN_SOLC_ANSWERS: forge asks the same again at each start.
'use strict';
const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const isVersion = process.argv.includes('--version');
const input = isVersion ? '' : readFileSync(0);
const folder = process.env.FLORIN_SOLC_ANSWERS ?? '';
const name = createHash('sha256').update(process.argv.slice(2).join(' ')).update(input).digest('hex');
const path = join(folder, name);
if (!existsSync(path)) {
  const solc = join(__dirname, 'solc.cjs');
  const { stdout, status } = spawnSync(process.execPath, [solc, ...process.argv.slice(2)], {
    input,
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.${process.pid}`, stdout);
  renameSync(`${path}.${process.pid}`, path);
}
process.stdout.write(readFileSync(path));
