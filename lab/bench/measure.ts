import { runLoad, type Server } from './child.ts';
import { cpuOf, cpuOfChildren } from './cpu.ts';
import type { LoadPlan, LoadResult } from './load-plan.ts';

/** The requests for a contender. The bench adds duration and load. */
export type Question = Pick<LoadPlan, 'method' | 'paths' | 'headers' | 'body' | 'successStart'> & {
  /** Every request has a unique Idempotency-Key. */
  readonly isIdempotent?: boolean;
  readonly supply?: Supply;
};

/** Prepared bodies. Each is sent once. */
export interface Supply {
  /** A file with one body per line. */
  readonly file: string;
  readonly count: number;
  used: number;
}

/** The start of a run in its supply, and the maximum number of its requests. */
function portionOf(supply: Supply | undefined): Pick<LoadPlan, 'maxRequests' | 'bodies'> {
  if (supply === undefined) return { maxRequests };
  const left = supply.count - supply.used;
  if (left <= 0) throw new Error(`all ${supply.count} bodies of ${supply.file} are used`);
  return { maxRequests: Math.min(maxRequests, left), bodies: { file: supply.file, first: supply.used } };
}

/** One side of a comparison. */
export interface Contender {
  readonly name: string;
  readonly server: Server;
  readonly question: Question;
}

/** Duration and load. */
export interface LoadProfile {
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly connections: number;
  /** The processor time of its children counts as well. */
  readonly postgresPid?: number;
}

/** Figures of one run, or medians of several. Processor time is in microseconds per request. */
export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverMicroseconds: number;
  readonly postgresMicroseconds: number;
}

export interface Measured {
  readonly name: string;
  readonly requestBytes: number;
  readonly replyBytes: number;
  readonly median: Figures;
  readonly runs: readonly Figures[];
}

/** The maximum number of requests per run. It bounds the memory for latencies and the written rows. */
const maxRequests = 500_000;
let runCount = 0;

interface Run {
  readonly load: LoadResult;
  readonly figures: Figures;
}

/** Loads one contender once: at the rate `perSecond`, otherwise as fast as the connections allow. */
export async function loadOnce(
  contender: Contender,
  effort: Omit<LoadProfile, 'rounds' | 'warmUpSeconds'>,
  pace: { perSecond?: number; collectSessionIds?: number } = {},
): Promise<Run> {
  const { isIdempotent, supply, ...question } = contender.question;
  runCount += 1;
  const begin = cpuNow(contender, effort.postgresPid);
  const load = await runLoad({
    ...question,
    ...pace,
    origin: contender.server.origin,
    connections: effort.connections,
    seconds: effort.seconds,
    ...portionOf(supply),
    ...(isIdempotent === true ? { idempotencyPrefix: `bench-${process.pid}-${runCount}` } : {}),
  });
  const end = cpuNow(contender, effort.postgresPid);
  if (supply !== undefined) supply.used += load.requests;
  const { perSecond, p50Ms, p99Ms, requests } = load;
  return {
    load,
    figures: {
      ...{ perSecond, p50Ms, p99Ms },
      serverMicroseconds: Math.round((end.server - begin.server) / requests),
      postgresMicroseconds: Math.round((end.postgres - begin.postgres) / requests),
    },
  };
}

function cpuNow(contender: Contender, postgresPid: number | undefined) {
  return {
    server: cpuOf(contender.server.pid),
    postgres: postgresPid === undefined ? 0 : cpuOfChildren(postgresPid),
  };
}

/**
 * Loads the contenders in turn over several rounds, so that other load on the machine affects all of them equally.
 * Each has a warm-up first. Figures are medians over the rounds.
 */
export async function compare(
  contenders: readonly Contender[],
  effort: LoadProfile,
  log: (line: string) => void,
): Promise<Measured[]> {
  const runs = new Map<Contender, Run[]>(contenders.map((contender) => [contender, []]));
  for (const contender of contenders) await loadOnce(contender, { ...effort, seconds: effort.warmUpSeconds });
  for (let round = 1; round <= effort.rounds; round += 1) {
    for (const [contender, list] of runs) {
      const run = await loadOnce(contender, effort);
      list.push(run);
      log(`${round}/${effort.rounds}  ${describe(contender.name, run.figures)}`);
    }
  }
  return [...runs].map(([contender, list]) => ({
    name: contender.name,
    requestBytes: list[0]?.load.requestBytes ?? 0,
    replyBytes: list[0]?.load.replyBytes ?? 0,
    median: medianFigures(list.map(({ figures }) => figures)),
    runs: list.map(({ figures }) => figures),
  }));
}

/** One line about a run. */
export function describe(name: string, figures: Figures): string {
  const { perSecond, p50Ms, p99Ms, serverMicroseconds, postgresMicroseconds } = figures;
  const cpu = `server ${serverMicroseconds} µs, postgres ${postgresMicroseconds} µs a request`;
  return `${name.padEnd(34)} ${String(perSecond).padStart(7)}/s  p50 ${p50Ms} ms  p99 ${p99Ms} ms  ${cpu}`;
}

function medianFigures(runs: readonly Figures[]): Figures {
  const middle = (read: (figures: Figures) => number) => median(runs.map(read));
  return {
    perSecond: middle((figures) => figures.perSecond),
    p50Ms: middle((figures) => figures.p50Ms),
    p99Ms: middle((figures) => figures.p99Ms),
    serverMicroseconds: middle((figures) => figures.serverMicroseconds),
    postgresMicroseconds: middle((figures) => figures.postgresMicroseconds),
  };
}

/** The middle value; of an even number of values the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
