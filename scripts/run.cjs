'use strict';
// Every command of the checkout starts here: `node scripts/run.cjs <command> [arguments]`.
const { spawn } = require('node:child_process');
const { constants, setPriority } = require('node:os');
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');
const { ensureInstalled, findNode, findWorldKinds, root } = require('./ensure.cjs');

const COMMANDS = {
  start: {
    script: 'world/src/main.ts',
    does: 'runs the whole local world until Ctrl-C',
    isTethered: true,
    servesPages: true,
    help: 'FLORIN_HOME is its folder (.florin), FLORIN_PORT its port (4000), and DATABASE_URL a PostgreSQL to use in place of its own. docs/guide/local-world.md says more.',
  },
  demo: { script: 'world/src/demo.ts', does: 'pays a session from beginning to end and prints each step' },
  serve: {
    script: 'apps/server/src/main.ts',
    does: 'runs the service alone, with the configuration of FLORIN_CONFIG',
    servesPages: true,
    help: 'docs/runbook/production.md has the configuration.',
  },
  florin: {
    script: 'apps/operator/src/main.ts',
    does: 'runs the command line of an operator and of a merchant',
  },
  conformance: {
    script: 'lab/conformance/src/main.ts',
    does: 'checks a running installation against the specification',
  },
  test: {
    script: 'scripts/test.ts',
    does: 'runs the tests',
    isTethered: true,
    help: 'npm test runs what CI runs; npm test <word> a suite (contracts, simulation, checks, node), or the test files whose paths contain the word.',
  },
  'test:deep': {
    script: 'scripts/test-deep.ts',
    does: 'runs the tests that take hours, and resumes an interrupted run',
    isTethered: true,
  },
  docs: { script: 'apps/docs/src/build.ts', does: 'builds the documentation site that the service serves' },
  dashboard: {
    script: 'apps/dashboard/src/build.ts',
    does: 'builds the pages of the dashboard that the service serves',
  },
  release: { script: 'scripts/release.ts', does: 'builds a release into dist/, which runs without npm' },
  pictures: {
    script: 'scripts/pictures.ts',
    does: "takes pictures of the dashboard's screens in the running local world",
  },
  generate: { script: 'scripts/generate.ts', does: 'writes all generated files' },
  bench: { script: 'lab/bench/run.ts', does: 'runs the benchmarks' },
  mutate: {
    script: 'lab/mutation/mutate.ts',
    does: 'changes the contracts in one place at a time and checks that a test fails',
  },
  chaos: {
    script: 'lab/chaos/main.ts',
    does: 'injects faults into the service while payers pay, and compares chains, ledger, sessions and webhooks',
  },
  'fuzz-signatures': {
    script: 'apps/server/test/fuzz/signatures.ts',
    does: 'compares the verdicts on signatures with those of viem and ethers',
  },
  'agent-runtimes': {
    script: 'scripts/agent-runtimes.ts',
    does: 'downloads Deno, Bun and the runtime of Workers, and uses the published packages there',
  },
  simulate: {
    script: 'lab/simulation/simulate.ts',
    does: 'runs thousands of random histories with faults, and checks the guarantees',
  },
  differential: {
    script: 'lab/differential/differential.ts',
    does: "compares the simulation's model of the contracts with the contracts, call by call",
  },
};
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Commands that run what is built already, and need Node.js alone. Those that test or measure need every program. */
const LIGHT_COMMANDS = ['demo', 'serve', 'florin', 'conformance', 'docs', 'dashboard', 'release', 'pictures'];

/** Type stripping and the `source` condition let Node.js run the sources without a build. */
const NODE_FLAGS = ['--conditions=source', '--disable-warning=ExperimentalWarning'];

const WATCH_PAUSE_MS = 100;

const readStat = (pid) => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(parent), name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')) };
};

/** The processes between us and npm, by pid: the shell that npm runs a script in, and npm. */
const findLaunchers = () => {
  const launchers = [process.ppid];
  try {
    const { name, parent } = readStat(process.ppid);
    if (/^(?:sh|dash|bash|ash|busybox)$/.test(name)) launchers.push(parent);
  } catch {
    // This system has no /proc, so only the parent is watched.
  }
  return launchers;
};

/**
 * Ends the command when npm ends. npm sends SIGTERM only to its shell, which does not pass it on, and SIGKILL of npm
 * sends no signal at all.
 */
const watchLaunchers = (onGone) => {
  if (process.env.npm_lifecycle_event === undefined) return;
  const [parent, npm] = findLaunchers();
  const timer = setInterval(() => {
    let isGone = process.ppid !== parent;
    try {
      if (!isGone && npm !== undefined) isGone = readStat(parent).parent !== npm;
    } catch {
      isGone = true;
    }
    if (!isGone) return;
    clearInterval(timer);
    onGone();
  }, WATCH_PAUSE_MS);
  timer.unref();
};

/**
 * Builds pages while the service runs. A build with the same content is kept.
 * The lowest priority leaves the processors to the service.
 */
const buildPages = (name) => {
  const script = join(root, COMMANDS[name].script);
  const builder = spawn(findNode(), [...NODE_FLAGS, script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  builder.stderr.on('data', (chunk) => {
    output += chunk;
  });
  builder.once('spawn', () => setPriority(builder.pid, constants.priority.PRIORITY_LOW));
  builder.once('error', (error) => console.error(`The pages of ${name} were not built: ${error.message}`));
  builder.once('exit', (code) => {
    if (code !== 0 && code !== null) console.error(`The pages of ${name} were not built:\n${output}`);
  });
  process.once('exit', () => builder.kill());
};

const printCommands = () => {
  console.error('Usage: node scripts/run.cjs <command> [arguments]\n');
  for (const [name, { does }] of Object.entries(COMMANDS)) console.error(`  ${name.padEnd(17)}${does}`);
};

const findKinds = (name) => {
  if (name === 'start') return findWorldKinds(process.env.FLORIN_HOME || join(root, '.florin'));
  return LIGHT_COMMANDS.includes(name) ? [] : ['anvil', 'forge', 'postgres', 'solc'];
};

const runCommand = async (name, args) => {
  const script = join(root, COMMANDS[name].script);
  if (!existsSync(script)) throw new Error(`This checkout has no ${COMMANDS[name].script}.`);
  const compilesContracts = name === 'test' && (args.length === 0 || args.includes('contracts'));
  await ensureInstalled(['node', ...findKinds(name)], { compilesContracts });
  // A tethered child sees its channel close when this process is killed, and then stops cleanly.
  const stdio = COMMANDS[name].isTethered ? ['inherit', 'inherit', 'inherit', 'ipc'] : 'inherit';
  const child = spawn(findNode(), [...NODE_FLAGS, script, ...args], { stdio });
  if (COMMANDS[name].servesPages) for (const pages of ['dashboard', 'docs']) buildPages(pages);
  for (const signal of SIGNALS) {
    // A terminal sends its signal to the child as well; a repeated signal has no further effect.
    process.on(signal, () => child.kill(signal));
  }
  watchLaunchers(() => child.kill('SIGTERM'));
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
const { does, help } = COMMANDS[name];
if (help !== undefined && args.some((arg) => arg === '--help' || arg === '-h')) {
  console.log(`npm run ${name}: ${does}. ${help}`);
  process.exit(0);
}
runCommand(name, args).catch((error) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
