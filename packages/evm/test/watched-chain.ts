import { statement } from '@florin/pg';
import type { Hex } from 'viem';
import { openHttpRpc } from '../src/nodes/http-rpc.ts';
import type { FollowedChain } from '../src/watcher/chain.ts';
import type { Watcher } from '../src/watcher/context.ts';
import { type ChainCursor, findCursor } from '../src/watcher/cursor.ts';
import type { BlockHandler } from '../src/watcher/event.ts';
import { freshState, type WatcherState } from '../src/watcher/state.ts';
import { watchRound } from '../src/watcher/watcher.ts';
import { type Anvil, startTestAnvil } from './anvil.ts';
import { silentLog, systemClock } from './context.ts';
import type { TestDatabase } from './database.ts';
import { emitterSource, eventCall, idOf, installEmitter, sendCalls, testChain } from './emitter.ts';
import { type LyingRpc, startLyingRpc } from './lying-rpc.ts';

const numbers = new Map(Array.from({ length: 200 }, (_, number) => [idOf(number), number]));

const droppedEvents = statement({
  name: 'evm_test_dropped',
  parameters: { chainId: 'int8' },
  columns: { order_id: 'text', has_returned: 'bool' },
  text: `select order_id, returned_at is not null as has_returned from dropped_events
   where chain_id = :chainId order by returned_at nulls first, block_number, log_index`,
});

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

/** A chain behind nodes that may lie, and a handler that writes down its calls, each event by its number. */
export interface WatchedChain {
  readonly anvil: Anvil;
  readonly proxies: readonly LyingRpc[];
  readonly chain: FollowedChain;
  readonly story: string[];
  readonly handler: BlockHandler;
  /** A watcher of this chain that asks all proxies, in their order. */
  watcher(changes?: Partial<Watcher>): TestWatcher;
  /** Emits the events of these numbers in the next block; the transactions' hashes. */
  emit(...numbers: readonly number[]): Promise<Hex[]>;
  /** Fails where the chain has not begun. */
  cursor(): Promise<ChainCursor>;
  /** Numbers of final events that were dropped, and whether these came back. */
  dropped(): Promise<[number | undefined, boolean][]>;
  close(): Promise<void>;
}

/** Starts a chain with this many nodes, its contracts in place, in a database that it shares with others. */
export async function watchedChain(
  database: TestDatabase,
  options: { readonly nodes?: number; readonly changes?: Partial<FollowedChain> } = {},
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
      story.push(`${what}: ${events.map(({ orderId }) => numbers.get(orderId)).join(' ')}`);
  };
  const handler: BlockHandler = {
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
        ...{ chain, rpc, source: emitterSource(chain), db, clock: systemClock, log: silentLog, handler },
        ...changes,
      }),
    emit: (...numbers) =>
      sendCalls(
        anvil,
        numbers.map((number) => eventCall(idOf(number))),
      ),
    async cursor() {
      const cursor = await findCursor(db, chainId);
      if (cursor === undefined) throw new Error('the chain has not begun');
      return cursor;
    },
    async dropped() {
      const rows = await db.query(droppedEvents, { chainId });
      return rows.map((row) => [numbers.get(row.order_id as Hex), row.has_returned]);
    },
    async close() {
      await rpc.close();
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await anvil.close();
    },
  };
}
