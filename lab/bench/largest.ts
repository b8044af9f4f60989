import { silentLog, systemRandom } from '@florin/server/operator';
import { buildServer, expireSessions, merchantDoor } from '@florin/server/parts';
import { largestLink, largestProduct, largestSession, MerchantWorld } from '@florin/server/testing';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';

const pageSize = 100;
const sampleMs = 1;

type Row = Readonly<Record<string, string | number>>;

/** Processor time of this thread. */
function ownCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Runs some work and measures its duration, how long it blocked the event loop, and its memory. */
async function observed(name: string, work: () => Promise<number>): Promise<Row> {
  globalThis.gc?.();
  const before = process.memoryUsage();
  let [last, stall, heap, resident] = [performance.now(), 0, before.heapUsed, before.rss];
  let [lastCpu, longestTurn] = [ownCpuMs(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    const cpu = ownCpuMs();
    longestTurn = Math.max(longestTurn, cpu - lastCpu);
    lastCpu = cpu;
    stall = Math.max(stall, now - last - sampleMs);
    last = now;
    const { heapUsed, rss } = process.memoryUsage();
    heap = Math.max(heap, heapUsed);
    resident = Math.max(resident, rss);
  }, sampleMs);
  const begin = performance.now();
  const bytes = await work();
  const ms = performance.now() - begin;
  clearInterval(timer);
  const megabytes = (value: number) => Math.round(value / 100_000) / 10;
  return {
    work: name,
    ms: Math.round(ms),
    'longest turn, CPU ms': Math.round(Math.max(longestTurn, ownCpuMs() - lastCpu)),
    'longest stall ms': Math.round(Math.max(stall, performance.now() - last - sampleMs)),
    'answer MB': megabytes(bytes),
    'heap MB more': megabytes(heap - before.heapUsed),
    'resident MB more': megabytes(resident - before.rss),
  };
}

/** Pages and batches of the largest sessions, events and links that the service accepts. */
export async function measureLargest(environment: BenchEnvironment): Promise<BenchResult> {
  const world = await MerchantWorld.open();
  environment.onEnd(() => world.close());
  const server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor(world.deps)],
  });
  environment.onEnd(() => server.close());
  const merchantId = await world.addMerchant();
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  const create = (path: string, body: unknown) => world.send('POST', path, { key, body });
  const { productId } = (await create('/product/create', largestProduct)).data;
  for (let index = 0; index < pageSize; index += 1) {
    await create('/payment/link/create', largestLink(accountId, productId));
    await create('/session/checkout/create', largestSession(accountId));
  }
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${key}` };
    return (await server.inject({ url: `/payment/v1${path}`, headers })).rawPayload.length;
  };
  const sessions = `/session/list/all/1/${pageSize}`;
  const four = () => Promise.all(Array.from({ length: 4 }, () => read(sessions)));
  const work: readonly (readonly [string, () => Promise<number>])[] = [
    ['a page of sessions', () => read(sessions)],
    ['four pages of sessions at once', async () => (await four()).reduce((sum, bytes) => sum + bytes, 0)],
    ['a page of events', () => read(`/event/list/1/${pageSize}`)],
    ['a page of links', () => read(`/payment/link/list/1/${pageSize}`)],
    [
      'all sessions expire',
      async () => {
        world.clock.time += 3_600_000;
        const expire = () =>
          world.database.db.transaction((transaction) => expireSessions(transaction, world.deps, 200));
        while ((await expire()) > 0);
        return 0;
      },
    ],
  ];
  const rows: Row[] = [];
  for (const [name, each] of work) {
    // The first run compiles the code.
    if (name !== 'all sessions expire') await each();
    const row = await observed(name, each);
    rows.push(row);
    environment.log(Object.values(row).join('  '));
  }
  return {
    subject: 'largest',
    title: 'The largest rows: pages and batches',
    effort: { ...environment.effort, connections: 1, rounds: 1 },
    measured: [],
    ratios: [],
    halfLoads: [],
    rows,
    notes: [
      `${pageSize} sessions, links and events of some 64 KiB each, of characters that JSON escapes, in their own PostgreSQL; one process serves and measures itself.`,
      'A stall is the longest time between two ticks of a timer of one millisecond. A turn is the processor time of this thread between two ticks. On a shared machine only the latter is the code’s own.',
    ],
  };
}
