import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCursor, resumeChain } from '@florin/evm';
import { statement } from '@florin/pg';
import type { AgentSessionView } from '@florin/protocol/agent-view.ts';
import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { ledgerBalances } from '#ledger/entry.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { addressOf, transfer } from './deposit-fixture.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { checkout, closedRoutes, settlementHashOf, storedHeadOf } from './story-fixture.ts';

const openTransactions = statement({
  name: 'reorg_test_open_transactions',
  parameters: { chainId: 'int8' },
  columns: { transaction_id: 'int8' },
  text: `select transaction_id from sent_transactions where chain_id = :chainId and status = 'pending'`,
});

const eventTypes = statement({
  name: 'reorg_test_event_types',
  parameters: { objectId: 'text' },
  columns: { event_type: 'text' },
  text: 'select event_type from events where object_id = :objectId order by sequence',
});

let life: Life;
before(async () => {
  life = await Life.start();
});
after(() => life.close());

async function rawTransaction(hash: string): Promise<unknown> {
  return life.ethereum.anvil.request('eth_getRawTransactionByHash', [hash]);
}

async function blockNumberOf(hash: string): Promise<number> {
  const receipt = (await life.ethereum.anvil.request('eth_getTransactionReceipt', [hash])) as {
    blockNumber: string;
  };
  return Number(receipt.blockNumber);
}

async function headNumber(): Promise<number> {
  return Number(await life.ethereum.anvil.request('eth_blockNumber'));
}

/** Waits until the watcher has stored the chain's last block. */
async function watched(): Promise<void> {
  const head = await headNumber();
  await life.eventually(
    () => storedHeadOf(life, life.ethereum.chain.chainId),
    (number) => number >= head,
    'the watcher to reach the head',
  );
}

// proves W4.11
test('a payment that a reorg removes before finality is undetected, and detected again when it returns', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  const sessionId = await checkout(life, 1_000_000);
  const prepared = await payer.prepare(sessionId, token);
  const hash = await payer.execute(life.ethereum, prepared);
  await life.ethereum.anvil.mine();
  await life.eventually(
    () => life.session(sessionId),
    (view) => view.session.initiateTx === hash,
    'detection',
  );
  const raw = await rawTransaction(hash);

  await life.ethereum.anvil.request('anvil_reorg', [1, []]);
  await life.eventually(
    () => life.session(sessionId),
    (view) => view.session.initiateTx === '',
    'the payment to vanish',
  );
  assert.equal((await life.session(sessionId)).session.status, 'initialized');

  // The node forgot both transactions; the payer's wallet resends them.
  const approval = prepared.aiView.paymentExecutionGuide.prerequisites[0];
  assert.ok(approval !== undefined);
  await payer.send(life.ethereum, approval.txRequest);
  await life.ethereum.anvil.request('eth_sendRawTransaction', [raw]);
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  assert.equal(done.session.initiateTx, hash);
  const events = await life.eventOf(sessionId, 'session.completed');
  assert.deepEqual(
    events.map((event) => event.type),
    [
      'session.created',
      'session.payment_detected',
      'session.payment_detected',
      'session.paid',
      'session.settling',
      'session.completed',
    ],
  );
});

// proves W4.12
test(
  'a payment that never returns leaves the session unpaid and the merchant without a paid event',
  deepOnly,
  async () => {
    const token = life.ethereum.token('usdc');
    const payer = new Payer(life);
    await payer.fund(life.ethereum, token, 10_000_000n);
    const sessionId = await checkout(life, 1_000_000);
    await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
    await life.ethereum.anvil.mine(2);
    await life.eventOf(sessionId, 'session.payment_detected');
    const depth = async () => {
      const answer = await fetch(`${life.options.origin}/aipay/api/v1/session/${sessionId}`);
      return ((await answer.json()) as { data: AgentSessionView }).data.aiView.payment;
    };
    const { confirmations = 0, confirmationsWanted = 0 } = (await depth()) ?? {};
    assert.ok(0 < confirmations && confirmations < confirmationsWanted);
    await life.ethereum.anvil.request('anvil_reorg', [2, []]);
    await life.eventually(
      () => life.session(sessionId),
      (view) => view.session.initiateTx === '',
      'the payment to vanish',
    );
    assert.equal(await depth(), undefined);
    await life.ethereum.anvil.mine(20);
    await watched();
    assert.equal((await life.session(sessionId)).session.status, 'initialized');
    assert.deepEqual(
      life.eventsOf(sessionId).map((event) => event.type),
      ['session.created', 'session.payment_detected'],
    );
  },
);

