import type { Hex } from '@florin/protocol/order.ts';
import { WebSocket } from 'undici';
import { createPublicClient, http, keccak256, toHex } from 'viem';
import type { ChainHandler } from '../server/src/chains/event.ts';
import { type HttpRpc, openHttpRpc } from '../server/src/chains/rpc/http-rpc.ts';
import { newHeads } from '../server/src/chains/rpc/new-heads.ts';
import { fetchBlocks } from '../server/src/chains/watcher/block-source.ts';
import { watchedContracts } from '../server/src/chains/watcher/log-check.ts';
import { runWatcher, watcherState, watchRound } from '../server/src/chains/watcher/watcher.ts';
import type { Database } from '../server/src/db/database.ts';
import { systemClock } from '../server/src/outside/clock.ts';
import { paymentHandler } from '../server/src/payments/payment.ts';
import { silentLog } from '../server/src/telemetry/log.ts';
import { prepareTemplate } from '../server/test/harness/database.ts';
import { paidEvent } from '../server/test/harness/emitter.ts';
import { SettlementWorld } from '../server/test/harness/settlement-fixture.ts';
import type { Environment } from './environment.ts';
import { clearBlocks, clearCursors, clearEvents, noteBlock } from './ingestion.sql.ts';
import { type LogChain, startLogChain } from './ingestion-chain.ts';
import { median } from './measure.ts';
import { isPonderInstalled, ponderInstall, runPonder } from './ponder.ts';
import type { Result } from './report.ts';

/** Logs in all; a full settlement has fifty. */
const shape = { blocks: 100, transactions: 20, logs: 50 };
const logCount = shape.blocks * shape.transactions * shape.logs;
/** Payments whose way into the database is timed. */
const payments = 60;
const blocksAtOnce = 100;

/** What reading all logs once came to. */
interface Run {
  readonly logs: number;
  readonly seconds: number;
  readonly cpuMicroseconds: number;
}

/** One way to read all logs. */
interface Reader {
  readonly name: string;
  run(round: number): Promise<Run>;
}

/** A reader in this process, which gives how many logs it found. What `prepare` does is not counted. */
function timed(name: string, read: () => Promise<number>, prepare = async () => {}): Reader {
  return {
    name,
    async run() {
      await prepare();
      const [start, cpu] = [performance.now(), process.cpuUsage()];
      const logs = await read();
      const seconds = (performance.now() - start) / 1_000;
      const { user, system } = process.cpuUsage(cpu);
      return { logs, seconds, cpuMicroseconds: user + system };
    },
  };
}

interface Reading {
  readonly name: string;
  readonly perSecond: number;
  /** Processor time of the reading process for a log; the node's and PostgreSQL's are not in it. */
  readonly microseconds: number;
}

const silent: ChainHandler = { onBlock: async () => {}, onReorg: async () => {}, onFinal: async () => {} };

async function fill(chain: LogChain): Promise<void> {
  for (let block = 0; block < shape.blocks; block += 1) {
    for (let transaction = 0; transaction < shape.transactions; transaction += 1) {
      const number = (block * shape.transactions + transaction) * shape.logs;
      await chain.emit(toHex(BigInt(keccak256('0x05')) + BigInt(number), { size: 32 }), shape.logs);
    }
    await chain.request('anvil_mine', ['0x1']);
  }
  // Ponder's backfill ends some blocks below the head.
  await chain.request('anvil_mine', [toHex(shape.blocks)]);
}

/** viem's own way: ranges of blocks, logs decoded by the ABI and checked against nothing. */
function viemReader(chain: LogChain): Reader {
  const client = createPublicClient({ transport: http(chain.url) });
  return timed('viem getLogs loop', async () => {
    let found = 0;
    for (let from = 1; from <= shape.blocks; from += 5) {
      const range = { fromBlock: BigInt(from), toBlock: BigInt(from + 4) };
      const logs = await client.getLogs({ address: chain.chain.gateway, event: paidEvent, ...range });
      found += logs.filter((log) => log.args.orderId !== undefined).length;
    }
    return found;
  });
}

function ownReader({ chain }: LogChain, rpc: HttpRpc): Reader {
  const watched = watchedContracts(chain);
  return timed('watcher, read, proven and decoded', async () => {
    const blocks = await fetchBlocks(rpc, watched, 1n, Math.min(blocksAtOnce, shape.blocks));
    return blocks.reduce((sum, block) => sum + block.events.length, 0);
  });
}

