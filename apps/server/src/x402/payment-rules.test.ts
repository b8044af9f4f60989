import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { RpcUnavailable, type SendPlan } from '@florin/evm';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { X402Payment, X402Requirements } from '@florin/protocol/x402.ts';
import { toHex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { findLink } from '#links/link.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { createLinkSession } from '#sessions/session.ts';
import { recordSubmission, submissionOutcome } from '#submissions/submission.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { insertAttempt, insertSent } from '../../test/harness/sent-transaction.ts';
import { signedPayment } from '../../test/life/x402-client.ts';
import type { X402Context } from './context.ts';
import { type OfferTerms, offerSeconds, type Resource, requirementsFor, sealOffer } from './offer.ts';
import { acceptPayment, paymentBefore } from './payment.ts';

let world: AgentWorld;
let linkId: string;
before(async () => {
  world = await AgentWorld.open();
  linkId = await world.addLink();
});
after(() => world.close());

/** A request with a payment, and everything that decides its result. */
interface Attempt {
  readonly context: X402Context;
  readonly resource: Resource;
  /** The offer that the client accepts. */
  readonly accepted: X402Requirements;
  /** All offers of the resource, for its tokens. */
  readonly offers: readonly X402Requirements[];
  readonly terms: OfferTerms;
  readonly payer: ReturnType<typeof privateKeyToAccount>;
  /** The account that signs: the payer. */
  readonly signer: ReturnType<typeof privateKeyToAccount>;
  /** Changes of the signed authorization. */
  readonly authorization: Partial<X402Payment['payload']['authorization']>;
}

const gasless: X402Context['gasless'] = {
  signingOf: async ({ chainId, address }) => ({
    permits: new Set(['eip3009']),
    domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: address },
  }),
  minAmount: microUsd(0n),
  budgets: {
    ...{ perPayer: 1e9, perLink: 1e9, perNetwork: 1e9 },
    smartAccounts: { perPayment: 1e9, failuresPerMerchant: 1e9 },
  },
};

/** What the context has sent, by transaction. */
let broadcast: bigint[] = [];

const sender: X402Context['sender'] = {
  plan: async (chainId, { to, data }): Promise<SendPlan> => ({
    ...{ purpose: 'relay', chainId, to, data, wallet: `0x${'5e'.repeat(20)}` },
    ...{ gasLimit: 100_000n, maxFee: 1n, priorityFee: 1n, baseFee: 1n, nonceFloor: 0n },
  }),
  async record(transaction, plan) {
    const [row] = await transaction.query(insertSent, { chainId: plan.chainId, callData: plan.data });
    const transactionId = row?.transaction_id ?? 0n;
    const txHash: Hex = `0x${transactionId.toString(16).padStart(64, '0')}`;
    await transaction.query(insertAttempt, { txHash, transactionId });
    return { transactionId, txHash };
  },
  broadcast: async (transactionId) => {
    broadcast.push(transactionId);
  },
};

/** A chain with such balances and such code at each address. No block has a transfer. */
function chainWith({
  balance = 0n,
  code = '0x',
  runs = true,
}: {
  balance?: bigint;
  code?: Hex;
  runs?: boolean;
}) {
  const accepted = `0x1626ba7e${'0'.repeat(56)}` as const;
  const payerChain: X402Context['payerChain'] = {
    codeAt: async () => code,
    async callAt(_chainId, { data, offer }) {
      if (offer !== undefined) return runs ? '0x' : undefined;
      return data.startsWith('0x1626ba7e') ? accepted : toHex(balance, { size: 32 });
    },
  };
  return payerChain;
}

const planReverts: X402Context['sender'] = { ...sender, plan: async () => ({ reverted: true, data: '0x' }) };
const planIsWithheld: X402Context['sender'] = {
  ...sender,
  plan: async () => ({ reverted: true, data: '0x', isWithheld: true }),
};

