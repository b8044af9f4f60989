import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HistoryResult } from './history.ts';

/** The sums of many histories. They can be gathered in several runs: they are kept in a file as they grow. */
export interface Tally {
  readonly firstSeed: number;
  /** Seeds below it, from the first on, have been lived. */
  nextSeed: number;
  /** Seeds beyond `nextSeed` that have been lived already. */
  ahead: number[];
  seconds: number;
  bad: number[];
  /** By what is counted. */
  readonly counts: Record<string, number>;
}

export function newTally(firstSeed: number): Tally {
  return { firstSeed, nextSeed: firstSeed, ahead: [], seconds: 0, bad: [], counts: {} };
}

/** Adds one history. One that was lived in an earlier run counts once. */
export function addTo(
  tally: Tally,
  { seed, story, problems, eventCount, faultCounts, reorgCount }: HistoryResult,
): void {
  if (seed >= tally.firstSeed) {
    if (seed < tally.nextSeed || tally.ahead.includes(seed)) return;
    tally.ahead.push(seed);
    while (tally.ahead.includes(tally.nextSeed)) {
      tally.ahead = tally.ahead.filter((other) => other !== tally.nextSeed);
      tally.nextSeed += 1;
    }
  }
  if (problems.length > 0) tally.bad.push(seed);
  const count = (name: string, by = 1) => {
    tally.counts[name] = (tally.counts[name] ?? 0) + by;
  };
  count('histories');
  count('events', eventCount);
  count('sessions', story.sessions.length);
  const isDeep = story.deepReorgMs !== undefined;
  count('reorgs within finality', reorgCount - (isDeep ? 1 : 0));
  if (isDeep) count('reorgs below finality');
  if (story.restore !== undefined) count('restored backups');
  if (story.isProven) count('histories whose blocks have to be proven');
  if (story.chainCount === 2) count(`histories across chains by ${story.crossing}`);
  for (const { character } of story.sessions) count(`session: ${character.replaceAll('_', ' ')}`);
  for (const [kind, times] of Object.entries(faultCounts)) count(`fault: ${kind}`, times);
}

/** The tally of earlier runs; undefined when there is none from this seed on. */
export async function readTally(file: string, firstSeed: number): Promise<Tally | undefined> {
  try {
    const tally = JSON.parse(await readFile(file, 'utf8')) as Tally;
    return tally.firstSeed === firstSeed ? tally : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Written whole or not at all. */
export async function writeTally(file: string, tally: Tally): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, JSON.stringify(tally));
  await rename(`${file}.new`, file);
}
