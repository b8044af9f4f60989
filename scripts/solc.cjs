#!/usr/bin/env node
// A solc that forge can call: npm's solc (WebAssembly) behind the two options that forge uses.
'use strict';
const solc = require('./fast-solc.cjs');

if (process.argv.includes('--version')) {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`);
} else if (process.argv.includes('--standard-json')) {
  const input = require('node:fs').readFileSync(0, 'utf8');
  // No callback for imports: forge sends every source inside the input.
  process.stdout.write(solc.compile(input));
} else {
  process.stderr.write('solc.cjs knows --version and --standard-json only\n');
  process.exitCode = 1;
}
