import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '@florin/protocol/error.ts';
import { amountsOf } from '@florin/protocol/fee.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import fc from 'fast-check';
import { zeroAddress } from 'viem';
import type { Chains } from '#chains/chain.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import type { OrderContext, OrderRequest } from './context.ts';
import { draftOrder, isCollectedOnly, unsigned } from './order.ts';
import { orderSignerOf } from './order-signer.ts';
import { paidValueOf, type SessionTerms } from './stored-order.ts';

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const context: OrderContext = {
  clock: { now: () => new Date(0), monotonicMs: () => 0, sleep: async () => {} },
  chains: fixtureChains,
  rates: { sameToken: 2_000, sameChain: 3_000, crossChain: 6_000 },
  signer: orderSignerOf(`0x${'0f'.repeat(32)}`),
  reclaimAfterSeconds: 86_400,
};
const session: SessionTerms = {
  ...{
    sessionId: 'ses_1',
    merchantId: 'mer_1',
    businessId: '',
    accountId: 'acc_1',
    recipient: address('c3'),
  },
  ...{
    settlementToken: 'ethereum::usdc',
    feeModel: 2,
    amount: microUsd(10_000_000n),
    metaData: `0x${'d1'.repeat(32)}`,
  },
  ...{ channelId: `0x${'d2'.repeat(32)}`, chosenTotal: undefined, expirationTime: new Date(1_800_000) },
  ...{ signedOnce: false, createdAt: new Date(0) },
};

function tokenOf(tokenId: string) {
  const token = fixtureChains.token(tokenId);
  assert.ok(token !== undefined);
  return token;
}

const request: OrderRequest = {
  ...{ session, payer: address('11'), payerEmail: 'payer@example.com', token: tokenOf('ethereum::usdc') },
};
const draft = (changed: Partial<OrderRequest> = {}, deps = context) =>
  draftOrder(deps, { ...request, ...changed });

test('an order has the recipient, the amounts and the end of its session', () => {
  const { totalValue, feeValue } = amountsOf(session.amount, 2_000, 2);
  const { orderId, ...drafted } = draft();
  assert.deepEqual(drafted, {
    ...{ sessionId: 'ses_1', chainId: 31_337, tokenId: 'ethereum::usdc', payerEmail: 'payer@example.com' },
    order: {
      ...{ channelId: session.channelId, metaData: session.metaData, payer: request.payer },
      ...{ token: request.token.address, to: session.recipient, total: totalValue },
      ...{ payment: session.amount, fee: feeValue, payBy: 1_800n, reclaimAt: 88_200n },
      ...{ orderType: orderKinds.escrow, targetChain: 31_337n, via: zeroAddress },
    },
    ...{ gateway: address('a1'), payoutVault: '', amounts: amountsOf(session.amount, 2_000, 2) },
    withSecret: false,
    added: 0n,
  });
  assert.match(orderId, /^0x[0-9a-f]{64}$/);
});

type TypeRule = readonly [
  tokenId: string,
  mode: OrderRequest['settlementMode'],
  type: number,
  vault: Hex | '',
];
const types: readonly TypeRule[] = [
  ['ethereum::usdc', undefined, orderKinds.escrow, ''],
  ['ethereum::usdc', 'escrow', orderKinds.escrow, ''],
  ['ethereum::usdc', 'direct', orderKinds.direct, ''],
  // Only the settlement token itself can be paid directly.
  ['ethereum::usdt', 'direct', orderKinds.vaultPayout, address('b2')],
  ['base::usdc', 'direct', orderKinds.vaultPayout, address('b2')],
  ['base::usdc', undefined, orderKinds.vaultPayout, address('b2')],
];
for (const [tokenId, settlementMode, orderType, payoutVault] of types)
  test(`an order in ${tokenId} with the mode ${settlementMode ?? 'of a draft'} has the type ${orderType}`, () => {
    const { order, ...drafted } = draft({ token: tokenOf(tokenId), settlementMode });
    assert.deepEqual(
      [order.orderType, drafted.payoutVault, order.targetChain, order.via],
      [orderType, payoutVault, 31_337n, payoutVault === '' ? zeroAddress : address('b2')],
    );
  });

