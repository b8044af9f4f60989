// The load generator, in its own process: reads a plan from standard input and writes a result to standard output. It
// checks every answer. The first that is not HTTP 200 with code 0 ends the run with exit code 1.
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { type Dispatcher, Pool } from 'undici';
import { counterDigits, counterMark, type LoadPlan, type LoadResult } from './load-plan.ts';

/**
 * The maximum number of requests in a paced run that wait for a connection. More means that the server cannot keep
 * the rate.
 */
const waitingLimit = 5_000;
const requestTimeoutMs = 15_000;

/** Sends the plan's requests over keep-alive connections and checks every answer. */
class Sender {
  readonly plan: LoadPlan;
  readonly pool: Pool;
  readonly bodyParts: readonly string[];
  /** Prepared bodies. Empty if the plan has a single body. */
  readonly bodies: readonly string[];
  readonly successStart: Buffer;
  readonly sessionIds: string[] = [];
  sent = 0;
  replyBytes = 0;

  constructor(plan: LoadPlan) {
    this.plan = plan;
    this.pool = new Pool(plan.origin, {
      connections: plan.connections,
      pipelining: 1,
      headersTimeout: requestTimeoutMs,
      bodyTimeout: requestTimeoutMs,
    });
    this.bodyParts = plan.body?.split(counterMark) ?? [];
    this.bodies = plan.bodies === undefined ? [] : readFileSync(plan.bodies.file, 'utf8').split('\n');
    this.successStart = Buffer.from(plan.successStart ?? '{"code":0,');
  }

  /** The body of the request with this number; undefined for requests without one. */
  private bodyOf(number: number, counter: string): string | undefined {
    const { plan, bodies } = this;
    if (plan.bodies !== undefined) return bodies[(plan.bodies.first + number) % bodies.length];
    return plan.body === undefined ? undefined : this.bodyParts.join(counter);
  }

  /** Sends one request. Resolves after reading and checking the answer. */
  send(): Promise<void> {
    const { plan, pool } = this;
    const number = this.sent;
    this.sent += 1;
    const counter = String(number).padStart(counterDigits, '0');
    const headers =
      plan.idempotencyPrefix === undefined
        ? plan.headers
        : { ...plan.headers, 'idempotency-key': `${plan.idempotencyPrefix}-${counter}` };
    const body = this.bodyOf(number, counter);
    const options: Dispatcher.DispatchOptions = {
      method: plan.method,
      path: plan.paths[number % plan.paths.length] ?? '/',
      headers,
      ...(body === undefined ? {} : { body }),
    };
    return new Promise((resolve, reject) => {
      let status = 0;
      const chunks: Buffer[] = [];
      pool.dispatch(options, {
        onRequestStart: () => undefined,
        onResponseStart: (_controller, statusCode) => {
          status = statusCode;
        },
        onResponseData: (_controller, chunk) => {
          chunks.push(chunk);
        },
        onResponseEnd: () => {
          const reply = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
          const complaint = this.check(status, reply);
          if (complaint === undefined) resolve();
          else reject(new Error(complaint));
        },
        onResponseError: (_controller, error) => reject(error),
      });
    });
  }

  /** Undefined when the answer is a success. It parses only answers with an unusual start. */
  private check(status: number, reply: Buffer): string | undefined {
    this.replyBytes = reply.length;
    const { successStart } = this;
    const isSuccess =
      reply.subarray(0, successStart.length).equals(successStart) ||
      (JSON.parse(reply.toString()) as { code?: unknown }).code === 0;
    if (status !== 200 || !isSuccess) return `${this.plan.method}: HTTP ${status} ${reply.toString()}`;
    if (this.sessionIds.length < (this.plan.collectSessionIds ?? 0)) {
      const { data } = JSON.parse(reply.toString()) as { data: { sessionId: string } };
      this.sessionIds.push(data.sessionId);
    }
    return undefined;
  }
}

/** `connections` clients, each with one request at a time. */
async function runClosed(sender: Sender, latencies: Float64Array): Promise<number> {
  const { plan } = sender;
  const begin = performance.now();
  const end = begin + plan.seconds * 1000;
  let done = 0;
  const client = async () => {
    for (let now = performance.now(); now < end && sender.sent < plan.maxRequests; ) {
      await sender.send();
      const after = performance.now();
      latencies[done] = after - now;
      done += 1;
      now = after;
    }
  };
  await Promise.all(Array.from({ length: plan.connections }, client));
  return performance.now() - begin;
}

/** Sends requests on a schedule. */
async function runPaced(sender: Sender, latencies: Float64Array, perSecond: number): Promise<number> {
  const { plan } = sender;
  const total = Math.min(plan.maxRequests, Math.floor(perSecond * plan.seconds));
  const begin = performance.now();
  const underWay = new Set<Promise<void>>();
  let done = 0;
  const sendDue = async (dueAt: number) => {
    await sender.send();
    latencies[done] = performance.now() - dueAt;
    done += 1;
  };
  let failure: unknown;
  while (sender.sent < total && failure === undefined) {
    const due = Math.min(total, Math.floor(((performance.now() - begin) / 1000) * perSecond) + 1);
    while (sender.sent < due) {
      if (underWay.size >= waitingLimit) {
        throw new Error(`the server does not keep up with ${perSecond} requests a second`);
      }
      const request = sendDue(begin + (sender.sent * 1000) / perSecond)
        .catch((error: unknown) => {
          failure ??= error;
        })
        .finally(() => underWay.delete(request));
      underWay.add(request);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(underWay);
  if (failure !== undefined) throw failure;
  return performance.now() - begin;
}

const round = (value: number) => Math.round(value * 100) / 100;

async function run(plan: LoadPlan): Promise<LoadResult> {
  const sender = new Sender(plan);
  const latencies = new Float64Array(plan.maxRequests + plan.connections);
  const elapsedMs =
    plan.perSecond === undefined
      ? await runClosed(sender, latencies)
      : await runPaced(sender, latencies, plan.perSecond);
  await sender.pool.close();
  const sorted = latencies.subarray(0, sender.sent).sort();
  const at = (share: number) =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
  return {
    requests: sender.sent,
    seconds: round(elapsedMs / 1000),
    perSecond: Math.round(sender.sent / (elapsedMs / 1000)),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
    replyBytes: sender.replyBytes,
    requestBytes: sender.bodies[0]?.length ?? sender.bodyParts.join('0'.repeat(counterDigits)).length,
    sessionIds: sender.sessionIds,
  };
}

try {
  const plan = JSON.parse(await text(process.stdin)) as LoadPlan;
  process.stdout.write(JSON.stringify(await run(plan)));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
