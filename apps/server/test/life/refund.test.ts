import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { PreparedOrder } from '@florin/protocol/checkout-order.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { type Mailbox, startMailbox } from '@florin/world';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import type { SmtpSettings } from '#mail/smtp.ts';
import { findOrder } from '#orders/order.ts';
import { systemClock } from '#outside/clock.ts';
import { settleCall } from '#settlement/settlement-call.ts';
import type { ProcessRole } from '../../src/service/options.ts';
import { startService } from '../../src/service/service.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life, type MerchantReply } from './life.ts';
import { Payer } from './payer.ts';
import { checkout, storedHeadOf } from './story-fixture.ts';

const sentRefund = statement({
  name: 'story_sent_refund',
  parameters: { sessionId: 'text' },
  columns: { status: 'text' },
  text: `select t.status from settlements l join sent_transactions t on t.transaction_id = l.transaction_id
   where l.session_id = :sessionId and l.leg = 'refund'`,
});

const refundOutcomes = statement({
  name: 'story_refund_outcomes',
  columns: { status: 'text' },
  text: `select status from sent_transactions where purpose = 'refund' order by transaction_id`,
});

let roles: ReadonlySet<ProcessRole> = new Set<ProcessRole>(['web', 'watcher', 'worker']);
let life: Life;
let mailbox: Mailbox;
before(async () => {
  mailbox = await startMailbox({ port: 0, now: systemClock.now });
  const smtp: SmtpSettings = {
    host: '127.0.0.1',
    port: mailbox.port,
    security: 'none',
    from: 'pay@florin.test',
    fromName: 'Florin',
  };
  life = await Life.start((options) => startService({ ...options, roles, smtp }));
  await life.post('/webhook/create', {
    webhookName: 'Refunds',
    webhookUrl: life.receiver.url,
    subscribedEvents: ['refund.*'],
  });
  life.mine();
});
after(async () => {
  await life.close();
  await mailbox.close();
});

async function restart(...newRoles: ProcessRole[]): Promise<void> {
  await life.stopService();
  roles = new Set(newRoles);
  await life.startService();
}

/** The balances of the books without the operator's own money, which was in the vaults from the beginning. */
async function balancesBesideFloat(): Promise<unknown[]> {
  const balances = await ledgerBalances(life.database.db);
  return balances.filter(({ account }) => account !== 'float' && !account.startsWith('vault:'));
}

interface RefundEvent {
  readonly id: string;
  readonly type: string;
  readonly sequence: number;
  readonly data: { readonly refund?: Refund };
}

/** Types and sequences of a refund's events in order of arrival, once the last has arrived. */
async function refundEvents(refundId: string, last: string): Promise<[string, number][]> {
  const received = () => {
    const events = life.receiver.requests.map((request) => JSON.parse(request.body) as RefundEvent);
    return events.filter((event) => event.data.refund?.refundId === refundId);
  };
  const events = await life.eventually(received, (all) => all.some(({ type }) => type === last), last);
  return events.map(({ type, sequence }) => [type, sequence]);
}

function refundIn(refundId: string, status: string): Promise<Refund> {
  return life.eventually(
    () => life.get<Refund>(`/refund/${refundId}`),
    (refund) => refund.status === status,
    `refund ${status}`,
  );
}

/** A stranger's call of settle for the session's paid order, in the mempool. */
async function settleAsStranger(sessionId: string): Promise<void> {
  const { transaction } = await life.session(sessionId);
  const order = await findOrder(life.database.db, transaction?.orderId ?? '');
  if (order === undefined) throw new Error('the session has no order');
  const stranger = new Payer(life);
  // Sets the balance directly, without a block.
  await life.ethereum.anvil.request('anvil_setBalance', [stranger.address, '0x56bc75e2d63100000']);
  const { chainId, gateway } = life.ethereum.chain;
  const call = { chainId: String(chainId), to: gateway, data: settleCall([order]), value: '0' };
  await stranger.send(life.ethereum, call, { priorityFee: 50_000_000_000n });
}

/** Mines so many blocks, because a chain without transactions gets few, and waits until the service has read them. */
async function mineAndRead(count: number): Promise<void> {
  const { chainId } = life.ethereum.chain;
  const start = await storedHeadOf(life, chainId);
  await life.ethereum.anvil.mine(count);
  await life.eventually(
    () => storedHeadOf(life, chainId),
    (head) => head >= start + count,
    `${count} more blocks`,
  );
}

// proves W9.1
test('a refunded payment that waited for its settlement goes back in full, and is never settled', async () => {
  const token = life.ethereum.token('usdc');
  const { gateway } = life.ethereum.chain;
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  await restart('web', 'watcher');
  const sameChain = await checkout(life, 4_000_000);
  await payer.execute(life.ethereum, await payer.prepare(sameChain, token));
  const acrossChains = await checkout(life, 5_000_000, 'base::usdc');
  await payer.execute(life.ethereum, await payer.prepare(acrossChains, token));
  for (const sessionId of [sameChain, acrossChains]) await life.sessionIn(sessionId, 'paid');
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 1_000_000n);
  assert.equal(await life.ethereum.balanceOf(token, gateway), 9_000_000n);
  const refunds = [];
  for (const sessionId of [sameChain, acrossChains])
    refunds.push(await life.post<Refund>('/refund/create', { sessionId }));

  await restart('web', 'watcher', 'worker');
  for (const { refundId, sessionId, amount } of refunds) {
    const refund = await refundIn(refundId, 'completed');
    assert.match(refund.txHash, /^0x[0-9a-f]{64}$/);
    const { session } = await life.get<{ session: { status: string; refundedAmount: number } }>(
      `/session/${sessionId}`,
    );
    assert.deepEqual([session.status, session.refundedAmount], ['paid', amount]);
    assert.deepEqual(await refundEvents(refundId, 'refund.completed'), [
      ['refund.created', 1],
      ['refund.completed', 2],
    ]);
  }
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 10_000_000n);
  assert.equal(await life.ethereum.balanceOf(token, gateway), 0n);
  assert.deepEqual(await balancesBesideFloat(), []);

  await settleAsStranger(sameChain);
  await mineAndRead(80);
  assert.equal((await life.session(sameChain)).session.status, 'paid');
  assert.equal(await life.ethereum.balanceOf(token, life.merchantWallet), 0n);
  const settling = ['session.settling', 'session.completed', 'session.settlement_pending'];
  assert.deepEqual(
    life.eventsOf(sameChain).filter(({ type }) => settling.includes(type)),
    [],
  );
});

