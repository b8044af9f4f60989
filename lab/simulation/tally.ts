import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { noFaults } from './faults.ts';
import type { HistoryResult } from './history.ts';
import { behaviours, crossChainMethods, sizes } from './scenario.ts';
import type { Version } from './sources.ts';

/** Histories that one version of the sources has run. */
export type VersionCount = Version & { histories: number; bad: number };

/** The sums of many histories. A file keeps them as they grow, so that several runs can add to them. */
export interface Tally {
  readonly firstSeed: number;
  /** All seeds below it, from the first on, are done. */
  nextSeed: number;
  /** Seeds beyond `nextSeed` that are already done. */
  ahead: number[];
  seconds: number;
  bad: number[];
  /** Counts by name. */
  readonly counts: Record<string, number>;
  /** By version, oldest first: histories of an older version say little about the latest. */
  readonly versions: VersionCount[];
}

export function newTally(firstSeed: number): Tally {
  return { firstSeed, nextSeed: firstSeed, ahead: [], seconds: 0, bad: [], counts: {}, versions: [] };
}

/** Counts for this version from now on. Returns the previous version if it differs. */
export function continueWith(tally: Tally, version: Version): VersionCount | undefined {
  const last = tally.versions.at(-1);
  if (last?.sources === version.sources) return undefined;
  tally.versions.push({ ...version, histories: 0, bad: 0 });
  return last;
}

/** Adds one history of the latest version. A history that an earlier run has already counted is skipped. */
export function addTo(
  tally: Tally,
  { seed, scenario, violations, eventCount, faultCounts, reorgCount }: HistoryResult,
): void {
  if (seed >= tally.firstSeed) {
    if (seed < tally.nextSeed || tally.ahead.includes(seed)) return;
    tally.ahead.push(seed);
    while (tally.ahead.includes(tally.nextSeed)) {
      tally.ahead = tally.ahead.filter((other) => other !== tally.nextSeed);
      tally.nextSeed += 1;
    }
  }
  const version = tally.versions.at(-1);
  if (version !== undefined) {
    version.histories += 1;
    if (violations.length > 0) version.bad += 1;
  }
  if (violations.length > 0) tally.bad.push(seed);
  const count = (name: string, by = 1) => {
    tally.counts[name] = (tally.counts[name] ?? 0) + by;
  };
  count('histories');
  count(`size: ${scenario.size}`);
  count('events', eventCount);
  count('sessions', scenario.sessions.length);
  const isDeep = scenario.deepReorgMs !== undefined;
  count('reorgs within finality', reorgCount - (isDeep ? 1 : 0));
  if (isDeep) count('reorgs below finality');
  if (scenario.restore !== undefined) count('restored backups');
  if (scenario.isProven) count('histories whose blocks have to be proven');
  if (scenario.chainCount === 2) count(`histories across chains by ${scenario.crossChainMethod}`);
  for (const { behaviour } of scenario.sessions) count(`session: ${behaviour.replaceAll('_', ' ')}`);
  for (const [kind, times] of Object.entries(faultCounts)) count(`fault: ${kind}`, times);
}

/** What a run of some hundred histories must include at least once. */
const kinds: readonly string[] = [
  'reorgs within finality',
  'reorgs below finality',
  'restored backups',
  'histories whose blocks have to be proven',
  ...crossChainMethods.map((method) => `histories across chains by ${method}`),
  ...sizes.map((size) => `size: ${size}`),
  ...behaviours.map((behaviour) => `session: ${behaviour.replaceAll('_', ' ')}`),
  ...Object.keys(noFaults).map((kind) => `fault: ${kind}`),
];

/** The kinds that no history has included. */
export function missingKinds(tally: Tally): string[] {
  return kinds.filter((kind) => (tally.counts[kind] ?? 0) === 0);
}

/** The tally of earlier runs. Undefined when there is none with this first seed, or when it names no sources. */
export async function readTally(file: string, firstSeed: number): Promise<Tally | undefined> {
  try {
    const tally = JSON.parse(await readFile(file, 'utf8')) as Partial<Tally>;
    return tally.firstSeed === firstSeed && tally.versions !== undefined ? (tally as Tally) : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes the file atomically. */
export async function writeTally(file: string, tally: Tally): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, `${JSON.stringify(tally, null, 2)}\n`);
  await rename(`${file}.new`, file);
}
