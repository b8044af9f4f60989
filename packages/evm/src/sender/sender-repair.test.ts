import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statement, type Transaction } from '@florin/pg';
import { silentLog } from '../../test/context.ts';
import { emitterSource } from '../../test/emitter.ts';
import { untilLockWaiter } from '../../test/lock-waiter.ts';
import {
  anvil,
  chain,
  clock,
  context,
  database,
  gwei,
  memory,
  mineAndFollow,
  outcomes,
  pending,
  proxy,
  record,
  round,
  rpc,
  sender,
  setAhead,
  silentHandler,
  statuses,
  useSender,
  wallet,
} from '../../test/sender-chain.ts';
import { testWatcher } from '../../test/watched-chain.ts';
import { getTransactionCount } from '../nodes/actions.ts';
import { type Rpc, RpcError, type RpcOutcome } from '../nodes/rpc.ts';
import type { FollowedChain } from '../watcher/chain.ts';
import { findCursor, resumeChain } from '../watcher/cursor.ts';
import type { Block } from '../watcher/event.ts';
import { rewindCursor } from '../watcher/recovery.sql.ts';
import { broadcastSigned } from './broadcast.ts';
import { replace } from './repair.ts';
import { setOutcomes } from './sender.sql.ts';
import { newLoopState, senderRound } from './sender-loop.ts';
import { finishTransactions, revertOutcomes } from './store.ts';

useSender();

test('a stuck transaction is replaced at the same nonce by one that offers at least an eighth more', async () => {
  const sent = await record(1);
  await anvil.request('evm_setAutomine', [false]);
  await sender.broadcast(sent.transactionId);
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(40n * gwei).toString(16)}`]);
  await mineAndFollow();
  // It is not stuck yet, also where the steps above took long.
  setAhead(-60_000);
  await round();
  assert.equal((await pending())[0]?.attempts.length, 1);
  setAhead(31_000);
  await round();
  const [item] = await pending();
  const [first, second] = item?.attempts ?? [];
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(second.maxFee * 8n >= first.maxFee * 9n && second.priorityFee * 8n >= first.priorityFee * 9n);
  await mineAndFollow(4);
  assert.deepEqual(
    outcomes.map(({ status, txHash }) => [status, txHash]),
    [['succeeded', second.txHash]],
  );
  assert.equal(await getTransactionCount(rpc, wallet.address, 'latest'), 1n);
});

const changeCall = statement({
  name: 'sender_repair_test_change',
  parameters: { transactionId: 'int8', to: 'text', data: 'text' },
  text: 'update sent_transactions set recipient = :to, call_data = :data where transaction_id = :transactionId',
});

test('a wallet does not sign again what its database has changed, says so once, and goes on once the row is restored', async () => {
  const sent = await record(1);
  await anvil.request('evm_setAutomine', [false]);
  await sender.broadcast(sent.transactionId);
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(40n * gwei).toString(16)}`]);
  await mineAndFollow();
  const [signed] = await pending();
  assert.ok(signed !== undefined);
  const { transactionId } = sent;
  await database.db.query(changeCall, { transactionId, to: `0x${'ee'.repeat(20)}`, data: '0xdeadbeef' });
  setAhead(31_000);
  const logged: string[] = [];
  const log = { ...silentLog, error: (event: string) => void logged.push(event) };
  const memory = newLoopState();
  const look = () => senderRound({ ...context, log }, chain, memory);
  await look();
  await look();
  assert.deepEqual(
    (await pending()).map(({ attempts }) => attempts.map(({ txHash }) => txHash)),
    [[sent.txHash]],
  );
  assert.deepEqual(logged, ['sender.transaction_differs']);
  await database.db.query(changeCall, { transactionId, to: signed.to, data: signed.data });
  await look();
  assert.equal((await pending())[0]?.attempts.length, 2);
});

