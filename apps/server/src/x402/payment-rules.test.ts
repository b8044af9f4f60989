import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RpcUnavailable } from '@florin/evm';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import type { X402Payment } from '@florin/protocol/x402.ts';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { recordSubmission } from '#submissions/submission.ts';
import type { AgentWorld } from '../../test/harness/agent-fixture.ts';
import {
  authorizing,
  broadcast,
  type Change,
  chainWith,
  enough,
  gasless,
  inContext,
  later,
  linkOffer,
  network,
  now,
  openX402World,
  pay,
  planIsWithheld,
  planReverts,
  reason,
  resultOf,
  rows,
  sender,
  sendsFail,
  sessionOffer,
  signedFor,
} from '../../test/harness/x402-attempt.ts';
import { offerSeconds, type Resource, sealOffer } from './offer.ts';
import { acceptPayment, paymentBefore } from './payment.ts';

let world: AgentWorld;
before(async () => {
  world = await openX402World();
});
after(() => world.close());

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
    broadcast.length = 0;
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
    broadcast.length = 0;
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
      broadcast.length = 0;
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
  broadcast.length = 0;
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
