'use strict';
// Every command of the checkout starts here: `node scripts/run.cjs <command> [arguments]`.
const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { ensureDependencies, findNode, root } = require('./ensure.cjs');

const COMMANDS = {
  start: { script: 'world/src/main.ts', does: 'runs the whole local world until Ctrl-C', isTethered: true },
  demo: { script: 'world/src/demo.ts', does: 'pays a session from beginning to end and tells about it' },
  florin: { script: 'cli/src/main.ts', does: 'the command line of an operator' },
  test: { script: 'scripts/test.ts', does: 'runs the tests' },
  generate: { script: 'scripts/generate.ts', does: 'writes everything that is generated from a source' },
  bench: { script: 'bench/run.ts', does: 'measures' },
};
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Type stripping and the `source` condition are what let the sources run as they are. */
const NODE_FLAGS = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

const printCommands = () => {
  console.error('Usage: node scripts/run.cjs <command> [arguments]\n');
  for (const [name, { does }] of Object.entries(COMMANDS)) console.error(`  ${name.padEnd(10)}${does}`);
};

const runCommand = (name, args) => {
  const script = join(root, COMMANDS[name].script);
  if (!existsSync(script)) throw new Error(`This checkout has no ${COMMANDS[name].script}.`);
  ensureDependencies();
  // A tethered child sees its channel close when this process is killed, and ends in order.
  const stdio = COMMANDS[name].isTethered ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
  const child = spawn(findNode(), [...NODE_FLAGS, script, ...args], { stdio });
  for (const signal of SIGNALS) {
    // A terminal sends its signal to the child as well; a repeated one means no more than the first.
    process.on(signal, () => child.kill(signal));
  }
  child.once('error', (error) => {
    console.error(`Node could not be started: ${error.message}`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
};

const [, , name, ...args] = process.argv;
if (name === undefined || !Object.hasOwn(COMMANDS, name)) {
  printCommands();
  process.exit(2);
}
try {
  runCommand(name, args);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
