import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '@florin/pg';
import { schema } from '@florin/server/operator';
import { makeCertificate } from '@florin/server/testing';
import { type Server, startServer } from './child.ts';
import { cpuOf, cpuOfChildren } from './cpu.ts';
import type { BenchEnvironment } from './environment.ts';
import { describe, type Figures, type Measured, median } from './measure.ts';
import { type BenchResult, ratioOf } from './report.ts';
import { bareQueue, bareSchema, productQueue, type Queue, type Targets } from './webhook-rows.ts';

const names = {
  bare: 'limit bare durable queue',
  product: 'webhook deliveries',
  two: 'webhook deliveries, two workers',
};
/** Deliveries of a measured run, of a warm-up, and of the backlog for the memory measurement. */
const runCount = 20_000;
const warmUpCount = 5_000;
const backlogCount = Number(process.env['BENCH_BACKLOG'] ?? 1_000_000);
const idleCount = 200;
const idlePauseMs = 25;
const originCount = 8;
const patienceMs = 900_000;

interface Receiver {
  readonly origins: readonly string[];
  readonly ca: string;
  readonly count: () => number;
  readonly repeats: () => number;
  readonly arrivals: number[];
  reset(): void;
  close(): void;
}

/** Answers 204 to every request, at one port of several loopback addresses, which makes several origins. */
async function startReceiver(): Promise<Receiver> {
  const hosts = Array.from({ length: originCount }, (_, index) => `127.0.0.${index + 1}`);
  const certificate = makeCertificate({ now: new Date(), hosts });
  const seen = new Set<string>();
  const arrivals: number[] = [];
  let repeats = 0;
  const server = createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
    const id = String(request.headers['webhook-id']);
    if (seen.has(id)) repeats += 1;
    seen.add(id);
    arrivals.push(performance.now());
    request.resume();
    request.on('end', () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origins: hosts.map((host) => `https://${host}:${port}`),
    ca: certificate.ca,
    count: () => seen.size,
    repeats: () => repeats,
    arrivals,
    reset() {
      seen.clear();
      arrivals.length = 0;
      repeats = 0;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Side {
  readonly name: string;
  readonly queue: Queue;
  readonly workers: readonly Server[];
}

async function until(isDone: () => Promise<boolean> | boolean, pauseMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error('the queue does not become empty');
    await delay(pauseMs);
  }
}

/** Fills the queue in one commit and waits until every delivery has arrived and is recorded. */
async function drain(side: Side, receiver: Receiver, count: number, postgresPid: number): Promise<Figures> {
  receiver.reset();
  const cpu = () => side.workers.reduce((sum, worker) => sum + cpuOf(worker.pid), 0);
  await side.queue.fill(count);
  const before = { at: performance.now(), server: cpu(), postgres: cpuOfChildren(postgresPid) };
  await until(() => receiver.count() >= count, 2);
  await until(async () => (await side.queue.pendingCount()) === 0, 20);
  const seconds = (performance.now() - before.at) / 1000;
  if (receiver.repeats() > 0) throw new Error(`${side.name} sent ${receiver.repeats()} events twice`);
  const share = (part: number) =>
    Math.round(((receiver.arrivals[Math.floor(count * part)] ?? 0) - before.at) * 10) / 10;
  return {
    perSecond: Math.round(count / seconds),
    p50Ms: share(0.5),
    p99Ms: share(0.99),
    serverMicroseconds: Math.round((cpu() - before.server) / count),
    postgresMicroseconds: Math.round((cpuOfChildren(postgresPid) - before.postgres) / count),
  };
}

/** One event at a time on an idle system, timed from its commit to its arrival. */
async function measureIdle(side: Side, receiver: Receiver): Promise<string> {
  const waits: number[] = [];
  for (let index = 0; index < idleCount; index += 1) {
    receiver.reset();
    const committed = side.queue.fill(1).then(() => performance.now());
    await until(() => receiver.count() === 1, 1);
    waits.push((receiver.arrivals[0] ?? 0) - (await committed));
    await until(async () => (await side.queue.pendingCount()) === 0, 5);
    await delay(idlePauseMs);
  }
  const sorted = waits.toSorted((left, right) => left - right);
  const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
  return `On an idle system an event arrives ${at(0.5)} ms after its commit (median of ${idleCount}; p99 ${at(0.99)} ms).`;
}

/** Current and peak memory of a process in MiB. */
function memoryOf(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024);
  return { now: read('VmRSS'), most: read('VmHWM') };
}

async function measureBacklog(side: Side, receiver: Receiver, log: BenchEnvironment['log']): Promise<string> {
  const [worker] = side.workers;
  if (worker === undefined) throw new Error('no worker');
  receiver.reset();
  const before = memoryOf(worker.pid);
  await side.queue.fill(backlogCount);
  const startedAt = performance.now();
  let mostMiB = before.now;
  let told = 0;
  await until(() => {
    mostMiB = Math.max(mostMiB, memoryOf(worker.pid).now);
    if (receiver.count() - told >= backlogCount / 10) {
      told = receiver.count();
      log(
        `backlog: ${told} sent after ${Math.round((performance.now() - startedAt) / 1000)} s, ${mostMiB} MiB`,
      );
    }
    return receiver.count() >= backlogCount;
  }, 100);
  const seconds = (performance.now() - startedAt) / 1000;
  const rate = Math.round(backlogCount / seconds);
  return `A backlog of ${backlogCount} deliveries drains at ${rate}/s in ${Math.round(seconds)} s; the worker holds ${mostMiB} MiB at most (${before.now} MiB before).`;
}

async function startSide(
  environment: BenchEnvironment,
  receiver: Receiver,
  options: { name: string; script: string; queue: Queue; variables: Record<string, string>; workers: number },
): Promise<Side> {
  const caFile = join(environment.folder, 'receiver.pem');
  writeFileSync(caFile, receiver.ca);
  const workers: Server[] = [];
  const { profileFolder } = environment;
  for (let index = 0; index < options.workers; index += 1) {
    const worker = await startServer({
      name: options.name,
      script: options.script,
      port: 0,
      logFile: join(environment.folder, 'worker.log'),
      environment: { ...options.variables, NODE_EXTRA_CA_CERTS: caFile },
      ...(profileFolder === undefined
        ? {}
        : { flags: ['--cpu-prof', '--cpu-prof-interval=200', `--cpu-prof-dir=${profileFolder}`] }),
    });
    environment.onEnd(worker.stop);
    workers.push(worker);
  }
  return { name: options.name, queue: options.queue, workers };
}

/** The delivery engine, compared with a bare durable queue: several workers, an idle system, a large backlog. */
export async function measureWebhooks(environment: BenchEnvironment): Promise<BenchResult> {
  const { effort, log } = environment;
  const receiver = await startReceiver();
  environment.onEnd(async () => receiver.close());
  const targets: Targets = { origins: receiver.origins, masterKey: randomBytes(32) };
  const bareUrl = await environment.createDatabase('bench_webhook_limit', bareSchema);
  const productUrl = await environment.createDatabase('bench_webhook');
  await migrate(productUrl, schema);
  const variables = {
    DELIVERY_DATABASE_URL: productUrl,
    DELIVERY_MASTER_KEY: targets.masterKey.toString('hex'),
  };
  const product = {
    script: '../../apps/server/test/harness/delivery-worker.ts',
    queue: await productQueue(productUrl, targets),
    variables,
  };
  const bare = { script: './limits/webhook-queue.ts', queue: await bareQueue(bareUrl, targets) };
  environment.onEnd(product.queue.close);
  environment.onEnd(bare.queue.close);
  const sides = [
    await startSide(environment, receiver, {
      name: names.bare,
      ...bare,
      variables: { LIMIT_DATABASE_URL: bareUrl },
      workers: 1,
    }),
    await startSide(environment, receiver, { name: names.product, ...product, workers: 1 }),
  ];
  const [, engine] = sides;
  if (engine === undefined) throw new Error('the product is missing');
  const measured = await compareSides(sides, receiver, environment);
  const notes = [await measureIdle(engine, receiver)];
  log(notes[0] ?? '');
  if (backlogCount > 0) notes.push(await measureBacklog(engine, receiver, log));
  const second = await startSide(environment, receiver, { name: names.two, ...product, workers: 1 });
  const both = { ...second, workers: [...engine.workers, ...second.workers] };
  const more = await compareSides([both], receiver, environment);
  return {
    subject: 'webhook',
    title: 'Webhooks: deliveries over HTTPS',
    effort: { ...effort, connections: originCount },
    measured: [...measured, ...more],
    ratios: [ratioOf(measured, { product: names.product, limit: names.bare, wanted: 0.8 })],
    halfLoads: [],
    notes: [
      `Runs are ${runCount} due deliveries of 2 kB in one commit, to ${originCount} origins, each of its own object; p50 and p99 are the times at which half and 99 % of them had arrived.`,
      'The limit claims 64 rows, signs, posts and logs; the product also keeps the order of each object, is fair between webhooks, opens sealed keys, checks addresses and schedules retries.',
      'Neither one worker nor two sent a delivery twice.',
      ...notes,
    ],
  };
}

async function compareSides(
  sides: readonly Side[],
  receiver: Receiver,
  environment: BenchEnvironment,
): Promise<Measured[]> {
  const { effort, log } = environment;
  const pid = effort.postgresPid ?? 0;
  const runs = new Map<Side, Figures[]>(sides.map((side) => [side, []]));
  for (const side of sides) await drain(side, receiver, warmUpCount, pid);
  for (let round = 1; round <= effort.rounds; round += 1) {
    for (const [side, list] of runs) {
      const figures = await drain(side, receiver, runCount, pid);
      list.push(figures);
      log(`${round}/${effort.rounds}  ${describe(side.name, figures)}`);
    }
  }
  const middle = (list: readonly Figures[], key: keyof Figures) =>
    median(list.map((figures) => figures[key]));
  return [...runs].map(([side, list]) => ({
    name: side.name,
    requestBytes: 2_000,
    replyBytes: 0,
    runs: list,
    median: {
      perSecond: middle(list, 'perSecond'),
      p50Ms: middle(list, 'p50Ms'),
      p99Ms: middle(list, 'p99Ms'),
      serverMicroseconds: middle(list, 'serverMicroseconds'),
      postgresMicroseconds: middle(list, 'postgresMicroseconds'),
    },
  }));
}
