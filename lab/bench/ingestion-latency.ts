import { type HttpRpc, inOrder, newHeads, runWatcher } from '@florin/evm';
import type { Database } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { silentLog, systemClock } from '@florin/server/operator';
import {
  type ChainHandler,
  exceptionHandler,
  logSourceOf,
  movementHandler,
  paymentHandler,
  refundHandler,
  settlementHandler,
} from '@florin/server/parts';
import type { SettlementWorld } from '@florin/server/testing';
import { WebSocket } from 'undici';
import type { LogChain } from './ingestion-chain.ts';
import { median } from './measure.ts';

/** Number of timed payments. */
const payments = 200;
/** The first payments warm the service up and wait until the WebSocket is open. */
const warmUps = 100;

/** Latencies of a payment in milliseconds, medians. */
export interface Latency {
  /** From the node's announcement of the new block. */
  readonly announced: number;
  /** From sending the payer's transaction to the node, which mines it at once. */
  readonly sent: number;
}

interface Way {
  readonly sentAt: number;
  readonly announcedAt: number;
  readonly doneAt: number;
}

export function latencyOf(ways: readonly Way[]): Latency {
  return {
    announced: median(ways.map(({ announcedAt, doneAt }) => doneAt - announcedAt)),
    sent: median(ways.map(({ sentAt, doneAt }) => doneAt - sentAt)),
  };
}

/**
 * A payable order of a new session. Every path creates one before each payment, even where it does not need one: the
 * machine's work between two payments affects the next latency.
 */
async function openOrder(world: SettlementWorld) {
  const sessionId = await world.openSession('ethereum::usdc');
  return { sessionId, order: await world.signOrder(sessionId, 'ethereum::usdc') };
}

/** The baseline: newHeads, then one request for the block's logs by its hash, then `store`. It verifies nothing. */
export async function rawWays(
  chain: LogChain,
  world: SettlementWorld,
  store: (blockHash: Hex) => Promise<unknown>,
): Promise<Way[]> {
  const socket = new WebSocket(chain.url.replace('http', 'ws'));
  let heard: (head: { hash: Hex; announcedAt: number }) => void = () => {};
  await new Promise<void>((resolve) => {
    socket.addEventListener('open', () => {
      socket.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
    });
    socket.addEventListener('message', ({ data }) => {
      const announcedAt = performance.now();
      const message = JSON.parse(String(data)) as { params?: { result: { hash: Hex } } };
      if (message.params === undefined) resolve();
      else heard({ hash: message.params.result.hash, announcedAt });
    });
  });
  const ways: Way[] = [];
  for (let index = -warmUps; index < payments; index += 1) {
    const head = new Promise<{ hash: Hex; announcedAt: number }>((resolve) => {
      heard = resolve;
    });
    const { order } = await openOrder(world);
    const sentAt = performance.now();
    await chain.emit(order.orderId, 1);
    const mined = chain.request('anvil_mine', ['0x1']);
    const { hash: blockHash, announcedAt } = await head;
    const logs = await chain.request('eth_getLogs', [{ blockHash, address: chain.chain.gateway }]);
    if (!Array.isArray(logs) || logs.length !== 1) throw new Error('a log is missing');
    await store(blockHash);
    if (index >= 0) ways.push({ sentAt, announcedAt, doneAt: performance.now() });
    await mined;
  }
  socket.close();
  return ways;
}

/** The service's handlers in their order. Nothing becomes final here. */
function serviceHandler(world: SettlementWorld): ChainHandler {
  const moves = { ...world.moves, chains: world.chains };
  return inOrder(
    paymentHandler(moves),
    refundHandler(moves),
    settlementHandler(moves),
    movementHandler(moves),
    exceptionHandler(moves),
  );
}

/** The path until `session.payment_detected` is committed, through the service's watcher and handlers. */
export async function ownWays(chain: LogChain, rpc: HttpRpc, world: SettlementWorld): Promise<Way[]> {
  const { db } = world.database;
  let committed = () => {};
  const noted: Database = {
    ...db,
    transaction: async (work) => {
      const result = await db.transaction(work);
      committed();
      return result;
    },
  };
  const { chainId, wsUrls: urls = [] } = chain.chain;
  const heads = newHeads({ chainId, urls, clock: systemClock, log: silentLog });
  let announcedAt = 0;
  const wake = async (signal: AbortSignal) => {
    await heads.wake(signal);
    announcedAt = performance.now();
  };
  const stop = new AbortController();
  const head = BigInt((await chain.request('eth_blockNumber')) as string);
  // The first transaction only starts the chain, and detects nothing.
  const begun = new Promise<void>((resolve) => {
    committed = resolve;
  });
  const running = [
    heads.run(stop.signal),
    runWatcher({
      source: logSourceOf(chain.chain),
      chain: {
        ...chain.chain,
        startBlock: head + 1n,
        finality: { tag: 'latest', depth: 100_000, quorum: 1 },
      },
      ...{ rpc, db: noted, clock: systemClock, log: silentLog, handler: serviceHandler(world) },
      ...{ signal: stop.signal, wake },
    }),
  ];
  await begun;
  const ways: Way[] = [];
  for (let index = -warmUps; index < payments; index += 1) {
    const { sessionId, order } = await openOrder(world);
    const done = new Promise<void>((resolve) => {
      committed = resolve;
    });
    const sentAt = performance.now();
    await chain.emit(order.orderId, 1);
    const mined = chain.request('anvil_mine', ['0x1']);
    await done;
    if (index >= 0) ways.push({ sentAt, announcedAt, doneAt: performance.now() });
    await mined;
    const { initiateTx } = await world.session(sessionId);
    if (initiateTx === '') throw new Error('the payment was not detected');
  }
  stop.abort();
  await Promise.all(running);
  return ways;
}