/** Records the failure of each transaction as soon as it is sent. */
const sendsFail: X402Context['sender'] = {
  ...sender,
  async broadcast(transactionId) {
    const ended = { transactionId, chainId: 31337, txHash: '0x', blockTime: undefined } as const;
    await world.db.transaction((transaction) =>
      submissionOutcome(transaction, world.deps, { ...ended, purpose: 'relay', status: 'failed' }),
    );
  },
};

function contextOf(): X402Context {
  return {
    ...{ ...world.deps, db: world.db, gasless, sender, payerChain: chainWith({}), waitMs: 0 },
    ...{ offerKey: new Uint8Array(32).fill(1), readPayment: async () => undefined },
    rpcOf: () => ({
      request: async (method) => (method === 'eth_getLogs' ? [] : null),
      batch: async () => assert.fail('no batches here'),
    }),
  };
}

async function offered(resource: Resource, version: string): Promise<Attempt> {
  const context = contextOf();
  const payer = privateKeyToAccount(generatePrivateKey());
  const seed = resource.kind === 'link' ? randomBytes(32).toString('hex') : '';
  const issuedAt = world.clock.time / 1_000;
  const terms = { seed, issuedAt, version, refundAddress: payer.address };
  const offers = await requirementsFor(context, resource, terms);
  const [accepted] = offers;
  assert.ok(accepted !== undefined);
  const authorization = { validBefore: String(issuedAt + offerSeconds) };
  return { context, resource, accepted, offers, terms, payer, signer: payer, authorization };
}

async function linkOffer(): Promise<Attempt & { readonly resource: Extract<Resource, { kind: 'link' }> }> {
  const link = await findLink(world.db, linkId);
  assert.ok(link !== undefined);
  const resource = { kind: 'link', link } as const;
  return { ...(await offered(resource, link.versionCode)), resource };
}

async function sessionOffer(): Promise<
  Attempt & { readonly resource: Extract<Resource, { kind: 'session' }> }
> {
  const { resource } = await linkOffer();
  const session = await world.db.transaction((transaction) =>
    createLinkSession(transaction, world.deps, { link: resource.link, paymentValue: resource.link.amount }),
  );
  const own = { kind: 'session', session } as const;
  return { ...(await offered(own, '')), resource: own };
}

async function signedFor({ signer, payer, accepted, authorization }: Attempt): Promise<X402Payment> {
  return signedPayment(signer, accepted, { from: payer.address, ...authorization });
}

const network = '192.0.2.1';

/** The result in one text: seen, pending, the reason of a refused payment, or the name of the refusal. */
async function resultOf(work: ReturnType<typeof paymentBefore>): Promise<string> {
  try {
    const result = await work;
    if (result === undefined) return 'unknown';
    return result.kind === 'refused' ? result.reason : result.isSeen ? 'seen' : 'pending';
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return error.slug;
  }
}

const pay = async (attempt: Attempt, payment?: X402Payment) =>
  resultOf(
    acceptPayment(attempt.context, attempt.resource, {
      payment: payment ?? (await signedFor(attempt)),
      network,
    }),
  );

const countRows = statement({
  name: 'x402_rules_test_rows',
  parameters: {},
  columns: { payments: 'int8', sessions: 'int8', sent: 'int8' },
  text: `select (select count(*) from x402_payments) as payments, (select count(*) from sessions) as sessions,
     (select count(*) from sent_transactions) as sent`,
});

const rows = async () => (await world.db.query(countRows))[0];

type Change = (given: Attempt) => Partial<Attempt> | Promise<Partial<Attempt>>;
const inContext =
  (changed: Partial<X402Context>): Change =>
  ({ context }) => ({ context: { ...context, ...changed } });
const authorizing =
  (changed: Attempt['authorization']): Change =>
  ({ authorization }) => ({ authorization: { ...authorization, ...changed } });
const now = () => world.clock.time / 1_000;
const later = (seconds: number) => ({
  ...world.clock,
  now: () => new Date(world.clock.time + seconds * 1_000),
});

const reason = (words: string) => `invalid_exact_evm_payload_${words}`;
const enough = 10n ** 30n;

