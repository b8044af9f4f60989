import { eachWithEvents, fetchHeaders, freshState, type HttpRpc, openHttpRpc, watchRound } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { silentLog, systemClock } from '@florin/server/operator';
import { type ChainHandler, logSourceOf } from '@florin/server/parts';
import { paidEvent, prepareTemplate, SettlementWorld } from '@florin/server/testing';
import { createPublicClient, http, keccak256, toHex } from 'viem';
import type { BenchEnvironment } from './environment.ts';
import { clearBlocks, clearCursors, clearEvents, noteBlock } from './ingestion.sql.ts';
import { type LogChain, startLogChain } from './ingestion-chain.ts';
import { type Latency, latencyOf, ownWays, rawWays } from './ingestion-latency.ts';
import { median } from './measure.ts';
import { isPonderInstalled, ponderInstall, runPonder } from './ponder.ts';
import type { BenchResult } from './report.ts';

/** Blocks, transactions per block, and logs per transaction. A full settlement has fifty logs. */
const shape = { blocks: 100, transactions: 20, logs: 50 };
const logCount = shape.blocks * shape.transactions * shape.logs;

/** The result of reading all logs once. */
interface Run {
  readonly logs: number;
  readonly seconds: number;
  readonly cpuMicroseconds: number;
}

/** One method of reading all logs. */
interface Reader {
  readonly name: string;
  run(round: number): Promise<Run>;
}

/** A reader in this process that returns the number of logs. The time of `prepare` does not count. */
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
  /** Processor time per log in the reading process, without the node's and PostgreSQL's. */
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
  // Ponder's backfill stops some blocks below the head.
  await chain.request('anvil_mine', [toHex(shape.blocks)]);
}

/** viem's own method: ranges of blocks, and logs that the ABI decodes. It verifies nothing. */
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
  const context = { chain, rpc, source: logSourceOf(chain) };
  return timed('watcher, read, proven and decoded', async () => {
    const headers = await fetchHeaders(context, 1n, shape.blocks);
    let events = 0;
    // Like a round of the watcher: it releases the events of a block after processing them.
    await eachWithEvents(context, headers, async (blocks) => {
      for (const block of blocks) events += block.events.length;
    });
    return events;
  });
}

/** The whole path into the database. Each run uses a separate chain there, which is empty at its start. */
function storingReader({ chain }: LogChain, rpc: HttpRpc, db: Database): Reader {
  const read = async () => {
    let stored = 0;
    const handler = {
      ...silent,
      onBlock: async (...[, , , events]: Parameters<ChainHandler['onBlock']>) => {
        stored += events.length;
      },
    };
    const source = logSourceOf(chain);
    const watcher = { chain, rpc, source, db, clock: systemClock, log: silentLog, handler };
    let state = freshState;
    do state = await watchRound(watcher, state);
    while (state.found === 'behind');
    return stored;
  };
  return timed('watcher, with every event stored', read, async () => {
    await db.transaction(async (transaction) => {
      for (const clear of [clearCursors, clearBlocks, clearEvents]) {
        await transaction.query(clear, { chainId: chain.chainId });
      }
    });
  });
}