test('a payment whose recipient is blocked goes back, and its session no longer waits for a settlement', async () => {
  const token = life.ethereum.token('usdc');
  await life.ethereum.call(token.address, 'LocalUsdc', 'blacklist', [life.merchantWallet]);
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  const sessionId = await checkout(life, 6_000_000);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  const pending = await life.sessionIn(sessionId, 'settlement_pending');
  assert.equal(pending.session.pendingReason, 'recipient_blocked');
  // A retry may be in flight at this moment; the refund must then be requested again.
  const reply = await life.eventually(
    () => life.call<Refund>('POST', '/refund/create', { sessionId, amount: 6_000_000, reason: 'Blocked' }),
    ({ code }) => code !== 100702,
    'a refund between two tries',
  );
  assert.equal(reply.code, 0);
  await refundIn(reply.data.refundId, 'completed');
  const { session } = await life.session(sessionId);
  assert.deepEqual([session.status, session.pendingReason], ['paid', '']);
  assert.deepEqual(await refundEvents(reply.data.refundId, 'refund.completed'), [
    ['refund.created', 1],
    ['refund.completed', 2],
  ]);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 10_000_000n);
  assert.equal(await life.ethereum.balanceOf(token, life.ethereum.chain.gateway), 0n);
  assert.deepEqual(await balancesBesideFloat(), []);
  await life.ethereum.call(token.address, 'LocalUsdc', 'unBlacklist', [life.merchantWallet]);
});

test(
  'a payer whose page is German gets a German receipt, and an e-mail when the payment goes back',
  deepOnly,
  async () => {
    const token = life.ethereum.token('usdt');
    const payer = new Payer(life);
    await payer.fund(life.ethereum, token, 10_000_000n);
    await restart('web', 'watcher');
    const sessionId = await checkout(life, 4_000_000, 'ethereum::usdt');
    const body = { sessionId, payer: payer.address, tokenId: token.tokenId, payerEmail: 'kim@example.com' };
    const response = await fetch(`${life.options.origin}/checkout/api/prepare`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' },
      body: JSON.stringify(body),
    });
    const { code, data } = (await response.json()) as MerchantReply<PreparedOrder>;
    assert.equal(code, 0);
    for (const { txRequest } of data.prerequisites) await payer.send(life.ethereum, txRequest);
    await payer.send(life.ethereum, data.payment);
    await life.sessionIn(sessionId, 'paid');
    const { refundId } = await life.post<Refund>('/refund/create', { sessionId });
    await restart('web', 'watcher', 'worker');
    await refundIn(refundId, 'completed');
    const subjects = () =>
      mailbox
        .mails()
        .filter(({ to }) => to.includes('kim@example.com'))
        .map(({ subject }) => subject)
        .sort();
    await life.eventually(subjects, (all) => all.length === 2, 'two e-mails');
    assert.deepEqual(subjects(), ['Ihr Beleg von Story Shop', 'Ihre Erstattung von Story Shop']);
  },
);

// The last one, because it moves the time of the chain ahead.
test('a third party that settles first wins over a pending refund, and the merchant is paid', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  await restart('web', 'watcher');
  const sessionId = await checkout(life, 7_000_000);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  await life.sessionIn(sessionId, 'paid');
  await life.pauseMining();
  const { refundId } = await life.post<Refund>('/refund/create', { sessionId });
  await restart('web', 'watcher', 'worker');
  await life.eventually(
    async () => (await life.database.db.query(sentRefund, { sessionId }))[0]?.status,
    (status) => status === 'pending',
    'a refund that is sent',
  );
  // Into the same block, before it. Strangers settle from a day after the payment on.
  await life.ethereum.anvil.request('evm_increaseTime', [86_400]);
  await settleAsStranger(sessionId);
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  assert.equal((await refundIn(refundId, 'failed')).txHash, '');
  assert.deepEqual(await refundEvents(refundId, 'refund.failed'), [
    ['refund.created', 1],
    ['refund.failed', 2],
  ]);
  assert.equal(
    await life.ethereum.balanceOf(token, life.merchantWallet),
    BigInt(done.transaction?.netValue ?? 0),
  );
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 3_000_000n);
  await life.eventually(
    async () => (await life.database.db.query(refundOutcomes)).map(({ status }) => status),
    (statuses) => statuses.length > 1 && /^(?:succeeded,)+failed$/.test(statuses.join()),
    'the refund that came too late to fail',
  );
  assert.ok((await ledgerSums(life.database.db)).every(({ total }) => total === 0n));
});