// proves S3.2
test('a settlement that a reorg removes shows settlement_pending, and the same transaction repairs it', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  const sessionId = await checkout(life, 4_000_000);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  // Until the payment is final and the settlement is in a block that is not final.
  let settlementTx = '';
  await life.eventually(
    async () => {
      await life.ethereum.anvil.mine();
      // Block by block: a slow watcher could otherwise see the settlement only after it is final, when no reorg may
      // remove it.
      await watched();
      settlementTx = await settlementHashOf(life, sessionId);
      return settlementTx;
    },
    (hash) => hash !== '',
    'the settlement to be mined',
  );
  const depth = (await headNumber()) - (await blockNumberOf(settlementTx)) + 1;
  await life.ethereum.anvil.request('anvil_reorg', [depth, []]);
  const pending = await life.sessionIn(sessionId, 'settlement_pending');
  assert.equal(pending.session.pendingReason, 'reorged');
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  assert.equal(done.session.completeTx, settlementTx, 'the same signed transaction was sent again');
  assert.equal(done.session.pendingReason, '');
  const events = await life.eventOf(sessionId, 'session.completed');
  assert.deepEqual(
    events.map((event) => event.type),
    [
      'session.created',
      'session.payment_detected',
      'session.paid',
      'session.settling',
      'session.settlement_pending',
      'session.settling',
      'session.completed',
    ],
  );
  assert.equal(await life.ethereum.balanceOf(token, life.ethereum.chain.gateway), await accruedFees());
});

test('a reorg below finality is repaired once an operator resumes the chain', async () => {
  const { anvil, chain } = life.ethereum;
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  const sessionId = await checkout(life, 2_000_000);
  const first = await headNumber();
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  await life.eventually(
    () => life.database.db.query(openTransactions, { chainId: chain.chainId }),
    (rows) => rows.length === 0,
    'the settlement to be concluded',
  );
  await life.pauseMining();
  await watched();
  const depth = (await headNumber()) - first;
  const payments = await rawTransactionsSince(first + 1, payer.address);

  // The node forgets all transactions, including the service's.
  await anvil.request('anvil_reorg', [depth, []]);
  await life.eventually(haltedReason, (reason) => reason !== '', 'the breaker to trip');
  // Until the operator resumes it, the service does not know what the chain still holds.
  assert.equal((await life.call('POST', '/refund/create', { sessionId })).code, 900_401);
  assert.equal((await life.session(sessionId)).session.status, 'completed');
  const doubted = (await read<{ state: CheckoutState }>(`/checkout/api/session/${sessionId}`)).state;
  assert.deepEqual(
    [doubted.isInDoubt, doubted.status, doubted.paidAt, doubted.receiptId, doubted.isPayable],
    [true, 'initialized', '', '', false],
  );
  const told = await read<AgentSessionView>(`/aipay/api/v1/session/${sessionId}`);
  assert.match(told.aiView.workflow.nextAction.description, /^The chain contradicts blocks that were final/);
  for (const raw of payments) await anvil.request('eth_sendRawTransaction', [raw]);
  await resumeChain(life.database.db, life.options.clock, chain.chainId);
  const lost = await life.sessionIn(sessionId, 'settlement_pending');
  assert.equal(lost.session.pendingReason, 'payment_reorged');
  // No block has the payment: the page and agents hear that, and it is not refunded.
  const page = await read<{ state: CheckoutState }>(`/checkout/api/session/${sessionId}`);
  const { status, initiateTx, isPayable, receiptId, isInDoubt } = page.state;
  assert.deepEqual(
    [status, initiateTx, isPayable, receiptId, isInDoubt],
    ['initialized', done.session.initiateTx, false, '', true],
  );
  const { aiView } = await read<AgentSessionView>(`/aipay/api/v1/session/${sessionId}`);
  const { description, deadline } = aiView.workflow.nextAction;
  assert.match(description, /^The chain took back the block with the payment/);
  assert.ok(Number(deadline) * 1_000 > Date.now(), 'until when it can return');
  assert.equal((await life.call('POST', '/refund/create', { sessionId })).code, 100_702);
  life.mine();
  const again = await life.sessionIn(sessionId, 'completed');
  assert.equal(again.transaction?.orderId, done.transaction?.orderId);

  await life.eventually(
    () => closedRoutes(life),
    (routes) => routes.length === 0,
    'the resumed chain in the capabilities',
  );
  // The next one does not wait for a lost nonce either.
  const nextId = await checkout(life, 1_000_000);
  await payer.execute(life.ethereum, await payer.prepare(nextId, token));
  await life.sessionIn(nextId, 'completed');
  await life.pauseMining();
  assert.equal(await life.ethereum.balanceOf(token, chain.gateway), await accruedFees());
});