/** Payments of a link that are refused, with the reason or the name of the refusal. They store and send nothing. */
const refusedOfLink: readonly (readonly [name: string, change: Change, outcome: string])[] = [
  [
    'an offer with another amount',
    ({ accepted }) => ({ accepted: { ...accepted, amount: '1' } }),
    'invalid_payment_requirements',
  ],
  [
    'an offer with another address',
    ({ accepted, payer }) => ({ accepted: { ...accepted, payTo: payer.address } }),
    'invalid_payment_requirements',
  ],
  [
    'an offer of another installation',
    inContext({ offerKey: new Uint8Array(32).fill(2) }),
    'invalid_payment_requirements',
  ],
  [
    'an offer in a token that is not configured',
    ({ context, accepted, terms, payer }) => {
      const shown = { ...accepted, asset: payer.address };
      const offer = sealOffer(context, shown, terms);
      return { accepted: { ...shown, extra: { ...shown.extra, offer } } };
    },
    'invalid_payment_requirements',
  ],
  [
    'an offer of a link whose price has changed',
    ({ resource }) => {
      assert.ok(resource.kind === 'link');
      const link = { ...resource.link, amount: microUsd(resource.link.amount + 1_000_000n) };
      return { resource: { kind: 'link', link } };
    },
    'invalid_payment_requirements',
  ],
  [
    'a token that takes no authorizations any more',
    inContext({ gasless: { ...gasless, signingOf: async () => ({ permits: new Set(['permit2']) }) } }),
    'invalid_payment_requirements',
  ],
  [
    'an old offer',
    ({ context }) => ({ context: { ...context, clock: later(offerSeconds + 1) } }),
    'offer_expired',
  ],
  [
    'another recipient',
    ({ payer, authorization }) => ({ authorization: { ...authorization, to: payer.address } }),
    reason('recipient_mismatch'),
  ],
  ['another value', authorizing({ value: '1' }), reason('authorization_value_mismatch')],
  [
    'an authorization of the future',
    ({ authorization }) => ({ authorization: { ...authorization, validAfter: String(now() + 1) } }),
    reason('authorization_valid_after'),
  ],
  [
    'an authorization that has ended',
    authorizing({ validBefore: '1' }),
    reason('authorization_valid_before'),
  ],
  [
    'the signature of another account',
    () => ({ signer: privateKeyToAccount(generatePrivateKey()) }),
    reason('signature'),
  ],
  ['a payer without the money', inContext({ sender: planReverts }), 'insufficient_funds'],
  ['no gas to spare', inContext({ sender: planIsWithheld }), 'method_not_available'],
  [
    'a payer whose gas of the day is used up',
    inContext({ gasless: { ...gasless, budgets: { ...gasless.budgets, perPayer: 99_999 } } }),
    'method_not_available',
  ],
  [
    'a link that has created too many sessions',
    inContext({
      admitCreation: () => {
        throw new Refusal('rate_limited');
      },
    }),
    'rate_limited',
  ],
  ['a payer with too many open sessions', inContext({ maxOpenSessions: 0 }), 'rate_limited'],
  [
    'a smart account whose payment reverts at the real gas price',
    ({ context }) => ({
      context: { ...context, payerChain: chainWith({ code: '0xc0de', runs: false }) },
    }),
    'payer_not_served',
  ],
  [
    'a smart account beyond its gas limit',
    ({ context }) => ({
      context: {
        ...context,
        payerChain: chainWith({ code: '0xc0de' }),
        gasless: {
          ...gasless,
          budgets: { ...gasless.budgets, smartAccounts: { perPayment: 99_999, failuresPerMerchant: 1e9 } },
        },
      },
    }),
    'method_not_available',
  ],
  [
    'a token whose chain does not answer',
    inContext({ gasless: { ...gasless, signingOf: () => Promise.reject(new RpcUnavailable('timeout')) } }),
    'chain_unavailable',
  ],
];