async function measureReaders(
  readers: readonly Reader[],
  { effort, log }: BenchEnvironment,
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

const ponderName = 'Ponder 0.16.10, with every event stored';

const round = (value: number) => Math.round(value * 10) / 10;

/** Reads the same logs by several methods, and times a payment from its block into the database. */
export async function measureIngestion(environment: BenchEnvironment): Promise<BenchResult> {
  const chain = await startLogChain(environment.onEnd);
  environment.log(`${logCount} logs are being written`);
  await fill(chain);
  // The fixture creates its database on the bench's durable server.
  const server = new URL(await environment.createDatabase('ingestion'));
  server.pathname = '/postgres';
  await prepareTemplate(server.href);
  process.env['FLORIN_TEST_POSTGRES'] = server.href;
  const world = await SettlementWorld.open();
  // The fixture's drop is not needed, because the server ends as well. The drop could also not stop a running
  // autovacuum.
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
    environment.log(`skipping Ponder, which is not installed: ${ponderInstall}`);
  }
  const readings = await measureReaders(readers, environment);
  await world.database.db.transaction((transaction) =>
    transaction.query(clearCursors, { chainId: chain.chain.chainId }),
  );
  const before = await rawWays(chain, world, async () => {});
  const { db } = world.database;
  let noted = 0n;
  const note = (blockHash: Hex) => {
    noted += 1n;
    return db.query(noteBlock, { chainId: 0, blockNumber: noted, blockHash, blockTime: new Date() });
  };
  const stored = latencyOf(await rawWays(chain, world, note));
  const own = latencyOf(await ownWays(chain, rpc, world));
  // The second half, so that other load on the machine affects both paths equally.
  const raw = latencyOf([...before, ...(await rawWays(chain, world, async () => {}))]);
  for (const [name, { announced, sent }] of Object.entries({ raw, stored, own })) {
    environment.log(`${name}: ${round(announced)} ms from the announcement, ${round(sent)} ms from sending`);
  }
  return resultOf(environment, readings, { raw, stored, own });
}

const against = (value: number) => Math.round(value * 100) / 100;

function ratioOf(ours: Reading, theirs: Reading, wanted: number): BenchResult['ratios'][number] {
  return {
    name: `${ours.name} / ${theirs.name}`,
    value: against(ours.perSecond / theirs.perSecond),
    byProcessorTime: against(theirs.microseconds / ours.microseconds),
    wanted,
  };
}

function resultOf(
  { effort }: BenchEnvironment,
  readings: readonly Reading[],
  { raw, stored, own }: { readonly raw: Latency; readonly stored: Latency; readonly own: Latency },
): BenchResult {
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
        'announced to result, p50 ms': '',
        'sent to result, p50 ms': '',
      })),
      ...[
        { name: 'newHeads, then getLogs', latency: raw },
        { name: 'newHeads, then getLogs, and one row committed', latency: stored },
        { name: 'session.payment_detected committed', latency: own },
      ].map(({ name, latency }) => ({
        what: name,
        'logs/s': '',
        'our µs a log': '',
        'announced to result, p50 ms': round(latency.announced),
        'sent to result, p50 ms': round(latency.sent),
      })),
    ],
    ratios: [
      ratioOf(reading, viem, 2.5),
      ratioOf(storing, viem, 0),
      ...(ponder === undefined ? [] : [ratioOf(storing, ponder, 2)]),
      ...[
        { name: 'from sending: newHeads, then getLogs', value: raw.sent / own.sent },
        { name: 'from the announcement: newHeads, then getLogs', value: raw.announced / own.announced },
        {
          name: 'from the announcement: newHeads, then getLogs, and one row committed',
          value: stored.announced / own.announced,
        },
      ].map(({ name, value }) => ({
        name: `${name} / session.payment_detected committed`,
        value: against(value),
        byProcessorTime: 0,
        wanted: 0,
      })),
    ],
    notes: [
      `${logCount} logs of ours: ${shape.blocks} blocks, ${shape.transactions} transactions each, ${shape.logs} logs each (a full settlement), on anvil.`,
      'viem checks nothing. The watcher hashes every header and all receipts, and reads receipts, for which anvil takes longer than for logs.',
      '"Sent" is the time at which the payer sends the transaction to the node. "Announced" is the time at which the WebSocket reports the new block. The baseline then requests its logs over HTTP, and Florin the head and then the receipts. Florin commits the whole detection: block, event, session, and the event for webhooks. Its floor is 15 ms from sending. The baselines check nothing and store nothing, but the second one commits one row. Before each payment all three open a session and sign an order, so that the load is the same.',
      "Ponder's time is the one that it reports for its backfill, without its start. It trusts the logs of the node. Florin stores every event and then marks it as final.",
    ],
  };
}
