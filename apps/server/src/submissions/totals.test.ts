import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SendPlan, SentOutcome } from '@florin/evm';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import fc from 'fast-check';
import { createAccount } from '#merchants/account.ts';
import { createMerchant } from '#merchants/merchant.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { createCheckoutSession, lockSession } from '#sessions/session.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { newPayer } from '../../test/harness/agent-payer.ts';
import { insertAttempt, insertSent } from '../../test/harness/sent-transaction.ts';
import type { SubmissionContext } from './context.ts';
import { type NewSubmission, recordSubmission, submissionOutcome } from './submission.ts';

const hourMs = 3_600_000;
const [perMerchant, all] = [2_000, 4_000];
/** Large enough that no budget of its own refuses it. */
const boundless = {
  ...{ perPayer: 1e12, perLink: 1e12, perNetwork: 1e12 },
  smartAccounts: { perPayment: 300, failuresPerMerchant: 1e6 },
};

let world: AgentWorld;
let deps: SubmissionContext;
before(async () => {
  world = await AgentWorld.open();
  const total = { perMerchant, all };
  deps = {
    ...world.deps,
    gasless: {
      signingOf: async () => ({ permits: new Set() }),
      minAmount: microUsd(0n),
      budgets: boundless,
      totals: { payments: total, returns: total },
    },
    sender: {
      plan: async () => ({ reverted: true, data: '0x' }),
      async record(transaction, plan) {
        const [row] = await transaction.query(insertSent, { chainId: plan.chainId, callData: plan.data });
        const transactionId = row?.transaction_id ?? 0n;
        const txHash: Hex = `0x${transactionId.toString(16).padStart(64, '0')}`;
        await transaction.query(insertAttempt, { txHash, transactionId });
        return { transactionId, txHash };
      },
      broadcast: async () => {},
    },
  };
});
after(() => world.close());

interface Shop {
  readonly merchantId: string;
  readonly accountId: string;
}

async function newShop(): Promise<Shop> {
  return world.db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Shop' });
    const settlementCurrencies = deps.chains.tokens.map(({ tokenId }) => tokenId);
    const named = { accountName: 'Main', accountAddress: `0x${'c3'.repeat(20)}`, settlementCurrencies };
    const { accountId } = await createAccount(transaction, deps, { merchantId, ...named });
    return { merchantId, accountId };
  });
}

/** An order with a new session, for a new payer unless one is named. */
async function newOrder(
  { merchantId, accountId }: Shop,
  payer: Hex = newPayer().address as Hex,
): Promise<StoredOrder> {
  const token = deps.chains.token('ethereum::usdc');
  if (token === undefined) throw new Error('the fixture has no token');
  const productData = { productName: 'Tea' };
  const lineItems = [{ itemType: 'one_time' as const, quantity: 1, unitPrice: 1_000_000, productData }];
  const body = { accountId, settlementToken: token.tokenId, lineItems };
  const { sessionId } = await createCheckoutSession(world.db, deps, { merchantId, body, metadataText: '{}' });
  return world.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, sessionId);
    if (session === undefined) throw new Error('the session is missing');
    return prepareOrder(transaction, deps, { session, payer, payerEmail: '', token });
  });
}

/** A submission after the payer's wallet signed and the node estimated the gas. */
function submissionOf(order: StoredOrder, gas: number, network: string): NewSubmission {
  const plan: SendPlan = {
    ...{ purpose: 'relay', chainId: order.chainId, to: order.order.token, data: '0x' },
    ...{ gasLimit: BigInt(gas), maxFee: 1n, priorityFee: 1n, baseFee: 1n, nonceFloor: 0n },
    wallet: order.order.to,
  };
  return { order, method: 'eip3009', payer: order.order.payer, isSmartAccount: false, network, plan };
}

/**
 * Whether the service accepts it; only its gas can refuse it. With `isFailing` its failure is recorded at once, so that
 * it may be repeated.
 */
