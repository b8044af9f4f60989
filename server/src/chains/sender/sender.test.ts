import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { type Clock, systemClock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { type Anvil, startTestAnvil } from '../../../test/harness/anvil.ts';
import { type TestDatabase, testDatabase } from '../../../test/harness/database.ts';
import { gateway, installEmitter, orderIdOf, paidCall, testChain } from '../../../test/harness/emitter.ts';
import { type LyingRpc, startLyingRpc } from '../../../test/harness/lying-rpc.ts';
import { type Chain, chainsOf } from '../chain.ts';
import type { ChainHandler } from '../event.ts';
import { getTransactionCount, getTransactionReceipt } from '../rpc/actions.ts';
import { type HttpRpc, openHttpRpc } from '../rpc/http-rpc.ts';
import { type Rpc, RpcUnavailable } from '../rpc/rpc.ts';
import { setHalted } from '../watcher/watcher.sql.ts';
import { runWatcher, type WatcherState, watcherState, watchRound } from '../watcher/watcher.ts';
import { defaultSenderSettings, type SenderContext } from './context.ts';
import { supersede } from './repair.ts';
import { createSender, type RecordedTransaction, type Sender, type SentOutcome } from './sender.ts';
import { type LoopMemory, newMemory, senderRound } from './sender-loop.ts';
import type { OutcomeHandler } from './sent.ts';
import { allocateNonces, findPending, type PendingTransaction } from './store.ts';
import { type WalletSigner, walletOf } from './wallet.ts';

const gwei = 1_000_000_000n;
const silentHandler: ChainHandler = {
  onBlock: async () => {},
  onReorg: async () => {},
  onFinal: async () => {},
};

let database: TestDatabase;
let anvil: Anvil;
let proxy: LyingRpc;
let rpc: HttpRpc;
let chain: Chain;
let wallet: WalletSigner;
let watcher: WatcherState;
let sender: Sender;
let context: SenderContext;
let memory: LoopMemory;
let outcomes: SentOutcome[];
let aheadMs: number;

const clock: Clock = {
  now: () => new Date(systemClock.now().getTime() + aheadMs),
  monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  sleep: (ms, signal) => systemClock.sleep(ms, signal),
};

function contextWith(onOutcome: OutcomeHandler): SenderContext {
  return {
    chains: chainsOf([chain]),
    rpcOf: () => rpc,
    db: database.db,
    clock,
    log: silentLog,
    wallet,
    maxFeePerGas: 500n * gwei,
    onOutcome,
    settings: defaultSenderSettings,
  };
}

/** A process that has just started: it remembers nothing. */
function startAnew(): void {
  context = contextWith(async (_transaction, outcome) => void outcomes.push(outcome));
  sender = createSender(context);
  memory = newMemory();
}

async function round(): Promise<void> {
  while ((await watchRound(watcher)) === 'behind');
  await senderRound(context, chain, memory);
}

async function mineAndLook(blocks = 1): Promise<void> {
  await anvil.mine(blocks);
  await round();
}

async function record(number: number): Promise<RecordedTransaction> {
  const data = paidCall(orderIdOf(number));
  const plan = await sender.plan(chain.chainId, { purpose: 'settle', to: gateway, data });
  assert.ok(!('reverted' in plan));
  return database.db.transaction((transaction) => sender.record(transaction, plan));
}

async function pending(): Promise<readonly PendingTransaction[]> {
  return findPending(database.db, { chainId: chain.chainId, wallet: wallet.address, limit: 500 });
}

/** A transaction of the same wallet that this database knows nothing of. */
async function sendForeign(nonce: bigint): Promise<Hex> {
  const fees = { maxFee: 400n * gwei, priorityFee: 100n * gwei };
  const call = { to: wallet.address, data: '0x', gasLimit: 21_000n } as const;
  const raw = await wallet.signTransaction({ chainId: chain.chainId, nonce, ...call, ...fees });
  return (await anvil.request('eth_sendRawTransaction', [raw])) as Hex;
}

function statuses(): string[] {
  return outcomes.map((outcome) => outcome.status);
}

before(async () => {
  database = await testDatabase();
});
after(() => database.close());
let chainId = 60_000;
beforeEach(async () => {
  chainId += 1;
  aheadMs = 0;
  outcomes = [];
  anvil = await startTestAnvil({ chainId });
  await installEmitter(anvil);
  proxy = await startLyingRpc(anvil.url);
  rpc = openHttpRpc({ chainId, urls: [proxy.url], clock, log: silentLog, timeLimitMs: 20_000 });
  chain = testChain(anvil, { finality: { tag: 'latest', depth: 3 } });
  wallet = walletOf(anvil.accounts[1]?.privateKey ?? '0x');
  watcher = watcherState({ chain, rpc, db: database.db, clock, log: silentLog, handler: silentHandler });
  startAnew();
  await anvil.mine();
  await round();
});
afterEach(async () => {
  await rpc.close();
  await proxy.close();
  await anvil.close();
});

test('a node without the state of final blocks does not stop sending', async () => {
  await sendForeign(0n);
  await mineAndLook();
  proxy.faults.prunedState = true;
  const sent = await record(1);
  assert.deepEqual(
    (await pending()).map(({ nonce }) => nonce),
    [1n],
  );
  await sender.broadcast(sent.transactionId);
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a transaction is told as succeeded once its block is final, with the time of the block', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndLook();
  assert.equal((await pending())[0]?.minedHash, sent.txHash);
  await mineAndLook(2);
  assert.deepEqual(outcomes, []);
  await mineAndLook();
  const receipt = await getTransactionReceipt(rpc, sent.txHash);
  const block = (await anvil.request('eth_getBlockByHash', [receipt?.blockHash, false])) as {
    timestamp: Hex;
  };
  const told: SentOutcome = {
    transactionId: sent.transactionId,
    chainId,
    purpose: 'settle',
    status: 'succeeded',
    txHash: sent.txHash,
    blockTime: new Date(Number(block.timestamp) * 1000),
  };
  assert.deepEqual(outcomes, [told]);
  await mineAndLook();
  assert.deepEqual(outcomes, [told]);
});

test('96 settlements recorded at once from one wallet all succeed', async () => {
  const stop = new AbortController();
  const watching = { chain, rpc, db: database.db, clock, log: silentLog, handler: silentHandler };
  const running = [sender.run(stop.signal), runWatcher({ ...watching, signal: stop.signal })];
  try {
    const sends = Array.from({ length: 96 }, async (_, number) => {
      const sent = await record(number);
      await sender.broadcast(sent.transactionId);
      return sent.transactionId;
    });
    const ids = await Promise.all(sends);
    const deadline = performance.now() + 180_000;
    while (outcomes.length < 96 && performance.now() < deadline) {
      await anvil.mine();
      await clock.sleep(50);
    }
    assert.deepEqual(statuses(), Array(96).fill('succeeded'));
    assert.deepEqual(new Set(outcomes.map((outcome) => outcome.transactionId)), new Set(ids));
    assert.equal(await getTransactionCount(rpc, wallet.address, 'latest'), 96n);
  } finally {
    stop.abort();
    await Promise.all(running);
  }
});

test('a transaction that the node dropped although it said ok is handed out again', async () => {
  proxy.faults.dropSent = true;
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  proxy.faults.dropSent = false;
  await mineAndLook();
  assert.equal(await getTransactionReceipt(rpc, sent.txHash), undefined);
  aheadMs = 2_500;
  await round();
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('an error after the node took the transaction makes no second one for the nonce', async () => {
  proxy.faults.errorAfterSending = true;
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndLook(4);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.txHash),
    [sent.txHash],
  );
  assert.equal(await getTransactionCount(rpc, wallet.address, 'latest'), 1n);
});

test('what was recorded before a crash is broadcast by the next process', async () => {
  await record(1);
  await record(2);
  startAnew();
  aheadMs = 2_500;
  await round();
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['succeeded', 'succeeded']);
});