/** The whole way into the database; each run is a chain of its own there, emptied before. */
function storingReader({ chain }: LogChain, rpc: HttpRpc, db: Database): Reader {
  const read = async () => {
    let stored = 0;
    const handler = {
      ...silent,
      onBlock: async (...[, , , events]: Parameters<ChainHandler['onBlock']>) => {
        stored += events.length;
      },
    };
    const state = watcherState({ chain, rpc, db, clock: systemClock, log: silentLog, handler });
    while ((await watchRound(state)) === 'behind');
    return stored;
  };
  return timed('watcher, with every event stored', read, async () => {
    await db.transaction(async (transaction) => {
      for (const clear of [clearCursors, clearBlocks, clearEvents]) {
        await transaction.query(clear, [chain.chainId]);
      }
    });
  });
}

async function measureReaders(
  readers: readonly Reader[],
  { effort, log }: Environment,
): Promise<readonly Reading[]> {
  const runs = new Map<Reader, Reading[]>(readers.map((reader) => [reader, []]));
  for (let round = 0; round <= effort.rounds; round += 1) {
    for (const [reader, list] of runs) {
      const { logs, seconds, cpuMicroseconds } = await reader.run(round);
      if (logs !== logCount) throw new Error(`${reader.name} found ${logs} of ${logCount} logs`);
      const reading = {
        name: reader.name,
        perSecond: Math.round(logCount / seconds),
        microseconds: cpuMicroseconds / logCount,
      };
      // The first round warms up.
      if (round > 0) list.push(reading);
      log(
        `${round}/${effort.rounds}  ${reader.name}: ${reading.perSecond} logs/s, ${reading.microseconds.toFixed(1)} µs`,
      );
    }
  }
  return [...runs].map(([{ name }, list]) => ({
    name,
    perSecond: median(list.map((reading) => reading.perSecond)),
    microseconds: median(list.map((reading) => reading.microseconds)),
  }));
}

/**
 * Time from the order to mine until logs are in hand: newHeads, then one request for the block's logs by its hash; and
 * whatever `store` does with them.
 */
async function rawLatencies(
  chain: LogChain,
  name: string,
  store: (blockHash: Hex) => Promise<unknown>,
): Promise<number[]> {
  const socket = new WebSocket(chain.url.replace('http', 'ws'));
  let heard: (hash: Hex) => void = () => {};
  await new Promise<void>((resolve) => {
    socket.addEventListener('open', () => {
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
    });
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as { params?: { result: { hash: Hex } } };
      if (message.params === undefined) resolve();
      else heard(message.params.result.hash);
    });
  });
  const latencies: number[] = [];
  for (let index = 0; index < payments; index += 1) {
    await chain.emit(keccak256(toHex(`${name} ${index}`)), 1);
    const head = new Promise<Hex>((resolve) => {
      heard = resolve;
    });
    const start = performance.now();
    const mined = chain.request('anvil_mine', ['0x1']);
    const blockHash = await head;
    const logs = await chain.request('eth_getLogs', [{ blockHash, address: chain.chain.gateway }]);
    if (!Array.isArray(logs) || logs.length !== 1) throw new Error('a log is missing');
    await store(blockHash);
    latencies.push(performance.now() - start);
    await mined;
  }
  socket.close();
  return latencies;
}

/** Time from the order to mine until `session.payment_detected` is committed. */
async function ownLatencies(chain: LogChain, rpc: HttpRpc, world: SettlementWorld): Promise<number[]> {
  const { db } = world.database;
  let committed = () => {};
  const noted: Database = {
    ...db,
    query: (...given) => db.query(...given),
    transaction: async (work) => {
      const result = await db.transaction(work);
      committed();
      return result;
    },
  };
  const heads = newHeads({
    chainId: chain.chain.chainId,
    urls: chain.chain.wsUrls ?? [],
    clock: systemClock,
    log: silentLog,
  });
  const stop = new AbortController();
  const detect = paymentHandler(world.moves);
  const handler = { ...silent, onBlock: detect.onBlock };
  const head = BigInt((await chain.request('eth_blockNumber')) as string);
  const running = [
    heads.run(stop.signal),
    runWatcher({
      chain: { ...chain.chain, startBlock: head + 1n, finality: { tag: 'latest', depth: 100_000 } },
      ...{ rpc, db: noted, clock: systemClock, log: silentLog, handler },
      ...{ signal: stop.signal, wake: heads.wake },
    }),
  ];
  const latencies: number[] = [];
  for (let index = -5; index < payments; index += 1) {
    const sessionId = await world.openSession('ethereum::usdc');
    const order = await world.signOrder(sessionId, 'ethereum::usdc');
    await chain.emit(order.orderId as Hex, 1);
    const done = new Promise<void>((resolve) => {
      committed = resolve;
    });
    const start = performance.now();
    const mined = chain.request('anvil_mine', ['0x1']);
    await done;
    const elapsed = performance.now() - start;
    await mined;
    const { initiateTx } = await world.session(sessionId);
    if (initiateTx === '') throw new Error('the payment was not detected');
    // The first ones warm up, and wait until the WebSocket is open.
    if (index >= 0) latencies.push(elapsed);
  }
  stop.abort();
  await Promise.all(running);
  return latencies;
}