test('a refund that a reorg below finality took back waits for the wallet again, and is completed once by its next return', async () => {
  const { anvil, chain } = life.ethereum;
  const token = life.ethereum.token('usdc');
  const [payer, seller] = [new Payer(life), new Payer(life)];
  await payer.fund(life.ethereum, token, 3_000_000n);
  await seller.fund(life.ethereum, token, 1_000_000n);
  const sessionId = await checkout(life, 3_000_000);
  const first = await headNumber();
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  life.mine();
  await life.sessionIn(sessionId, 'completed');
  const asked = await life.post<Refund>('/refund/create', { sessionId, amount: 1_000_000 });
  const { refundId } = asked;
  const requests = [...(asked.prerequisites ?? []).map(({ txRequest }) => txRequest), asked.txRequest];
  const sign = async () => {
    for (const request of requests) if (request !== undefined) await seller.send(life.ethereum, request);
  };
  /** The refund, and what the session, its page and agents tell of it. */
  const told = async () => {
    const { status } = await life.get<Refund>(`/refund/${refundId}`);
    const { session } = await life.get<{ session: { refundedAmount: number } }>(`/session/${sessionId}`);
    const { state } = await read<{ state: CheckoutState }>(`/checkout/api/session/${sessionId}`);
    const { refundedInUSD } = await read<AgentSessionView>(`/aipay/api/v1/session/${sessionId}`);
    return [status, session.refundedAmount, state.refunded, refundedInUSD];
  };
  const refundIn = (wanted: string) =>
    life.eventually(told, ([status]) => status === wanted, `a refund ${wanted}`);
  await sign();
  assert.deepEqual(await refundIn('completed'), ['completed', 1_000_000, '1000000', '1.00']);
  await life.pauseMining();
  await watched();
  const depth = (await headNumber()) - first;
  const payments = await rawTransactionsSince(first + 1, payer.address);

  // The node forgets the payment and the refund; the payer's wallet alone sends its transactions again.
  await anvil.request('anvil_reorg', [depth, []]);
  await life.eventually(haltedReason, (reason) => reason !== '', 'the breaker to trip');
  assert.deepEqual(
    await told(),
    ['completed', 1_000_000, '0', undefined],
    'the page waits for the operator, too',
  );
  for (const raw of payments) await anvil.request('eth_sendRawTransaction', [raw]);
  await resumeChain(life.database.db, life.options.clock, chain.chainId);
  assert.deepEqual(await refundIn('requires_signature'), ['requires_signature', 0, '0', undefined]);
  life.mine();
  await life.sessionIn(sessionId, 'completed');
  assert.deepEqual(await told(), ['requires_signature', 0, '0', undefined]);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 0n);
  const tooMuch = { sessionId, amount: 2_000_001 };
  assert.equal((await life.call('POST', '/refund/create', tooMuch)).code, 100_701);

  await sign();
  assert.deepEqual(await refundIn('completed'), ['completed', 1_000_000, '1000000', '1.00']);
  await life.pauseMining();
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 1_000_000n);
  assert.deepEqual(
    (await life.database.db.query(eventTypes, { objectId: refundId })).map((row) => row.event_type),
    ['refund.created', 'refund.completed', 'refund.reopened', 'refund.completed'],
  );
});

const collections = statement({
  name: 'reorg_test_collections',
  parameters: { sessionId: 'text' },
  columns: { status: 'text' },
  text: `select m.status from deposit_moves m join orders o on o.order_id = m.order_id
   where o.session_id = :sessionId and m.move = 'collect'`,
});