const withConditions = (status: 'available' | 'unavailable', cap: bigint): OrderContext => {
  const conditions: Chains['conditions'] = {
    version: () => 1,
    of: () => ({ status, reason: status === 'available' ? '' : 'chain_halted', secondsToFinal: 1 }),
    payoutCap: () => microUsd(cap),
  };
  return { ...context, chains: { ...fixtureChains, conditions } };
};
const usdt = tokenOf('ethereum::usdt');
/** The operator takes no new orders in one token. */
const withStop = (tokenId: string): OrderContext => {
  const available = withConditions('available', 10n ** 12n);
  const conditions = { ...available.chains.conditions, isStopped: (asked: string) => asked === tokenId };
  return { ...available, chains: { ...available.chains, conditions } as Chains };
};
const refused: readonly (readonly [name: string, work: () => unknown, slug: string])[] = [
  ['the zero address as payer', () => draft({ payer: zeroAddress }), 'payer_not_served'],
  [
    'an address to burn tokens at as payer',
    () => draft({ payer: `0x${'0'.repeat(36)}dEaD` }),
    'payer_not_served',
  ],
  ['a precompile as payer', () => draft({ payer: `0x${'0'.repeat(39)}1` }), 'payer_not_served'],
  ...['0x000000000022D473030F116dDEE9F6B43aC78BA3', '0xcA11bde05977b3631167028862bE2a173976CA11'].map(
    (shared) => [`${shared} as payer`, () => draft({ payer: shared as Hex }), 'payer_not_served'] as const,
  ),
  ['a token as payer', () => draft({ payer: usdt.address }), 'payer_not_served'],
  ['a gateway as payer', () => draft({ payer: address('a1') }), 'payer_not_served'],
  ['a vault as payer', () => draft({ payer: address('b2') }), 'payer_not_served'],
  [
    'a token of another chain’s number',
    () => draft({ token: { ...usdt, chainId: 1 } }),
    'payment_token_unsupported',
  ],
  [
    'a token without a route',
    () => draft({ token: usdt }, withConditions('available', 0n)),
    'payment_token_unsupported',
  ],
  [
    'a settlement token that left the configuration',
    () => draft({ session: { ...session, settlementToken: 'ethereum::gone' } }),
    'payment_token_unsupported',
  ],
  ['a stopped token', () => draft({ token: usdt }, withStop('ethereum::usdt')), 'chain_unavailable'],
  [
    'a payment that settles in a stopped token',
    () => draft({ token: usdt }, withStop(session.settlementToken)),
    'chain_unavailable',
  ],
  ['an unavailable chain', () => draft({}, withConditions('unavailable', 10n ** 12n)), 'chain_unavailable'],
  [
    'a price above the cap of the vault',
    () => draft({ token: usdt }, withConditions('available', 9_999_999n)),
    'amount_out_of_range',
  ],
  [
    'a chosen total that the fee uses up',
    () => draft({ session: { ...session, chosenTotal: microUsd(1n) } }),
    'amount_out_of_range',
  ],
];
for (const [name, work, slug] of refused)
  test(`${name} is refused with ${slug}`, () =>
    assert.throws(work, (error) => error instanceof Refusal && error.slug === slug));

test('a price at the cap of the vault is drafted', () => {
  assert.equal(draft({ token: usdt }, withConditions('available', 10_000_000n)).order.payment, 10_000_000n);
});

test('the same request has the same id, and every term of an order changes it', () => {
  assert.equal(draft().orderId, draft().orderId);
  // The e-mail address is not on chain.
  assert.equal(draft({ payerEmail: '' }).orderId, draft().orderId);
  const others: readonly Partial<OrderRequest>[] = [
    { payer: address('12') },
    { token: usdt },
    { endsAt: 1_799 },
    { lateSeconds: 1 },
    { settlementMode: 'direct' },
    { session: { ...session, recipient: address('c4') } },
    { session: { ...session, amount: microUsd(10_000_001n) } },
    { session: { ...session, feeModel: 1 } },
    { session: { ...session, metaData: `0x${'d3'.repeat(32)}` } },
    { session: { ...session, channelId: `0x${'d4'.repeat(32)}` } },
  ];
  const ids = others.map((changed) => draft(changed).orderId);
  assert.equal(new Set([draft().orderId, ...ids]).size, others.length + 1);
});

test('for every price and end: total, payment and fee agree, and the payer can reclaim only after the end', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1_000_000n, max: 10n ** 12n }),
      fc.constantFrom(1 as const, 2 as const),
      fc.constantFrom(...fixtureChains.tokens),
      fc.nat(10 ** 9),
      fc.nat(10 ** 6),
      (amount, feeModel, token, endsAt, lateSeconds) => {
        const terms = { ...session, feeModel, amount: microUsd(amount) };
        const { order, amounts } = draft({ session: terms, token, endsAt, lateSeconds });
        const units = 10n ** BigInt(token.decimals - 6);
        assert.deepEqual(
          [order.total, order.payment, order.fee],
          [amounts.totalValue * units, amounts.paymentValue * units, amounts.feeValue * units],
        );
        assert.equal(amounts.totalValue - amounts.feeValue, amounts.netValue);
        assert.equal(order.payBy, BigInt(endsAt + lateSeconds));
        assert.equal(order.reclaimAt - order.payBy, 86_400n);
      },
    ),
  );
});

test('without another choice, an order can be settled for 30 days, and for 7 where only the operator settles it', () => {
  const day = 86_400n;
  const secondsOf = (settlementToken: string, settlementMode?: 'direct') => {
    const asked = { session: { ...session, settlementToken }, settlementMode };
    const { order } = draft(asked, { ...context, reclaimAfterSeconds: undefined });
    return [order.orderType, order.reclaimAt - order.payBy];
  };
  assert.deepEqual(secondsOf('ethereum::usdc'), [orderKinds.escrow, 30n * day]);
  assert.deepEqual(secondsOf('ethereum::usdc', 'direct'), [orderKinds.direct, 30n * day]);
  assert.deepEqual(secondsOf('base::usdc'), [orderKinds.vaultPayout, 7n * day]);
});

test('only an order without a signature is collected only', () => {
  assert.deepEqual(
    [unsigned, '0xab' as const].map((signature) => isCollectedOnly({ signature })),
    [true, false],
  );
});

test('the payer paid the total without the addition, and nothing where the addition is no part of the total', () => {
  const { order, amounts } = draft();
  const paidWith = (added: bigint, total = order.total) => paidValueOf({ order: { total }, amounts, added });
  const { total } = order;
  const { totalValue } = amounts;
  assert.deepEqual(
    [0n, total / 2n, total].map((added) => paidWith(added)),
    [totalValue, totalValue / 2n, 0n],
  );
  assert.deepEqual([paidWith(-1n), paidWith(total + 1n), paidWith(0n, 0n)], [0n, 0n, 0n]);
});
