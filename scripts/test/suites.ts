import { findTestFiles, isDeep, nodeParts } from './node-parts.ts';
import { type Part, runLogged, wholePart } from './part.ts';
import { node, nodeFlags } from './processes.ts';

const forge = 'scripts/forge.cjs';
const biome = 'node_modules/.bin/biome';
const tsc = 'node_modules/typescript/bin/tsc';

/** The compiler is written in Go. It collects garbage only from two gigabytes on, which saves a quarter of its time. */
const collectsLate = { GOGC: 'off', GOMEMLIMIT: '2GiB' };

function typesPart(name: string, project: string, isLong = false): Part {
  return wholePart(name, node, [tsc, '-p', project, '--checkers', '1'], { isLong, env: collectsLate });
}

/** The checks of everything that is written. */
export const checks: readonly Part[] = [
  typesPart('types', '.', true),
  typesPart('types of the React components', 'packages/react'),
  typesPart('types of the pages', 'apps/checkout'),
  typesPart('types of the dashboard', 'apps/dashboard', true),
  typesPart('types of the console', 'world/src/console/browser'),
  typesPart('types of the documentation site', 'apps/docs'),
  wholePart('format and lint', biome, ['check', '--error-on-warnings']),
  wholePart('generated files are fresh', node, [...nodeFlags, 'scripts/generate.ts', '--check']),
  wholePart('contracts are formatted', node, [forge, 'fmt', '--check']),
];

export function unusedCodePart(): Part {
  return wholePart('unused code and dependencies', node, ['node_modules/knip/bin/knip.js', '--no-progress']);
}

/**
 * The tests of the contracts with a profile of foundry.toml, then their gas, and whether the files that are generated from them
 * are fresh: all use the same compiled code.
 */
export function contractPart(name: string, env: Readonly<Record<string, string>> = {}): Part {
  return {
    name,
    isLong: true,
    async run(context) {
      const { code, output } = await runLogged(context, name, node, [forge, 'test'], { env });
      const totals = /Ran \d+ test suites?.*?: (\d+) tests? passed, (\d+) failed/.exec(output);
      const failed = [...new Set(output.match(/^\[FAIL.*$/gm))];
      if (failed.length === 0 && (code !== 0 || totals === null)) failed.push(name);
      const snapshot = [forge, 'snapshot', '--check', '--match-path', 'test/gas/*'];
      const generated = [...nodeFlags, 'scripts/generate-contracts.ts', '--check'];
      const ofGas = await wholePart('gas is as committed', node, snapshot).run(context);
      const ofFiles = await wholePart('files of the contracts are fresh', node, generated).run(context);
      const passed = Number(totals?.[1] ?? 0) + ofGas.passed + ofFiles.passed;
      return { passed, failed: [...failed, ...ofGas.failed, ...ofFiles.failed] };
    },
  };
}

const simulate = [...nodeFlags, 'lab/simulation/simulate.ts'];

export function historiesPart(histories: number, ...more: readonly string[]): Part {
  const args = [...simulate, '--histories', String(histories), ...more];
  return wholePart(`simulated histories, ${histories} of them new`, node, args, { isLong: true });
}

export function seededBugsPart(): Part {
  const args = [...simulate, '--bug', 'all', '--histories', '800', '--catches', '1'];
  return wholePart('seeded bugs are caught', node, args);
}

export function differentialPart(sequences: number): Part {
  const args = [...nodeFlags, 'lab/differential/differential.ts', '--sequences', String(sequences)];
  return wholePart(`the model does as the contracts do, ${sequences} times`, node, args, {
    needsPostgres: true,
  });
}

/** What `npm test` runs, by name; the longest first, so that no processor waits for them at the end. */
export const suites: Readonly<Record<string, () => Promise<readonly Part[]>>> = {
  contracts: async () => [contractPart('contracts')],
  simulation: async () => [historiesPart(1, '--size', 'short', '--workers', '1')],
  checks: async () => checks,
  node: async () => nodeParts((await findTestFiles()).filter((file) => !isDeep(file))),
};
