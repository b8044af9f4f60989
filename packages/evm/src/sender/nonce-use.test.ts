import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emitter, eventCall, idOf } from '../../test/emitter.ts';
import {
  anvil,
  chain,
  chainId,
  context,
  database,
  mineAndFollow,
  outcomes,
  pending,
  record,
  round,
  rpc,
  sender,
  sendForeign,
  setAhead,
  startAnew,
  statuses,
  useSender,
  wallet,
} from '../../test/sender-chain.ts';
import { countForeignTransactions } from './foreign-use.ts';
import { supersede } from './repair.ts';
import { allocateNonces } from './store.ts';

useSender();

test('a transaction is reported as superseded when a foreign one with its nonce is final', async () => {
  const sent = await record(1);
  await sendForeign(0n);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow(2);
  await round();
  assert.deepEqual(outcomes, [], 'the foreign transaction may still be reorged out');
  await mineAndFollow(3);
  assert.deepEqual(outcomes, [], 'seen once');
  await round();
  await round();
  assert.deepEqual(outcomes, [
    {
      transactionId: sent.transactionId,
      chainId,
      purpose: 'own',
      status: 'superseded',
      txHash: sent.txHash,
      blockTime: undefined,
    },
  ]);
  const again = await record(1);
  await sender.broadcast(again.transactionId);
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['superseded', 'succeeded']);
  const foreign = (since = new Date(0)) =>
    countForeignTransactions({ db: database.db, rpc }, { chain, wallet: wallet.address, since });
  assert.equal(await foreign(), 1, 'it had the nonce of ours');
  await sendForeign(2n);
  await mineAndFollow(4);
  assert.equal(await foreign(), 2, 'and came after ours');
  await rpc.request('anvil_setNonce', [wallet.address, '0xbb8']);
  await mineAndFollow(4);
  assert.equal(await foreign(), 1_000, 'and so many that none of ours is among the newest');
  const later = new Date(Date.now() + 86_400_000);
  assert.equal(await foreign(later), 0, 'a database that was restored since knows nothing of them');
});

test('a nonce is never below the final transactions of the wallet, foreign ones included', async () => {
  await sendForeign(0n);
  await sendForeign(1n);
  await mineAndFollow(5);
  const first = await record(1);
  assert.deepEqual(
    (await pending()).map((item) => item.nonce),
    [2n],
  );
  await sender.broadcast(first.transactionId);
  await sendForeign(3n);
  await mineAndFollow(5);
  await record(2);
  assert.deepEqual(
    (await pending()).map((item) => item.nonce),
    [4n],
  );
});

test('transactions in blocks that are not final keep their nonces, by depth and by tag: a reorg leaves no gap', async () => {
  // A process has forgotten this transaction after a restore from a backup.
  await sendForeign(0n);
  await mineAndFollow();
  const request = { purpose: 'own', to: emitter, data: eventCall(idOf(1)) } as const;
  for (const finality of [chain.finality, { tag: 'finalized', depth: 1, quorum: 1 } as const]) {
    startAnew({ ...chain, finality });
    const plan = await sender.plan(chainId, request);
    assert.deepEqual('reverted' in plan ? 'reverted' : plan.nonceFloor, 0n, finality.tag);
  }
});

test('with a finality tag, a foreign transaction that is reorged out supersedes nothing: ours is mined at its nonce', async () => {
  startAnew({ ...chain, finality: { tag: 'finalized', depth: 1, quorum: 1 } });
  const sent = await record(1);
  await sendForeign(0n);
  await mineAndFollow();
  await round();
  await round();
  assert.deepEqual(outcomes, []);
  await anvil.request('anvil_reorg', [1, []]);
  setAhead(2_500);
  await round();
  await mineAndFollow(4);
  assert.deepEqual(
    outcomes.map(({ status, txHash }) => [status, txHash]),
    [['succeeded', sent.txHash]],
  );
});

test('a transaction that is mined late is never given up', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await anvil.mine(5);
  const [item] = await pending();
  assert.ok(item !== undefined);
  assert.equal(await supersede(context, rpc, item, { finalCount: 1n, isSuspect: true, rewinds: 0n }), false);
  assert.deepEqual(outcomes, []);
});

test('a nonce gap is filled by a transfer of zero, which is not reported', async () => {
  await database.db.transaction((transaction) =>
    allocateNonces(transaction, { chainId, wallet: wallet.address, floor: 0n, count: 1 }),
  );
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow();
  setAhead(2_500);
  await round();
  await mineAndFollow(4);
  assert.deepEqual(
    outcomes.map(({ transactionId, status }) => [transactionId, status]),
    [[sent.transactionId, 'succeeded']],
  );
  assert.deepEqual(await pending(), []);
});