test('what nodes refuse for its fee is known as refused, and raised at once', async () => {
  const sent = await record(1);
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(40n * gwei).toString(16)}`]);
  await mineAndFollow();
  await sender.broadcast(sent.transactionId);
  const refusals = async () =>
    (await pending()).flatMap(({ attempts }) => attempts.map(({ refusal }) => refusal));
  const [first = '', ...others] = await refusals();
  assert.match(first, /base fee/);
  assert.deepEqual(others, []);
  await round();
  assert.deepEqual(await refusals(), [first, '']);
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('what one node refuses is offered to the others, and a refusal by all ends once one takes it', async () => {
  await record(1);
  const [item] = await pending();
  const attempt = item?.attempts[0];
  assert.ok(item !== undefined && attempt !== undefined);
  const refused = { error: new RpcError(-32000, 'insufficient funds for 7 gas') };
  const told: string[] = [];
  const say = (event: string) => void told.push(event);
  const by = { ...context, log: { ...silentLog, warn: say, info: say } };
  const outcomes: { first: RpcOutcome; second: RpcOutcome } = { first: refused, second: refused };
  const nodes: Rpc = {
    request: async () => assert.fail('transactions are sent as batches'),
    batch: async () => [outcomes.first],
    askEach: async () => [
      { node: 'a', outcomes: [outcomes.first] },
      { node: 'b', outcomes: [outcomes.second] },
    ],
  };
  const send = async (first: RpcOutcome, second: RpcOutcome) => {
    Object.assign(outcomes, { first, second });
    const [known] = (await pending())[0]?.attempts ?? [];
    assert.ok(known !== undefined);
    await broadcastSigned(by, chain.chainId, nodes, [{ transactionId: item.transactionId, ...known }]);
    return (await pending())[0]?.attempts[0]?.refusal;
  };
  const taken = { result: attempt.txHash };
  assert.equal(await send(refused, taken), '');
  assert.equal(await send(refused, refused), 'insufficient funds for 7 gas');
  // Other numbers are no news.
  const again = { error: new RpcError(-32000, 'insufficient funds for 8 gas') };
  assert.equal(await send(again, again), 'insufficient funds for 7 gas');
  assert.equal(await send({ error: new RpcError(-32000, 'already known') }, taken), '');
  assert.deepEqual(told, ['sender.refused_by_node', 'sender.taken_by_node']);
});

test('a chain that has stopped raises no fee, and one raise meets the fee jump after it', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  for (let minutes = 1; minutes <= 30; minutes += 1) {
    setAhead(minutes * 60_000);
    await round();
  }
  assert.deepEqual(
    (await pending()).map(({ attempts }) => attempts.length),
    [1],
  );
  // The node loses its pending transactions, as in an incident, and the next block asks for forty times as much.
  await anvil.request('anvil_dropAllTransactions', []);
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(40n * gwei).toString(16)}`]);
  await mineAndFollow();
  setAhead(32 * 60_000);
  await round();
  assert.deepEqual(
    (await pending()).map(({ attempts }) => attempts.length),
    [2],
  );
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a transaction with many attempts is raised once more when the base fee exceeds its fee', async () => {
  const sent = await record(1);
  for (let count = 2; count <= 20; count += 1) {
    const [item] = await pending();
    assert.ok(item !== undefined);
    const tip = (item.attempts.at(-1)?.priorityFee ?? 0n) + 1n;
    assert.equal(await replace(context, item, { nextBaseFee: 0n, tip }), 'replaced');
  }
  const [item] = await pending();
  const offer = item?.attempts.at(-1);
  assert.ok(item !== undefined && offer !== undefined && item.attempts.length === 20);
  const market = { nextBaseFee: offer.maxFee - 1n, tip: offer.priorityFee + 1n };
  assert.equal(await replace(context, item, market), 'stuck');
  assert.equal(
    await replace({ ...context, maxFeePerGas: offer.maxFee * 4n }, item, {
      ...market,
      nextBaseFee: offer.maxFee + 1n,
    }),
    'replaced',
  );
  assert.equal((await pending())[0]?.transactionId, sent.transactionId);
});

