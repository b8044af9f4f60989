import { openHttpRpc } from '@florin/evm';
import { type Anvil, type LyingRpc, startLyingRpc, startTestAnvil } from '@florin/evm/testing';
import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '#chains/chain.ts';
import type { ChainHandler } from '#chains/event.ts';
import { type ChainCursor, findCursor, findDroppedEvents } from '#chains/watcher/cursor.ts';
import { freshState, type Watcher, type WatcherState } from '#chains/watcher/state.ts';
import { watcherOf, watchRound } from '#chains/watcher/watcher.ts';
import { systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import type { TestDatabase } from './database.ts';
import { installEmitter, orderIdOf, paidCall, sendCalls, testChain } from './emitter.ts';

const orders = new Map(Array.from({ length: 200 }, (_, number) => [orderIdOf(number), number]));
let lastChainId = 70_000;

/** A watcher of a chain, and where its last round has left it. */
export interface TestWatcher {
  readonly watcher: Watcher;
  state: WatcherState;
  /** One round; returns what it found. */
  round(): Promise<WatcherState['found']>;
  /** Rounds until nothing is left to do; returns what the last one found. */
  catchUp(): Promise<WatcherState['found']>;
}

/** Makes a watcher that has not begun. */
export function testWatcher(watcher: Watcher): TestWatcher {
  const own: TestWatcher = {
    watcher,
    state: freshState,
    async round() {
      own.state = await watchRound(watcher, own.state);
      return own.state.found;
    },
    async catchUp() {
      for (;;) {
        const found = await own.round();
        if (found === 'idle' || found === 'halted') return found;
      }
    },
  };
  return own;
}

/** A chain behind nodes that may lie, and a handler that writes down what it is told, each order by its number. */
export interface WatchedChain {
  readonly anvil: Anvil;
  readonly proxies: readonly LyingRpc[];
  readonly chain: Chain;
  readonly story: string[];
  readonly handler: ChainHandler;
  /** A watcher of this chain that asks all proxies, in their order. */
  watcher(changes?: Partial<Watcher>): TestWatcher;
  /** Pays orders in the next block; the transactions' hashes. */
  emit(...numbers: readonly number[]): Promise<Hex[]>;
  /** Fails where the chain has not begun. */
  cursor(): Promise<ChainCursor>;
  /** Orders whose final events were dropped, and whether they came back. */
  dropped(): Promise<[number | undefined, boolean][]>;
  close(): Promise<void>;
}

/** Starts a chain with this many nodes, its contracts in place, in a database that it shares with others. */
export async function watchedChain(
  database: TestDatabase,
  options: { readonly nodes?: number; readonly changes?: Partial<Chain> } = {},
): Promise<WatchedChain> {
  lastChainId += 1;
  const chainId = lastChainId;
  const anvil = await startTestAnvil({ chainId });
  await installEmitter(anvil);
  const proxies = await Promise.all(
    Array.from({ length: options.nodes ?? 1 }, () => startLyingRpc(anvil.url)),
  );
  const urls = proxies.map((proxy) => proxy.url);
  const rpc = openHttpRpc({
    ...{ chainId, urls, clock: systemClock, log: silentLog, timeLimitMs: 60_000 },
  });
  const chain = testChain(anvil, options.changes);
  const story: string[] = [];
  const tell = (what: string, events: readonly { readonly orderId: Hex }[]) => {
    if (events.length > 0)
      story.push(`${what}: ${events.map(({ orderId }) => orders.get(orderId)).join(' ')}`);
  };
  const handler: ChainHandler = {
    onBlock: async (_transaction, _chain, block, events) => tell(`block ${block.number}`, events),
    onReorg: async (_transaction, _chain, removed) => tell('reorg', removed),
    onFinal: async (_transaction, _chain, block, events) => tell(`final ${block.number}`, events),
    onDropped: async (_transaction, _chain, dropped) => tell('dropped', dropped),
  };
  const { db } = database;
  return {
    anvil,
    proxies,
    chain,
    story,
    handler,
    watcher: (changes = {}) =>
      testWatcher({
        ...watcherOf({ chain, rpc, db, clock: systemClock, log: silentLog, handler }),
        ...changes,
      }),
    emit: (...numbers) =>
      sendCalls(
        anvil,
        numbers.map((number) => paidCall(orderIdOf(number))),
      ),
    async cursor() {
      const cursor = await findCursor(db, chainId);
      if (cursor === undefined) throw new Error('the chain has not begun');
      return cursor;
    },
    async dropped() {
      const events = await findDroppedEvents(db, chainId, 100);
      return events.map(({ orderId, returnedAt }) => [orders.get(orderId as Hex), returnedAt !== undefined]);
    },
    async close() {
      await rpc.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await anvil.close();
    },
  };
}