for (const [name, change, outcome] of refusedOfLink)
  test(`${name} is refused with ${outcome}, and nothing is stored or sent`, async () => {
    const given = await linkOffer();
    const before = await rows();
    broadcast = [];
    assert.equal(await pay({ ...given, ...(await change(given)) }), outcome);
    assert.deepEqual([await rows(), broadcast], [before, []]);
    // The same offer is good without the change.
    assert.equal(await pay(given), 'pending');
  });

const sessionIn = (changed: Partial<Extract<Resource, { kind: 'session' }>['session']>): Change => {
  return ({ resource }) => {
    assert.ok(resource.kind === 'session');
    return { resource: { kind: 'session', session: { ...resource.session, ...changed } } };
  };
};
const refusedOfSession: readonly (readonly [name: string, change: Change, outcome: string])[] = [
  ['a cancelled session', sessionIn({ status: 'cancelled' }), 'session_cancelled'],
  ['an expired session', sessionIn({ status: 'expired' }), 'session_expired'],
  ['a paid session', sessionIn({ status: 'paid' }), 'session_paid'],
  ['a session whose payment is in a block', sessionIn({ initiateTx: '0xaa' }), 'order_already_paid'],
  [
    'money of unknown payers at the address of a session',
    ({ context }) => ({
      context: { ...context, sender: planReverts, payerChain: chainWith({ balance: enough }) },
    }),
    'order_already_paid',
  ],
];

for (const [name, change, outcome] of refusedOfSession)
  test(`${name} is refused with ${outcome}, and nothing is stored or sent`, async () => {
    const given = await sessionOffer();
    const before = await rows();
    broadcast = [];
    assert.equal(await pay({ ...given, ...(await change(given)) }), outcome);
    assert.deepEqual([await rows(), broadcast], [before, []]);
    assert.equal(await pay(given), 'pending');
  });

const accepted: readonly (readonly [name: string, change: Change])[] = [
  ['a payment', () => ({})],
  [
    'a payment in the last second',
    ({ context }) => ({ context: { ...context, clock: later(offerSeconds - 6) } }),
  ],
  ['a payment of a smart account', inContext({ payerChain: chainWith({ code: '0xc0de' }) })],
];

for (const offer of [linkOffer, sessionOffer])
  for (const [name, change] of accepted)
    test(`${name} for the ${offer === linkOffer ? 'link' : 'session'} is sent once, also when it is repeated`, async () => {
      const given = await offer();
      const attempt = { ...given, ...(await change(given)) };
      const before = await rows();
      const payment = await signedFor(attempt);
      broadcast = [];
      assert.deepEqual([await pay(attempt, payment), await pay(attempt, payment)], ['pending', 'pending']);
      assert.equal(broadcast.length, 1);
      const { payments = 0n, sessions = 0n, sent = 0n } = before ?? {};
      const isNew = offer === linkOffer ? 1n : 0n;
      assert.deepEqual(await rows(), {
        payments: payments + 1n,
        sessions: sessions + isNew,
        sent: sent + 1n,
      });
    });

test('money that is already at the address of a link is accepted beyond all limits, and nothing is sent', async () => {
  const given = await linkOffer();
  const refuse = () => {
    throw new Refusal('rate_limited');
  };
  const payerChain = chainWith({ balance: enough });
  const limits = { admitCreation: refuse, maxOpenSessions: 0 };
  const context = { ...given.context, ...limits, sender: planReverts, payerChain };
  const before = await rows();
  assert.equal(await pay({ ...given, context }), 'pending');
  const { payments = 0n, sessions = 0n, sent } = before ?? {};
  assert.deepEqual(await rows(), { payments: payments + 1n, sessions: sessions + 1n, sent });
});

test('a failed payment is refused with transaction_failed, and another authorization may replace it', async () => {
  const given = await linkOffer();
  assert.equal(
    await pay({ ...given, context: { ...given.context, sender: sendsFail } }),
    'transaction_failed',
  );
  const other = await signedFor(given);
  assert.equal(await resultOf(paymentBefore(given.context, given.resource, other)), 'unknown');
  assert.equal(await pay(given, other), 'pending');
});

