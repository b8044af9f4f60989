import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach } from 'node:test';
import type { Hex } from 'viem';
import type { Clock } from '../src/context.ts';
import { type HttpRpc, openHttpRpc } from '../src/nodes/http-rpc.ts';
import { defaultSenderSettings, type SenderContext } from '../src/sender/context.ts';
import { createSender, type Sender } from '../src/sender/sender.ts';
import { type LoopState, newLoopState, senderRound } from '../src/sender/sender-loop.ts';
import type { RecordedTransaction, SentOutcome } from '../src/sender/sent.ts';
import { findPending, type PendingTransaction } from '../src/sender/store.ts';
import { type WalletSigner, walletOf } from '../src/sender/wallet.ts';
import type { FollowedChain } from '../src/watcher/chain.ts';
import type { BlockHandler } from '../src/watcher/event.ts';
import { type Anvil, startTestAnvil } from './anvil.ts';
import { silentLog, systemClock } from './context.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { emitter, emitterSource, eventCall, idOf, installEmitter, testChain } from './emitter.ts';
import { type LyingRpc, startLyingRpc } from './lying-rpc.ts';
import { type TestWatcher, testWatcher } from './watched-chain.ts';

/** One wallet's sender on a real chain behind a node that may lie, round by round; anew for each test of the file. */

export const gwei = 1_000_000_000n;
export const silentHandler: BlockHandler = {
  onBlock: async () => {},
  onReorg: async () => {},
  onFinal: async () => {},
};

export let database: TestDatabase;
export let chainId = 60_000;
export let anvil: Anvil;
export let proxy: LyingRpc;
export let rpc: HttpRpc;
export let chain: FollowedChain;
export let wallet: WalletSigner;
export let watcher: TestWatcher;
export let sender: Sender;
export let context: SenderContext;
export let memory: LoopState;
export let outcomes: SentOutcome[];
let aheadMs: number;

export const clock: Clock = {
  now: () => new Date(systemClock.now().getTime() + aheadMs),
  monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};

/** Puts the sender's clock so far ahead of the true time. */
export function setAhead(ms: number): void {
  aheadMs = ms;
}

/** A process that has just started: it remembers nothing. On the same chain, or on what has become of it. */
export function startAnew(changed: FollowedChain = chain): void {
  chain = changed;
  context = {
    chains: [chain],
    purposes: { relayed: [], withinReserve: [] },
    rpcOf: () => rpc,
    db: database.db,
    clock,
    log: silentLog,
    wallet,
    maxFeePerGas: 500n * gwei,
    onOutcome: async (_transaction, outcome) => void outcomes.push(outcome),
    settings: defaultSenderSettings,
  };
  sender = createSender(context);
  memory = newLoopState();
}

/** Lets the watcher catch up, then runs one round of the sender. */
export async function round(by: SenderContext = context): Promise<void> {
  await watcher.catchUp();
  await senderRound(by, chain, memory);
}

export async function mineAndFollow(blocks = 1): Promise<void> {
  await anvil.mine(blocks);
  await round();
}

/** Records the call of this number. */
export async function record(number: number): Promise<RecordedTransaction> {
  const data = eventCall(idOf(number));
  const plan = await sender.plan(chain.chainId, { purpose: 'own', to: emitter, data });
  assert.ok(!('reverted' in plan));
  return database.db.transaction((transaction) => sender.record(transaction, plan));
}

export async function pending(): Promise<readonly PendingTransaction[]> {
  return findPending(database.db, { chainId: chain.chainId, wallet: wallet.address, limit: 500 });
}

/** A transaction of the same wallet that this database knows nothing of. */
export async function sendForeign(nonce: bigint): Promise<Hex> {
  const fees = { maxFee: 400n * gwei, priorityFee: 100n * gwei };
  const call = { to: wallet.address, data: '0x', gasLimit: 21_000n } as const;
  const raw = await wallet.signTransaction({ chainId: chain.chainId, nonce, ...call, ...fees });
  return (await anvil.request('eth_sendRawTransaction', [raw])) as Hex;
}

export function statuses(): string[] {
  return outcomes.map((outcome) => outcome.status);
}

/** Has the exports stand for the tests of the file that calls this, at its top. */
export function useSender(): void {
  before(async () => {
    database = await testDatabase();
  });
  after(() => database.close());
  beforeEach(async () => {
    // A chain of its own for each test, so that all share one database.
    chainId += 1;
    aheadMs = 0;
    outcomes = [];
    anvil = await startTestAnvil({ chainId });
    await installEmitter(anvil);
    proxy = await startLyingRpc(anvil.url);
    rpc = openHttpRpc({ chainId, urls: [proxy.url], clock, log: silentLog, timeLimitMs: 60_000 });
    chain = testChain(anvil, { finality: { tag: 'latest', depth: 3, quorum: 1 } });
    wallet = walletOf(anvil.accounts[1]?.privateKey ?? '0x');
    const source = emitterSource(chain);
    const handler = silentHandler;
    watcher = testWatcher({ chain, rpc, source, db: database.db, clock, log: silentLog, handler });
    startAnew();
    await anvil.mine();
    await round();
  });
  afterEach(async () => {
    await rpc.close();
    await proxy.close();
    await anvil.close();
  });
}
