import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from 'viem';
import { silentLog } from '../../test/context.ts';
import { emitter, emitterSource, eventCall, idOf } from '../../test/emitter.ts';
import {
  anvil,
  chain,
  chainId,
  clock,
  context,
  database,
  mineAndFollow,
  outcomes,
  pending,
  proxy,
  record,
  round,
  rpc,
  sender,
  sendForeign,
  setAhead,
  silentHandler,
  startAnew,
  statuses,
  useSender,
  wallet,
  watcher,
} from '../../test/sender-chain.ts';
import { getTransactionCount, getTransactionReceipt } from '../nodes/actions.ts';
import { RpcUnavailable } from '../nodes/rpc.ts';
import { setHalted } from '../watcher/watcher.sql.ts';
import { runWatcher } from '../watcher/watcher.ts';
import { newLoopState, senderRound } from './sender-loop.ts';
import type { SentOutcome } from './sent.ts';

useSender();

test('a node without the state of final blocks does not stop sending', async () => {
  await sendForeign(0n);
  await mineAndFollow();
  proxy.faults.prunedState = true;
  const sent = await record(1);
  assert.deepEqual(
    (await pending()).map(({ nonce }) => nonce),
    [1n],
  );
  await sender.broadcast(sent.transactionId);
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a transaction is reported as succeeded once its block is final, with the time of the block', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow();
  assert.equal((await pending())[0]?.minedHash, sent.txHash);
  await mineAndFollow(2);
  assert.deepEqual(outcomes, []);
  await mineAndFollow();
  const receipt = await getTransactionReceipt(rpc, sent.txHash);
  const block = (await anvil.request('eth_getBlockByHash', [receipt?.blockHash, false])) as {
    timestamp: Hex;
  };
  const told: SentOutcome = {
    transactionId: sent.transactionId,
    chainId,
    purpose: 'own',
    status: 'succeeded',
    txHash: sent.txHash,
    blockTime: new Date(Number(block.timestamp) * 1000),
  };
  assert.deepEqual(outcomes, [told]);
  await mineAndFollow();
  assert.deepEqual(outcomes, [told]);
});

test('96 calls recorded at once from one wallet all succeed', async () => {
  const stop = new AbortController();
  const parts = { chain, rpc, source: emitterSource(chain), handler: silentHandler };
  const watching = { ...parts, db: database.db, clock, log: silentLog };
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

test('a transaction that the node accepted and dropped is broadcast again', async () => {
  proxy.faults.dropSent = true;
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  proxy.faults.dropSent = false;
  await mineAndFollow();
  assert.equal(await getTransactionReceipt(rpc, sent.txHash), undefined);
  setAhead(2_500);
  await round();
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('an error after the node accepted the transaction creates no second one for the nonce', async () => {
  proxy.faults.errorAfterSending = true;
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow(4);
  assert.deepEqual(
    outcomes.map((outcome) => outcome.txHash),
    [sent.txHash],
  );
  assert.equal(await getTransactionCount(rpc, wallet.address, 'latest'), 1n);
});

test('a transaction recorded before a crash is broadcast by the next process', async () => {
  await record(1);
  await record(2);
  startAnew();
  setAhead(2_500);
  await round();
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded', 'succeeded']);
});

test('a rollback frees the nonce', async () => {
  const plan = await sender.plan(chainId, { purpose: 'own', to: emitter, data: eventCall(idOf(1)) });
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

test('two processes report an outcome once', async () => {
  for (const number of [1, 2, 3]) await sender.broadcast((await record(number)).transactionId);
  await anvil.mine(5);
  await watcher.catchUp();
  await Promise.all([1, 2, 3].map(() => senderRound(context, chain, newLoopState())));
  assert.deepEqual(statuses(), ['succeeded', 'succeeded', 'succeeded']);
});

test('a call that would revert is a typed refusal with its data', async () => {
  // mstore(0, 0x2a), revert(0, 32)
  await anvil.request('anvil_setCode', [emitter, '0x602a60005260206000fd']);
  const request = { purpose: 'own', to: emitter, data: '0x' } as const;
  assert.deepEqual(await sender.plan(chainId, request), {
    reverted: true,
    data: `0x${'2a'.padStart(64, '0')}`,
  });
});

test('a transaction that reverts on chain is reported as failed', async () => {
  const sent = await record(1);
  await anvil.request('anvil_setCode', [emitter, '0x60006000fd']);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['failed']);
});

test('an outcome whose owner fails is reported again', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await anvil.mine(4);
  const failing = { ...context, onOutcome: () => Promise.reject(new Error('not now')) };
  await assert.rejects(round(failing), { message: 'not now' });
  await round();
  assert.deepEqual(statuses(), ['succeeded']);
});

test('no transaction is sent or finished on a halted chain', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow(2);
  await database.db.query(setHalted, { chainId, haltedReason: 'a look is needed', updatedAt: clock.now() });
  proxy.seen.clear();
  setAhead(60_000);
  await mineAndFollow(4);
  assert.deepEqual([outcomes, [...proxy.seen.keys()]], [[], []]);
});

test('a broadcast without a node is not a failure, but planning without one is', async () => {
  const sent = await record(1);
  proxy.faults.tooManyRequests = true;
  await sender.broadcast(sent.transactionId);
  const request = { purpose: 'own', to: emitter, data: '0x' } as const;
  await assert.rejects(sender.plan(chainId, request), RpcUnavailable);
  proxy.faults.tooManyRequests = false;
  setAhead(2_500);
  await round();
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded']);
});