test('while one authorization is on its way another one for the same offer is refused with order_already_paid', async () => {
  const given = await linkOffer();
  assert.equal(await pay(given), 'pending');
  assert.equal(await pay(given), 'order_already_paid');
});

test('an offer that is paid in one token is refused in another with order_already_paid', async () => {
  const arrived = { sender: planReverts, payerChain: chainWith({ balance: enough }) };
  for (const how of [{}, arrived]) {
    const given = await linkOffer();
    assert.equal(given.offers.length, 3);
    assert.equal(await pay({ ...given, context: { ...given.context, ...how } }), 'pending');
    for (const other of given.offers.slice(1))
      assert.equal(await pay({ ...given, accepted: other }), 'order_already_paid');
  }
});

test('an order that the AI protocol is sending is refused with order_already_paid', async () => {
  const { context, resource, ...given } = await sessionOffer();
  const token = context.chains.token('ethereum::usdc');
  assert.ok(token !== undefined);
  const { session } = resource;
  const plan = await sender.plan(token.chainId, { purpose: 'relay', to: token.address, data: '0x' });
  assert.ok(!('reverted' in plan));
  await world.db.transaction(async (transaction) => {
    const request = { session, payer: given.payer.address, payerEmail: '', token } as const;
    const order = await prepareOrder(transaction, context, request);
    const submission = { order, method: 'eip3009', payer: given.payer.address, network, plan } as const;
    await recordSubmission(transaction, context, { ...submission, isSmartAccount: false });
  });
  assert.equal(await pay({ ...given, context, resource }), 'order_already_paid');
});

test('an accepted payment keeps its result after its link is disabled, and other resources do not know it', async () => {
  const given = await linkOffer();
  const payment = await signedFor(given);
  const before = (resource: Resource) => resultOf(paymentBefore(given.context, resource, payment));
  assert.equal(await before(given.resource), 'unknown');
  assert.equal(await pay(given, payment), 'pending');
  const { link } = given.resource;
  const changed = { ...link, status: 'disabled', amount: microUsd(1n), versionCode: 'ver_other' } as const;
  assert.equal(await before({ kind: 'link', link: changed }), 'pending');
  assert.equal(await before({ kind: 'link', link: { ...link, linkId: 'another' } }), 'unknown');
  assert.equal(await before((await sessionOffer()).resource), 'unknown');
});

test('another authorization for an accepted payment is refused with order_already_paid, and a forged offer is unknown', async () => {
  const given = await linkOffer();
  assert.equal(await pay(given), 'pending');
  const other = await signedFor(given);
  const before = (payment: X402Payment) => resultOf(paymentBefore(given.context, given.resource, payment));
  assert.equal(await before(other), 'order_already_paid');
  assert.equal(await before({ ...other, accepted: { ...other.accepted, amount: '1' } }), 'unknown');
});

const forgetPayments = statement({
  name: 'x402_rules_test_forget',
  parameters: { sessionId: 'text' },
  columns: {},
  text: 'delete from x402_payments where session_id = :sessionId',
});

test('an offer whose session exists without a stored payment is refused with order_already_paid', async () => {
  const given = await linkOffer();
  const payment = await signedFor(given);
  const result = await acceptPayment(given.context, given.resource, { payment, network });
  assert.ok(result.kind === 'taken');
  await world.db.query(forgetPayments, { sessionId: result.receipt.sessionId });
  assert.equal(await resultOf(paymentBefore(given.context, given.resource, payment)), 'order_already_paid');
});

test('the receipt names the session, the network, the payer and the transaction that brings the money', async () => {
  const given = await linkOffer();
  broadcast = [];
  const payment = await signedFor(given);
  const result = await acceptPayment(given.context, given.resource, { payment, network });
  assert.ok(result.kind === 'taken');
  const { sessionId } = result.receipt;
  assert.deepEqual(result, {
    kind: 'taken',
    isSeen: false,
    receipt: {
      sessionId,
      status: 'settlement_pending',
      txHash: `0x${(broadcast[0] ?? 0n).toString(16).padStart(64, '0')}`,
      network: given.accepted.network,
      payer: given.payer.address,
    },
  });
});