async function isTaken(submission: NewSubmission, isFailing = false): Promise<boolean> {
  try {
    await world.db.transaction(async (transaction) => {
      const { transactionId = 0n } = await recordSubmission(transaction, deps, submission);
      const { chainId } = submission.order;
      const ended = { transactionId, chainId, txHash: '0x', blockTime: undefined } as const;
      if (isFailing)
        await submissionOutcome(transaction, deps, { ...ended, purpose: 'relay', status: 'failed' });
    });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) || error.slug !== 'method_not_available') throw error;
    assert.match(error.message, /gas for this merchant is used up/);
    return false;
  }
}

test('all payers of one merchant together spend at most its daily gas, and another merchant keeps its share', async () => {
  const step = fc.record({
    // An IPv6 address is one of 2^64 networks, and each costs nothing.
    network: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((prefix) => `network ${prefix.toString(16)}`),
    gas: fc.integer({ min: 50, max: 600 }),
    waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 6 * hourMs })),
    /** Sends an earlier failure again instead of a new payment. */
    isRepeated: fc.boolean(),
    isFailing: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      world.clock.time += 30 * hourMs;
      const [greedy, other] = [await newShop(), await newShop()];
      const spent: { readonly at: number; readonly gas: number }[] = [];
      const failed: StoredOrder[] = [];
      for (const { network, gas, waitMs, isRepeated, isFailing } of steps) {
        world.clock.time += waitMs;
        const repeated = isRepeated ? failed.pop() : undefined;
        const isOpen = repeated !== undefined && repeated.order.payBy * 1000n > BigInt(world.clock.time);
        const order = isOpen ? repeated : await newOrder(greedy);
        const isSent = await isTaken(submissionOf(order, gas, network), isFailing);
        if (isSent) spent.push({ at: world.clock.time, gas });
        if (isSent && isFailing) failed.push(order);
        const day = spent.filter(({ at }) => at > world.clock.time - 24 * hourMs);
        assert.ok(day.reduce((sum, item) => sum + item.gas, 0) <= perMerchant);
      }
      for (let count = 0; count < perMerchant / 500; count += 1)
        assert.ok(await isTaken(submissionOf(await newOrder(other), 500, 'network of the other')));
    }),
    { numRuns: 4 },
  );
});

test('a failed payment counts for its payer on the day that it is sent again', async () => {
  world.clock.time += 30 * hourMs;
  const shop = await newShop();
  const [first, second] = [await newOrder(shop), await newOrder(shop)];
  const bound = { ...deps, gasless: { ...deps.gasless, budgets: { ...boundless, perNetwork: 150 } } };
  const one = submissionOf(first, 100, 'one network');
  assert.ok(await isTaken(one, true));
  await world.db.query(dayOlder, { orderId: first.orderId });
  assert.ok(await isTaken(one));
  const record = world.db.transaction((transaction) =>
    recordSubmission(transaction, bound, submissionOf(second, 100, 'one network')),
  );
  await assert.rejects(record, /gas for this network is used up/);
});

const dayOlder = statement({
  name: 'submission_totals_test_day_older',
  parameters: { orderId: 'text' },
  text: `update submissions set created_at = created_at - interval '25 hours' where order_id = :orderId`,
});

const revertSent = statement({
  name: 'submission_totals_test_revert',
  parameters: { transactionId: 'int8' },
  text: `update sent_transactions set status = 'failed' where transaction_id = :transactionId`,
});

