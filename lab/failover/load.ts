import { systemClock } from '@florin/server/operator';
import { createOnce } from '../chaos/chaos-payers.ts';
import type { ChaosWorld } from '../chaos/chaos-world.ts';
import type { Cluster, ClusterNode } from './cluster.ts';

/** A request to create a session, as its client saw it; times in milliseconds of the monotonic clock. */
interface Request {
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly sessionId: string | undefined;
  /** Why there is no session; empty when there is one. */
  readonly problem: string;
  /** Repeats the request with its idempotency key. */
  readonly repeat: () => Promise<string>;
}

const everyMs = 60;
/** Longer than a client waits for a failover. */
const answerLimitMs = 30_000;

/** Clients that each create one session, at a steady rate, and do not repeat a failed request. */
export interface Load {
  readonly requests: readonly Request[];
  /** Ends once every request has its answer. */
  run(signal: AbortSignal): Promise<void>;
}

export function loadOf(world: ChaosWorld): Load {
  const requests: Request[] = [];
  const token = world.configured.tokens[0]?.tokenId ?? '';
  const send = async () => {
    const repeat = createOnce(world, token, answerLimitMs);
    const sentAt = performance.now();
    const outcome = await repeat().then(
      (sessionId) => ({ sessionId, problem: '' }),
      (error: unknown) => ({ sessionId: undefined, problem: String(error) }),
    );
    requests.push({ ...outcome, sentAt, answeredAt: performance.now(), repeat });
  };
  return {
    requests,
    async run(signal) {
      const open = new Set<Promise<void>>();
      while (!signal.aborted) {
        const request = send().finally(() => open.delete(request));
        open.add(request);
        await systemClock.sleep(everyMs, signal);
      }
      await Promise.all(open);
    },
  };
}

/** When the primary was lost and when one took writes again, as PostgreSQL itself says. */
export interface Promotion {
  readonly node: ClusterNode;
  readonly at: number;
}

const lookMs = 50;
const promotionLimitMs = 90_000;

/** Waits until the cluster has no primary, and then until it has one. A former primary that goes on is none. */
export async function nextPromotion(cluster: Cluster, former: ClusterNode): Promise<Promotion> {
  const end = performance.now() + promotionLimitMs;
  let isLost = false;
  for (;;) {
    const node = await cluster.primary();
    if (node !== former) isLost = true;
    if (isLost && node !== undefined) return { node, at: performance.now() };
    if (performance.now() > end) throw new Error(`no primary in ${promotionLimitMs} ms`);
    await systemClock.sleep(lookMs);
  }
}

/** What a fault cost, in seconds and requests. */
export interface Cost {
  /** From the fault to the primary that took writes. */
  readonly promotionSeconds: number;
  /** From there to the first session that was stored. */
  readonly beyondSeconds: number;
  readonly requests: number;
  readonly failed: number;
  readonly slowestSeconds: number;
  /** How often each problem was. */
  readonly problems: Readonly<Record<string, number>>;
}

/** The cost of a fault for the requests that were sent since, up to `until`. */
export function costOf(
  requests: readonly Request[],
  fault: { readonly at: number; readonly promotedAt: number; readonly until: number },
): Cost {
  const seconds = (ms: number) => Math.round(ms / 10) / 100;
  const own = requests.filter(({ answeredAt, sentAt }) => answeredAt >= fault.at && sentAt <= fault.until);
  const stored = own.filter(({ sessionId }) => sessionId !== undefined).map(({ answeredAt }) => answeredAt);
  const problems: Record<string, number> = {};
  for (const { problem } of own) if (problem !== '') problems[problem] = (problems[problem] ?? 0) + 1;
  const firstStored = Math.min(...stored.filter((at) => at >= fault.promotedAt));
  return {
    promotionSeconds: seconds(fault.promotedAt - fault.at),
    beyondSeconds: seconds(firstStored - fault.promotedAt),
    requests: own.length,
    failed: own.length - stored.length,
    slowestSeconds: seconds(Math.max(...own.map(({ sentAt, answeredAt }) => answeredAt - sentAt))),
    problems,
  };
}