test('a base fee over the cap is waited out without replacements, and known meanwhile', async () => {
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${(600n * gwei).toString(16)}`]);
  await mineAndFollow();
  const sent = await record(1);
  for (const ms of [31_000, 62_000, 93_000]) {
    setAhead(ms);
    await round();
  }
  assert.deepEqual(
    (await pending()).map((item) => item.attempts.map((attempt) => attempt.txHash)),
    [[sent.txHash]],
  );
  const isCapped = async () => (await pending()).map(({ attempts }) => attempts.at(-1)?.isCapped);
  assert.deepEqual(await isCapped(), [true]);
  // A block asks for less again, without it. The node takes it in the first round, and in the second it waits as any other.
  await anvil.request('anvil_dropAllTransactions', []);
  await anvil.request('anvil_setNextBlockBaseFeePerGas', [`0x${gwei.toString(16)}`]);
  await mineAndFollow();
  setAhead(96_000);
  await round();
  await round();
  assert.deepEqual(await isCapped(), [false]);
  await mineAndFollow(4);
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a transaction reorged out is broadcast again as it was signed', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow();
  await anvil.mine();
  await round();
  await anvil.request('anvil_reorg', [2, []]);
  await round();
  assert.equal((await pending())[0]?.minedHash, '');
  await mineAndFollow(4);
  assert.deepEqual(
    outcomes.map(({ status, txHash }) => [status, txHash]),
    [['succeeded', sent.txHash]],
  );
});

test('a receipt in a block that we do not have does not count yet', async () => {
  const sent = await record(1);
  await sender.broadcast(sent.transactionId);
  await anvil.mine(6);
  await senderRound(context, chain, memory);
  assert.deepEqual([(await pending())[0]?.minedHash, outcomes], ['', []]);
  await round();
  assert.deepEqual(statuses(), ['succeeded']);
});

test('a node that is behind us cannot prove that a transaction is in no block', async () => {
  const sent = await record(1);
  await record(2);
  await sender.broadcast(sent.transactionId);
  await mineAndFollow();
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
  setAhead(31_000);
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

test('a transaction whose final block is reverted is pending again, and fills the nonce before the next one', async () => {
  const handler = {
    ...silentHandler,
    onRewind: async (transaction: Transaction, { chainId: id }: FollowedChain, { number }: Block) => {
      const ids = await revertOutcomes(transaction, { chainId: id, above: number, at: clock.now() });
      assert.deepEqual(ids, [first.transactionId]);
    },
  };
  const source = emitterSource(chain);
  const own = testWatcher({ chain, rpc, source, db: database.db, clock, log: silentLog, handler });
  const goOn = async () => {
    await own.catchUp();
    await senderRound(context, chain, memory);
  };
  const first = await record(1);
  await sender.broadcast(first.transactionId);
  await mineAndFollow(5);
  assert.deepEqual([statuses(), await pending()], [['succeeded'], []]);
  // The node has forgotten it, and reports fewer transactions than were final.
  await anvil.request('anvil_reorg', [5, []]);
  assert.equal(await own.round(), 'halted');
  await resumeChain(database.db, clock, chain.chainId);
  const second = await record(2);
  await sender.broadcast(second.transactionId);
  await goOn();
  assert.deepEqual(
    (await pending()).map(({ transactionId }) => transactionId),
    [first.transactionId, second.transactionId],
  );
  await anvil.mine(5);
  await goOn();
  assert.deepEqual([statuses(), await pending()], [['succeeded', 'succeeded', 'succeeded'], []]);
  assert.equal(await getTransactionCount(rpc, wallet.address, 'latest'), 2n);
});

test('an outcome that was read before final blocks were reverted is not stored', async () => {
  const { transactionId, txHash } = await record(1);
  const store = (rewinds: bigint) =>
    database.db.query(setOutcomes, {
      transactionIds: [transactionId],
      statuses: ['succeeded'],
      minedHashes: [txHash],
      minedBlocks: [1n],
      updatedAt: clock.now(),
      rewinds,
    });
  const cursor = await findCursor(database.db, chain.chainId);
  assert.ok(cursor !== undefined);
  assert.deepEqual(await store(cursor.rewinds - 1n), []);
  assert.deepEqual(await store(cursor.rewinds), [{ transaction_id: transactionId }]);
});

test('of a concurrent outcome and rewind, the later one sees the earlier one', async () => {
  const { transactionId, txHash } = await record(1);
  const { db } = database;
  const cursor = await findCursor(db, chain.chainId);
  const [item] = await pending();
  assert.ok(cursor !== undefined && item !== undefined);
  const block = cursor.finalNumber + 1n;
  const outcome = { status: 'succeeded', txHash, blockNumber: block, blockTime: clock.now() } as const;
  const told = { at: clock.now(), onOutcome: async () => {}, rewinds: cursor.rewinds };
  const taken = { chainId: chain.chainId, above: cursor.finalNumber, at: clock.now() };
  // The handler of the outcome has begun and not ended when the rewind comes.
  const holding = gate();
  const begun = gate();
  const concluding = db.transaction(async (transaction) => {
    await finishTransactions(transaction, [{ pending: item, outcome }], told);
    begun.open();
    await holding.passed;
  });
  await begun.passed;
  const rewinding = db.transaction((transaction) => revertOutcomes(transaction, taken));
  await untilLockWaiter(db);
  holding.open();
  await concluding;
  assert.deepEqual([await rewinding, (await pending()).length], [[transactionId], 1]);
  // Now in the opposite order.
  const over = gate();
  const rewound = gate();
  const second = db.transaction(async (transaction) => {
    await revertOutcomes(transaction, taken);
    await transaction.query(rewindCursor, {
      chainId: chain.chainId,
      headNumber: cursor.finalNumber,
      headHash: cursor.finalHash,
      headTime: cursor.finalTime,
      updatedAt: clock.now(),
    });
    rewound.open();
    await over.passed;
  });
  await rewound.passed;
  const late = db.transaction((transaction) =>
    finishTransactions(transaction, [{ pending: item, outcome }], told),
  );
  await untilLockWaiter(db);
  over.open();
  await Promise.all([second, late]);
  assert.equal((await pending()).length, 1, 'what it saw is no more');
});

function gate(): { readonly open: () => void; readonly passed: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { open: () => resolve(), passed: promise };
}