/** Sends a payment of a payer with code and ends it. Returns its transaction. */
async function sendSmart(
  order: StoredOrder,
  { gas = 100, status, limits = {} }: { gas?: number; status?: SentOutcome['status']; limits?: object } = {},
): Promise<bigint> {
  const smartAccounts = { ...boundless.smartAccounts, ...limits };
  const bound = { ...deps, gasless: { ...deps.gasless, budgets: { ...boundless, smartAccounts } } };
  const submission = { ...submissionOf(order, gas, 'a network'), isSmartAccount: true };
  const { transactionId = 0n } = await world.db.transaction((transaction) =>
    recordSubmission(transaction, bound, submission),
  );
  if (status === undefined) return transactionId;
  if (status === 'failed') await world.db.query(revertSent, { transactionId });
  const ended = { transactionId, chainId: order.chainId, txHash: '0x', blockTime: undefined } as const;
  await world.db.transaction((transaction) =>
    submissionOutcome(transaction, deps, { ...ended, purpose: 'relay', status }),
  );
  return transactionId;
}

test('a payment of a payer with code has a gas limit, and one of a plain key has none', async () => {
  world.clock.time += 30 * hourMs;
  const shop = await newShop();
  const order = await newOrder(shop);
  await assert.rejects(sendSmart(order, { gas: 301 }), /takes too much gas/);
  assert.ok(await isTaken(submissionOf(order, 301, 'a network')));
  await sendSmart(await newOrder(shop), { gas: 300 });
});

test('a payer with code whose payment reverted is refused for that day, and one whose payment was superseded is not', async () => {
  world.clock.time += 30 * hourMs;
  const shop = await newShop();
  const [first, second] = [await newOrder(shop), await newOrder(shop)];
  await sendSmart(first, { status: 'superseded' });
  await sendSmart(first, { status: 'failed' });
  await assert.rejects(sendSmart(first), /a payment of this smart account has failed/);
  await sendSmart(second);
  world.clock.time += 25 * hourMs;
  await sendSmart(await newOrder(shop, first.order.payer));
});

test('a merchant whose payers with code failed too often is refused such payments for that day; plain keys and other merchants are not', async () => {
  world.clock.time += 30 * hourMs;
  const [attacked, other] = [await newShop(), await newShop()];
  const gas = 80;
  const limits = { failuresPerMerchant: 3 };
  await sendSmart(await newOrder(attacked), { status: 'failed', gas, limits });
  await sendSmart(await newOrder(attacked), { status: 'failed', gas, limits });
  await sendSmart(await newOrder(attacked), { status: 'succeeded', gas, limits });
  const refused = { slug: 'method_not_available', message: /too many payments of smart accounts/ };
  const underWay = await newOrder(attacked);
  await sendSmart(underWay, { gas, limits });
  await assert.rejects(sendSmart(await newOrder(attacked), { gas, limits }), refused);
  await sendSmart(await newOrder(other), { gas, limits });
  assert.ok(await isTaken(submissionOf(await newOrder(attacked), 100, 'a network')));
  await world.db.query(payOrder, { sessionId: underWay.sessionId, orderId: underWay.orderId });
  await sendSmart(await newOrder(attacked), { gas, limits });
});

const payOrder = statement({
  name: 'submission_totals_test_pay',
  parameters: { sessionId: 'text', orderId: 'text' },
  text: 'update sessions set order_id = :orderId where session_id = :sessionId',
});

test('payers with code get a fifth of a merchant’s and of the total gas; plain keys keep the rest', async () => {
  world.clock.time += 30 * hourMs;
  const [attacked, other, third] = [await newShop(), await newShop(), await newShop()];
  for (const gas of [300, 100]) await sendSmart(await newOrder(attacked), { gas });
  const refused = (whose: string) => ({ message: new RegExp(`gas for smart accounts ${whose} is used up`) });
  await assert.rejects(sendSmart(await newOrder(attacked), { gas: 1 }), refused('for this merchant'));
  for (const gas of [300, 100]) await sendSmart(await newOrder(other), { gas });
  await assert.rejects(sendSmart(await newOrder(third), { gas: 1 }), refused('on this chain'));
  assert.ok(await isTaken(submissionOf(await newOrder(attacked), perMerchant - 400, 'a network')));
});