const ponderName = 'Ponder 0.16.10, with every event stored';

const round = (value: number) => Math.round(value * 10) / 10;

/** Reads the same logs in several ways, and times the way of a payment from its block into the database. */
export async function measureIngestion(environment: Environment): Promise<Result> {
  const chain = await startLogChain(environment.onEnd);
  environment.log(`${logCount} logs are being written`);
  await fill(chain);
  // The fixture makes its database on the bench's own, durable server.
  const server = new URL(await environment.createDatabase('ingestion'));
  server.pathname = '/postgres';
  await prepareTemplate(server.href);
  process.env['FLORIN_TEST_POSTGRES'] = server.href;
  const world = await SettlementWorld.open();
  // Not dropped, as the fixture would: the server goes with it, and an autovacuum at work on it cannot be ended.
  environment.onEnd(() => world.database.db.close());
  const rpc = openHttpRpc({
    chainId: chain.chain.chainId,
    urls: [chain.url],
    clock: systemClock,
    log: silentLog,
    timeLimitMs: 60_000,
  });
  environment.onEnd(() => rpc.close());
  const readers = [viemReader(chain), ownReader(chain, rpc), storingReader(chain, rpc, world.database.db)];
  if (isPonderInstalled()) {
    const run = (round: number) => runPonder(environment, chain, round);
    readers.push({ name: ponderName, run });
  } else {
    environment.log(`without Ponder, which is installed by: ${ponderInstall}`);
  }
  const readings = await measureReaders(readers, environment);
  await world.database.db.transaction((transaction) =>
    transaction.query(clearCursors, [chain.chain.chainId]),
  );
  const raw = median(await rawLatencies(chain, 'raw', async () => {}));
  const { db } = world.database;
  let noted = 0n;
  const note = (blockHash: Hex) => {
    noted += 1n;
    return db.query(noteBlock, [0, noted, blockHash, new Date()]);
  };
  const stored = median(await rawLatencies(chain, 'stored', note));
  const own = median(await ownLatencies(chain, rpc, world));
  return resultOf(environment, readings, { raw, stored, own });
}

const against = (value: number) => Math.round(value * 100) / 100;

function ratioOf(ours: Reading, theirs: Reading, wanted: number): Result['ratios'][number] {
  return {
    name: `${ours.name} / ${theirs.name}`,
    value: against(ours.perSecond / theirs.perSecond),
    byProcessorTime: against(theirs.microseconds / ours.microseconds),
    wanted,
  };
}

function resultOf(
  { effort }: Environment,
  readings: readonly Reading[],
  { raw, stored, own }: { readonly raw: number; readonly stored: number; readonly own: number },
): Result {
  const [viem, reading, storing] = readings;
  if (viem === undefined || reading === undefined || storing === undefined)
    throw new Error('nothing was measured');
  const ponder = readings.find(({ name }) => name === ponderName);
  return {
    subject: 'ingestion',
    title: 'Chain ingestion',
    effort,
    measured: [],
    halfLoads: [],
    rows: [
      ...readings.map(({ name, perSecond, microseconds }) => ({
        what: name,
        'logs/s': perSecond,
        'our µs a log': round(microseconds),
        'block to result, p50 ms': '',
      })),
      {
        what: 'newHeads, then getLogs',
        'logs/s': '',
        'our µs a log': '',
        'block to result, p50 ms': round(raw),
      },
      {
        what: 'newHeads, then getLogs, and one row committed',
        'logs/s': '',
        'our µs a log': '',
        'block to result, p50 ms': round(stored),
      },
      {
        what: 'session.payment_detected committed',
        'logs/s': '',
        'our µs a log': '',
        'block to result, p50 ms': round(own),
      },
    ],
    ratios: [
      ratioOf(reading, viem, 3),
      ratioOf(storing, viem, 0),
      ...(ponder === undefined ? [] : [ratioOf(storing, ponder, 1)]),
      {
        name: 'newHeads, then getLogs / session.payment_detected committed',
        value: against(raw / own),
        byProcessorTime: 0,
        wanted: 0.5,
      },
    ],
    notes: [
      `${logCount} logs of ours: ${shape.blocks} blocks, ${shape.transactions} transactions each, ${shape.logs} logs each (a full settlement), on anvil.`,
      'viem checks nothing. The watcher hashes every header and all receipts, and reads receipts, which anvil needs longer for than for logs.',
      "Ponder's time is the one that it tells of its backfill, without its start. It believes the logs that it is told; with ours, every event is stored, and then marked as final.",
    ],
  };
}