test(
  'after a reorg below finality, a deposit that is gone is not told as money that goes back',
  deepOnly,
  async () => {
    const { anvil, chain } = life.ethereum;
    const token = life.ethereum.token('usdc');
    life.mine();
    const { sessionId, address, amount } = await addressOf(life, token, {});
    const first = await headNumber();
    await transfer(life, life.ethereum, token, address, amount);
    const lostTx = (await life.sessionIn(sessionId, 'completed')).session.initiateTx;
    await life.pauseMining();
    await watched();
    await anvil.request('anvil_reorg', [(await headNumber()) - first, []]);
    await life.eventually(haltedReason, (reason) => reason !== '', 'the breaker to trip');
    // The blocks that replace the lost ones are final before the next search.
    await anvil.mine(200);
    await resumeChain(life.database.db, life.options.clock, chain.chainId);
    await life.sessionIn(sessionId, 'settlement_pending');
    life.mine();
    await life.eventually(
      () => life.database.db.query(collections, { sessionId }),
      (rows) => rows.length === 1 && rows.every(({ status }) => status === 'failed'),
      'the collection to fail, because nothing is at the address',
    );
    const { state } = await read<{ state: CheckoutState }>(`/checkout/api/session/${sessionId}`);
    assert.deepEqual([state.isInDoubt, state.exceptions, state.deposits], [true, [], []]);
    // The payer's transfer is back: it is collected once more, and settled.
    await transfer(life, life.ethereum, token, address, amount);
    await life.sessionIn(sessionId, 'completed');
    const paid = await read<{ state: CheckoutState }>(`/checkout/api/session/${sessionId}`);
    assert.deepEqual([paid.state.isInDoubt, paid.state.exceptions], [undefined, []]);
    assert.notEqual(paid.state.initiateTx, lostTx, 'the session names the collection that paid it');
    await life.pauseMining();
    assert.equal(await life.ethereum.balanceOf(token, address), 0n);
  },
);

// Last, because it moves the chain's time.
test('a payment that a reorg below finality took away for good ends its session unpaid after its deadline', async () => {
  const { anvil, chain } = life.ethereum;
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 2_000_000n);
  const sessionId = await checkout(life, 2_000_000);
  const first = await headNumber();
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  life.mine();
  await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  await watched();
  // The payer's wallet sends nothing again.
  await anvil.request('anvil_reorg', [(await headNumber()) - first, []]);
  await life.eventually(haltedReason, (reason) => reason !== '', 'the breaker to trip');
  await resumeChain(life.database.db, life.options.clock, chain.chainId);
  const lost = await life.sessionIn(sessionId, 'settlement_pending');
  assert.deepEqual(
    [lost.session.pendingReason, lost.session.completeTx, lost.session.settlementSucceededTime],
    ['payment_reorged', '', null],
  );
  await anvil.request('evm_increaseTime', [3_600]);
  life.mine();
  const { session, transaction } = await life.sessionIn(sessionId, 'expired');
  await life.pauseMining();
  assert.deepEqual(
    [session.payer, session.initiateTx, session.receiptId, session.paymentSucceededTime, transaction],
    ['', '', '', null, undefined],
  );
  const { state } = await read<{ state: CheckoutState }>(`/checkout/api/session/${sessionId}`);
  assert.deepEqual([state.status, state.isInDoubt, state.initiateTx], ['expired', undefined, '']);
  const { aiView } = await read<AgentSessionView>(`/aipay/api/v1/session/${sessionId}`);
  const { stage, nextAction } = aiView.workflow;
  assert.deepEqual([stage, nextAction.action], ['session_expired', 'create_payment_session']);
  assert.match(nextAction.description, /took back the block with the payment/);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 2_000_000n);
  assert.deepEqual(
    (await life.eventOf(sessionId, 'session.expired')).slice(-2).map(({ type }) => type),
    ['session.settlement_pending', 'session.expired'],
  );
});

/** What a public address of the service answers. */
async function read<Data>(path: string): Promise<Data> {
  const response = await fetch(`${life.options.origin}${path}`);
  return ((await response.json()) as { data: Data }).data;
}

async function haltedReason(): Promise<string> {
  return (await findCursor(life.database.db, life.ethereum.chain.chainId))?.haltedReason ?? '';
}

/** The signed transactions of an address in blocks from this one on. */
async function rawTransactionsSince(from: number, sender: string): Promise<unknown[]> {
  const raws: unknown[] = [];
  for (let number = from; number <= (await headNumber()); number += 1) {
    const block = (await life.ethereum.anvil.request('eth_getBlockByNumber', [
      `0x${number.toString(16)}`,
      true,
    ])) as { transactions: { hash: string; from: string }[] };
    for (const { hash, from: by } of block.transactions)
      if (by.toLowerCase() === sender.toLowerCase()) raws.push(await rawTransaction(hash));
  }
  return raws;
}

/** The fees in the gateway. Fees stay there until they are withdrawn; all other money has left. */
async function accruedFees(): Promise<bigint> {
  const balances = await ledgerBalances(life.database.db);
  const fees = balances.find((balance) => balance.account === 'fees' && balance.asset === 'ethereum::usdc');
  return -(fees?.balance ?? 0n);
}