test('a rollback gives the nonce back', async () => {
  const plan = await sender.plan(chainId, { purpose: 'settle', to: gateway, data: paidCall(orderIdOf(1)) });
  assert.ok(!('reverted' in plan));
  const failing = database.db.transaction(async (transaction) => {
    await sender.record(transaction, plan);
    throw new Error('changed my mind');
  });
  await assert.rejects(failing, { message: 'changed my mind' });
  await record(1);
  assert.deepEqual(
    (await pending()).map((item) => item.nonce),
    [0n],
  );
});

test('a stuck transaction is replaced at the same nonce by one that offers at least an eighth more', async () => {
  const sent = await record(1);
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(40n * gwei).toString(16)}`]);
  await mineAndLook();
  await sender.broadcast(sent.transactionId);
  await round();
  assert.equal((await pending())[0]?.attempts.length, 1);
  aheadMs = 31_000;
  await round();
  const [item] = await pending();
  const [first, second] = item?.attempts ?? [];
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(second.maxFee * 8n >= first.maxFee * 9n && second.priorityFee * 8n >= first.priorityFee * 9n);
  await mineAndLook(4);
  assert.deepEqual(
    outcomes.map(({ status, txHash }) => [status, txHash]),
    [['succeeded', second.txHash]],
  );
  assert.equal(await getTransactionCount(rpc, wallet.address, 'latest'), 1n);
});

test('a base fee over the cap is waited out without replacements', async () => {
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(600n * gwei).toString(16)}`]);
  await mineAndLook();
  const sent = await record(1);
  for (aheadMs of [31_000, 62_000, 93_000]) await round();
  assert.deepEqual(
    (await pending()).map((item) => item.attempts.map((attempt) => attempt.txHash)),
    [[sent.txHash]],
  );
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${gwei.toString(16)}`]);
  await mineAndLook();
  aheadMs = 96_000;
  await round();
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a transaction reorged out is handed out again as it was signed', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndLook();
  await anvil.mine();
  await round();
  await anvil.request('anvil_reorg', [2, []]);
  await round();
  assert.equal((await pending())[0]?.minedHash, '');
  await mineAndLook(4);
  assert.deepEqual(
    outcomes.map(({ status, txHash }) => [status, txHash]),
    [['succeeded', sent.txHash]],
  );
});

test('a transaction whose nonce a foreign one took is told as superseded when that is final', async () => {
  const sent = await record(1);
  await sendForeign(0n);
  await sender.broadcast(sent.transactionId);
  await mineAndLook(2);
  await round();
  assert.deepEqual(outcomes, [], 'the foreign transaction may still be reorged out');
  await mineAndLook(3);
  assert.deepEqual(outcomes, [], 'seen once');
  await round();
  await round();
  assert.deepEqual(outcomes, [
    {
      transactionId: sent.transactionId,
      chainId,
      purpose: 'settle',
      status: 'superseded',
      txHash: sent.txHash,
      blockTime: undefined,
    },
  ]);
  const again = await record(1);
  await sender.broadcast(again.transactionId);
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['superseded', 'succeeded']);
});

test('a nonce is never below the final transactions of the wallet, whoever sent them', async () => {
  await sendForeign(0n);
  await sendForeign(1n);
  await mineAndLook(5);
  const first = await record(1);
  assert.deepEqual(
    (await pending()).map((item) => item.nonce),
    [2n],
  );
  await sender.broadcast(first.transactionId);
  await sendForeign(3n);
  await mineAndLook(5);
  await record(2);
  assert.deepEqual(
    (await pending()).map((item) => item.nonce),
    [4n],
  );
});

test('what is in a block and not final takes up no nonce, by depth and by tag: a reorg leaves no hole', async () => {
  // By a process that a restored backup has made forget it.
  await sendForeign(0n);
  await mineAndLook();
  const request = { purpose: 'settle', to: gateway, data: paidCall(orderIdOf(1)) } as const;
  for (const finality of [chain.finality, { tag: 'finalized', depth: 1 } as const]) {
    chain = { ...chain, finality };
    startAnew();
    const plan = await sender.plan(chainId, request);
    assert.deepEqual('reverted' in plan ? 'reverted' : plan.nonceFloor, 0n, finality.tag);
  }
});

test('a foreign transaction that is reorged out has superseded nothing, by the tag: ours is mined at its nonce', async () => {
  chain = { ...chain, finality: { tag: 'finalized', depth: 1 } };
  startAnew();
  const sent = await record(1);
  await sendForeign(0n);
  await mineAndLook();
  await round();
  await round();
  assert.deepEqual(outcomes, []);
  await anvil.request('anvil_reorg', [1, []]);
  aheadMs = 2_500;
  await round();
  await mineAndLook(4);
  assert.deepEqual(
    outcomes.map(({ status, txHash }) => [status, txHash]),
    [['succeeded', sent.txHash]],
  );
});

test('a transaction that is mined after all is never given up', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await anvil.mine(5);
  const [item] = await pending();
  assert.ok(item !== undefined);
  assert.equal(await supersede(context, rpc, item, { finalCount: 1n, isSuspect: true }), false);
  assert.deepEqual(outcomes, []);
});

test('two processes tell an outcome once', async () => {
  for (const number of [1, 2, 3]) await sender.broadcast((await record(number)).transactionId);
  await anvil.mine(5);
  while ((await watchRound(watcher)) === 'behind');
  await Promise.all([1, 2, 3].map(() => senderRound(context, chain, newMemory())));
  assert.deepEqual(statuses(), ['succeeded', 'succeeded', 'succeeded']);
});

test('a receipt in a block that we do not have counts for nothing yet', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await anvil.mine(6);
  await senderRound(context, chain, memory);
  assert.deepEqual([(await pending())[0]?.minedHash, outcomes], ['', []]);
  await round();
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a node that is behind us cannot say that a transaction is in no block', async () => {
  const sent = await record(1);
  await record(2);
  await sender.broadcast(sent.transactionId);
  await mineAndLook();
  const [genesis] = await rpc.batch([{ method: 'eth_getBlockByNumber', params: ['0x0', false] }]);
  assert.ok(genesis !== undefined);
  const behind: Rpc = {
    request: rpc.request,
    async batch(asked) {
      const answers = await rpc.batch(asked);
      return answers.map((answer, index) => {
        if (asked[index]?.method === 'eth_getTransactionReceipt') return { result: null };
        return asked[index]?.method === 'eth_getBlockByNumber' ? genesis : answer;
      });
    },
  };
  proxy.seen.clear();
  aheadMs = 31_000;
  await senderRound({ ...context, rpcOf: () => behind }, chain, memory);
  assert.deepEqual(
    (await pending()).map((item) => [item.minedHash, item.attempts.length]),
    [
      [sent.txHash, 1],
      ['', 1],
    ],
  );
  assert.equal(proxy.seen.get('eth_sendRawTransaction'), undefined);
});

test('a hole in the nonces is filled by a transfer of nothing, of which nobody is told', async () => {
  await database.db.transaction((transaction) =>
    allocateNonces(transaction, { chainId, wallet: wallet.address, floor: 0n, count: 1 }),
  );
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndLook();
  aheadMs = 2_500;
  await round();
  await mineAndLook(4);
  assert.deepEqual(
    outcomes.map(({ transactionId, status }) => [transactionId, status]),
    [[sent.transactionId, 'succeeded']],
  );
  assert.deepEqual(await pending(), []);
});

test('a call that would revert is a typed refusal with its data', async () => {
  // mstore(0, 0x2a), revert(0, 32)
  await anvil.request('anvil_setCode', [gateway, '0x602a60005260206000fd']);
  const request = { purpose: 'settle', to: gateway, data: '0x' } as const;
  assert.deepEqual(await sender.plan(chainId, request), {
    reverted: true,
    data: `0x${'2a'.padStart(64, '0')}`,
  });
});

test('a transaction that reverts on chain is told as failed', async () => {
  const sent = await record(1);
  await anvil.request('anvil_setCode', [gateway, '0x60006000fd']);
  await sender.broadcast(sent.transactionId);
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['failed']);
});

test('an outcome whose owner fails is told again', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await anvil.mine(4);
  const working = context;
  context = contextWith(() => Promise.reject(new Error('not now')));
  await assert.rejects(round(), { message: 'not now' });
  context = working;
  await round();
  assert.deepEqual(statuses(), ['succeeded']);
});

test('nothing is sent or concluded on a halted chain', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndLook(2);
  await database.db.query(setHalted, [chainId, 'a look is needed', clock.now()]);
  proxy.seen.clear();
  aheadMs = 60_000;
  await mineAndLook(4);
  // The watcher had asked for the head before it saw that the chain is halted.
  assert.deepEqual([outcomes, [...proxy.seen.keys()]], [[], ['eth_getBlockByNumber']]);
});

test('a broadcast without a node is no failure, a plan is', async () => {
  const sent = await record(1);
  proxy.faults.tooManyRequests = true;
  await sender.broadcast(sent.transactionId);
  const request = { purpose: 'settle', to: gateway, data: '0x' } as const;
  await assert.rejects(sender.plan(chainId, request), RpcUnavailable);
  proxy.faults.tooManyRequests = false;
  aheadMs = 2_500;
  await round();
  await mineAndLook(4);
  assert.deepEqual(statuses(), ['succeeded']);
});
