import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SendPlan } from '@florin/evm';
import { statement } from '@florin/pg';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { decodeFunctionData, encodeErrorResult } from 'viem';
import { consentsOf } from '#authorizations/consent.ts';
import { findLink } from '#links/link-lookup.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { createLinkSession, lockSession } from '#sessions/session.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { newPayer } from '../../test/harness/agent-payer.ts';
import { insertAttempt, insertSent } from '../../test/harness/sent-transaction.ts';
import type { SubmissionContext } from './context.ts';
import {
  checkSubmission,
  type NewSubmission,
  recordSubmission,
  releaseUnfollowed,
  submissionOutcome,
  submissionsUndone,
} from './submission.ts';

let world: AgentWorld;
let deps: SubmissionContext;
let linkId: string;
before(async () => {
  world = await AgentWorld.open();
  linkId = await world.addLink();
  deps = {
    ...world.deps,
    gasless: {
      signingOf: async () => ({ permits: new Set() }),
      minAmount: microUsd(0n),
      budgets: {
        ...{ perPayer: 250, perLink: 1_000, perNetwork: 450 },
        smartAccounts: { perPayment: 100, failuresPerMerchant: 3 },
      },
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

const newAddress = () => newPayer().address as Hex;

async function orderFor(payer: Hex): Promise<StoredOrder> {
  const link = await findLink(world.db, linkId, world.clock.now());
  const token = deps.chains.token('ethereum::usdc');
  if (link === undefined || token === undefined) throw new Error('the fixture has no link or token');
  return world.db.transaction(async (transaction) => {
    const session = await createLinkSession(transaction, deps, { link, paymentValue: link.amount });
    return prepareOrder(transaction, deps, { session, payer, payerEmail: '', token });
  });
}

let networks = 0;

function submissionOf(order: StoredOrder, changes: Partial<NewSubmission> = {}): NewSubmission {
  networks += 1;
  const plan: SendPlan = {
    purpose: 'relay',
    chainId: order.chainId,
    to: order.order.token,
    data: '0x',
    gasLimit: 100n,
    maxFee: 1n,
    priorityFee: 1n,
    nonceFloor: 0n,
    wallet: order.order.to,
    baseFee: 1n,
  };
  const { payer } = order.order;
  const network = `network ${networks}`;
  return { order, method: 'eip3009', payer, isSmartAccount: false, network, plan, ...changes };
}

const record = (submission: NewSubmission) =>
  world.db.transaction((transaction) => recordSubmission(transaction, deps, submission));

const refusal = (slug: string, detail: RegExp) => (error: unknown) =>
  error instanceof Refusal && error.slug === slug && detail.test(error.message);

test('a payer, a network and a link each have gas for a day, and it renews', async () => {
  const payer = newAddress();
  await record(submissionOf(await orderFor(payer)));
  await record(submissionOf(await orderFor(payer)));
  const third = submissionOf(await orderFor(payer));
  await assert.rejects(record(third), refusal('method_not_available', /gas for this payer is used up/));

  const network = 'one network';
  for (let count = 0; count < 4; count += 1)
    await record(submissionOf(await orderFor(newAddress()), { network }));
  const fifth = submissionOf(await orderFor(newAddress()), { network });
  await assert.rejects(record(fifth), refusal('method_not_available', /gas for this network is used up/));

  for (let count = 0; count < 4; count += 1) await record(submissionOf(await orderFor(newAddress())));
  const eleventh = submissionOf(await orderFor(newAddress()));
  await assert.rejects(record(eleventh), refusal('method_not_available', /gas for this link is used up/));
  world.clock.time += 86_400_001;
  const later = await orderFor(payer);
  assert.equal((await record(submissionOf(later))).view.status, 'submitted');
});

test('a hundred concurrent payments never exceed their gas budgets', async () => {
  world.clock.time += 86_400_001;
  const orders: StoredOrder[] = [];
  for (let count = 0; count < 100; count += 1) orders.push(await orderFor(newAddress()));
  const results = await Promise.allSettled(
    orders.map((order, index) => record(submissionOf(order, { network: `shared ${index % 2}` }))),
  );
  const taken = results.map(({ status }, index) => [status, index % 2] as const);
  const takenBy = (network: number) =>
    taken.filter(([status, each]) => status === 'fulfilled' && each === network).length;
  // 450 for each network, which is below the link's thousand.
  assert.deepEqual([takenBy(0), takenBy(1)], [4, 4]);
  const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  assert.ok(reasons.every(refusal('method_not_available', /gas for this network is used up/)));
});

test('a payment by a removed wallet may be submitted again after its time', async () => {
  world.clock.time += 86_400_001;
  const submission = submissionOf(await orderFor(newAddress()));
  const first = await record(submission);
  const now = world.clock.time;
  const release = (wallets: Hex[], before: number) =>
    releaseUnfollowed(world.db, { wallets, before: new Date(before), at: new Date(now) });
  assert.equal(await release(['0xWallet'], now + 1), 0);
  // Releases the due submissions of earlier tests.
  await release(['0xother'], now);
  assert.equal((await record(submission)).transactionId, undefined);
  assert.equal(await release(['0xother'], now + 1), 1);
  const second = await record(submission);
  assert.notEqual(second.transactionId, undefined);
  assert.notEqual(second.view.txHash, first.view.txHash);
});

const domainOf = ({ chainId, order: { token: verifyingContract } }: StoredOrder) =>
  ({ name: 'USD Coin', version: '2', chainId, verifyingContract }) as const;

const changeSignature = statement({
  name: 'submission_test_change_signature',
  parameters: { orderId: 'text', signature: 'text' },
  text: 'update orders set signature = :signature where order_id = :orderId',
});

test('an x402 payment is never released: its client would pay another order as well', async () => {
  world.clock.time += 86_400_001;
  const submission = submissionOf(await orderFor(newAddress()), { method: 'x402' });
  const first = await record(submission);
  const now = world.clock.time;
  const given = { wallets: ['0xother'] as const, before: new Date(now + 1), at: new Date(now) };
  // Releases the due submissions of earlier tests.
  await releaseUnfollowed(world.db, given);
  assert.deepEqual(await record(submission), { view: first.view, transactionId: undefined });
});

// proves W7.1
test('a consent to a small amount, or to an order that the service did not sign, is not sent', async () => {
  const payer = newPayer();
  const order = await orderFor(payer.address as Hex);
  const domain = domainOf(order);
  const asked: SubmissionContext = {
    ...deps,
    gasless: { ...deps.gasless, signingOf: async () => ({ permits: new Set(['eip3009']), domain }) },
  };
  const gateway = deps.chains.byId(order.chainId)?.gateway ?? '0x';
  const [consent] = consentsOf('eip3009', order, { gateway, domain });
  assert.ok(consent !== undefined);
  const signature = payer.signingKey.sign(consent.digest).serialized;
  const body = { sessionId: order.sessionId, method: 'eip3009' as const, signature };
  const check = (minAmount = order.amounts.totalValue) => {
    const gasless = { ...asked.gasless, minAmount };
    return checkSubmission(world.db, { ...asked, gasless }, { body, network: 'somewhere' });
  };
  await assert.rejects(check(), refusal('payer_not_served', /would revert/));
  const more = microUsd(order.amounts.totalValue + 1n);
  await assert.rejects(check(more), refusal('method_not_available', /too small/));
  await world.db.query(changeSignature, { orderId: order.orderId, signature: '0x' });
  await assert.rejects(check(), refusal('signature_invalid', /signature/));
});

test('orders that strangers prepare for contracts cost a payer with a key nothing', async () => {
  const payer = newPayer();
  const first = await orderFor(newAddress());
  const token = deps.chains.token('ethereum::usdc');
  assert.ok(token !== undefined);
  const own = await world.db.transaction(async (transaction) => {
    const session = await lockSession(transaction, first.sessionId);
    if (session === undefined) throw new Error('the session is missing');
    const request = { session, payerEmail: '', token };
    for (let count = 0; count < 4; count += 1)
      await prepareOrder(transaction, deps, { ...request, payer: newAddress() });
    return prepareOrder(transaction, deps, { ...request, payer: payer.address as Hex });
  });
  const domain = {
    ...{ name: 'USD Coin', version: '2' },
    ...{ chainId: own.chainId, verifyingContract: token.address },
  };
  let walletCalls = 0;
  const asked: SubmissionContext = {
    ...deps,
    gasless: { ...deps.gasless, signingOf: async () => ({ permits: new Set(['permit2']), domain }) },
    payerChain: {
      codeAt: async (_chainId, address) => (address === payer.address ? '0x' : '0xc0de'),
      callAt: async () => undefined,
    },
    admitWalletCall: () => {
      walletCalls += 1;
    },
  };
  const gateway = deps.chains.byId(own.chainId)?.gateway ?? '0x';
  const check = (signature: string) =>
    checkSubmission(world.db, asked, {
      body: { sessionId: own.sessionId, method: 'permit2', signature },
      network: 'somewhere',
    });
  for (const { digest } of consentsOf('permit2', own, { gateway, domain })) {
    await assert.rejects(
      check(payer.signingKey.sign(digest).serialized),
      refusal('payer_not_served', /would revert/),
    );
  }
  assert.equal(walletCalls, 0);
  await assert.rejects(check(`0x${'11'.repeat(64)}1b`), refusal('signature_invalid', /signature/));
  assert.equal(walletCalls, 10);
});

const changeOrder = statement({
  name: 'submission_test_change_order',
  parameters: { orderId: 'text', gateway: 'text', fee: 'numeric' },
  text: 'update orders set gateway = :gateway, fee = :fee where order_id = :orderId',
});

/** The calls that the sender plans for an order's submission: the signatures for settlers, and for the relayer. */
async function consentsAsked(order: StoredOrder, payer: ReturnType<typeof newPayer>, revert: Hex = '0x') {
  const domain = domainOf(order);
  const asked: (Hex | undefined)[][] = [];
  const consentIn = (data: Hex | undefined): Hex | undefined => {
    if (data === undefined) return undefined;
    const call = decodeFunctionData({ abi: paymentGatewayAbi, data });
    return call.functionName === 'payWithAuthorization' ? call.args[1] : undefined;
  };
  const asking: SubmissionContext = {
    ...deps,
    gasless: { ...deps.gasless, signingOf: async () => ({ permits: new Set(['eip3009']), domain }) },
    sender: {
      ...deps.sender,
      async plan(_chainId, { data, dataByRelayer }) {
        asked.push([consentIn(data), consentIn(dataByRelayer)]);
        return { reverted: true, data: revert };
      },
    },
  };
  const gateway = order.gateway === '' ? (deps.chains.byId(order.chainId)?.gateway ?? '0x') : order.gateway;
  const [consent] = consentsOf('eip3009', order, { gateway, domain });
  assert.ok(consent !== undefined);
  const signature = payer.signingKey.sign(consent.digest).serialized;
  const body = { sessionId: order.sessionId, method: 'eip3009' as const, signature };
  await assert.rejects(checkSubmission(world.db, asking, { body, network: 'somewhere' }));
  return asked;
}

test('an order that was changed in the database is neither signed nor sent', async () => {
  const payer = newPayer();
  const order = await orderFor(payer.address as Hex);
  const change = async (gateway: Hex | '', fee: bigint) => {
    await world.db.query(changeOrder, { orderId: order.orderId, gateway, fee });
    return { ...order, gateway, order: { ...order.order, fee } };
  };
  const { fee } = order.order;
  assert.deepEqual(await consentsAsked(order, payer), [[order.signature, '0x']]);
  // Changed by an attacker with write access to the database: no longer what was signed.
  assert.deepEqual(await consentsAsked(await change(order.gateway, fee + 1n), payer), []);
  const foreign: Hex = `0x${'e1'.repeat(20)}`;
  assert.deepEqual(await consentsAsked(await change(foreign, fee), payer), []);
});

test('the service never consents to an order without a signature, even when the database is tampered with', async () => {
  const payer = newPayer();
  const order = await orderFor(payer.address as Hex);
  await world.db.query(changeSignature, { orderId: order.orderId, signature: '' });
  assert.deepEqual(await consentsAsked({ ...order, signature: '0x' }, payer), []);
});

test('a gateway without consent by transaction gets the signature', async () => {
  const payer = newPayer();
  const order = await orderFor(payer.address as Hex);
  const abi = paymentGatewayAbi;
  const refused = encodeErrorResult({ abi, errorName: 'InvalidSignature' });
  const { signature } = order;
  assert.deepEqual(await consentsAsked(order, payer, refused), [
    [signature, '0x'],
    [signature, undefined],
  ]);
  const paused = encodeErrorResult({ abi, errorName: 'ContractPaused' });
  assert.deepEqual(await consentsAsked(order, payer, paused), [[signature, '0x']]);
});

// proves W8.1
test('a repeat is the same payment; a failed one may be sent again', async () => {
  world.clock.time += 86_400_001;
  const submission = submissionOf(await orderFor(newAddress()));
  const first = await record(submission);
  const repeat = await record(submission);
  assert.deepEqual([repeat.view, repeat.transactionId], [first.view, undefined]);
  const outcome = {
    transactionId: first.transactionId ?? 0n,
    chainId: submission.order.chainId,
    purpose: 'relay',
    status: 'failed',
    txHash: '0x',
    blockTime: undefined,
  } as const;
  await world.db.transaction((transaction) => submissionOutcome(transaction, deps, outcome));
  const again = await record(submission);
  assert.notEqual(again.transactionId, undefined);
  assert.notEqual(again.view.txHash, first.view.txHash);
});

test('a successful payment whose block is reorged may fail, and is then sent again', async () => {
  world.clock.time += 86_400_001;
  const submission = submissionOf(await orderFor(newAddress()));
  const first = await record(submission);
  const transactionId = first.transactionId ?? 0n;
  const end = (status: 'succeeded' | 'superseded') =>
    world.db.transaction((transaction) =>
      submissionOutcome(transaction, deps, {
        ...{ transactionId, chainId: submission.order.chainId, purpose: 'relay', status },
        ...{ txHash: '0x', blockTime: undefined },
      }),
    );
  await end('succeeded');
  await end('superseded');
  assert.equal((await record(submission)).transactionId, undefined, 'an outcome is one');
  await world.db.transaction((transaction) =>
    submissionsUndone(transaction, [transactionId], world.clock.now()),
  );
  assert.equal((await record(submission)).transactionId, undefined, 'it is on its way again');
  await end('superseded');
  assert.notEqual((await record(submission)).transactionId, undefined);
});

// proves W7.1
test('while one payment of a session is under way, another one is refused', async () => {
  world.clock.time += 86_400_001;
  const link = await findLink(world.db, linkId, world.clock.now());
  const token = deps.chains.token('ethereum::usdc');
  if (link === undefined || token === undefined) throw new Error('the fixture has no link or token');
  const orders = await world.db.transaction(async (transaction) => {
    const session = await createLinkSession(transaction, deps, { link, paymentValue: link.amount });
    const request = { session, payerEmail: '', token };
    return [
      await prepareOrder(transaction, deps, { ...request, payer: newAddress() }),
      await prepareOrder(transaction, deps, { ...request, payer: newAddress() }),
    ] as const;
  });
  await record(submissionOf(orders[0]));
  await assert.rejects(
    record(submissionOf(orders[1])),
    refusal('order_already_paid', /another payment is on its way/),
  );
});
