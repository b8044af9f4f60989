import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microUsd } from '@florin/protocol/money.ts';
import { type Hex, type OrderType, orderKinds } from '@florin/protocol/order.ts';
import fc from 'fast-check';
import { zeroHash } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { ChainEvent, ChainEventName, ContractName } from '#contracts/event.ts';
import type { EntryKind, Posting } from '#ledger/entry.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { movementOf, unknownOrderMovementOf } from './movement.ts';
import {
  additionPostings,
  feeWithdrawalPostings,
  floatPostings,
  mintPostings,
  paymentPostings,
  payoutPostings,
  returnPostings,
  settlementPostings,
  unmatchedPostings,
  unmatchedSettlementPostings,
} from './postings.ts';

/** A payment in units of its token. */
interface Amounts {
  readonly total: bigint;
  readonly fee: bigint;
  readonly net: bigint;
}

const asset = 'base::usdc';
const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const vault = address('bb');

function orderOf(orderType: OrderType, { total, fee, net }: Amounts): StoredOrder {
  return {
    ...{ orderId: zeroHash, sessionId: 'ses_1', chainId: 8_453, tokenId: asset, payerEmail: '' },
    ...{ gateway: address('aa'), payoutVault: '', signature: '0x', withSecret: false, added: 0n },
    order: {
      ...{ channelId: '0xc4', metaData: zeroHash, payer: address('11'), token: address('70') },
      ...{
        to: address('22'),
        total,
        payment: net,
        fee,
        payBy: 1n,
        reclaimAt: 2n,
        orderType,
        targetChain: 1n,
        via: address('00'),
      },
    },
    amounts: {
      ...{ totalValue: microUsd(total), paymentValue: microUsd(net) },
      ...{ feeValue: microUsd(fee), netValue: microUsd(net) },
    },
  };
}

const anyAmounts = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.bigInt({ min: 0n, max: 10n ** 15n }))
  .map(([fee, net]): Amounts => ({ total: net + fee, fee, net }));

/** What each account gets, without zeros. Refuses postings that do not sum to zero per asset. */
function changesOf(...entries: readonly (readonly Posting[])[]): Record<string, bigint> {
  const changes: Record<string, bigint> = {};
  for (const postings of entries) {
    const sums = new Map<string, bigint>();
    for (const posting of postings) {
      changes[posting.account] = (changes[posting.account] ?? 0n) + posting.amount;
      sums.set(posting.asset, (sums.get(posting.asset) ?? 0n) + posting.amount);
    }
    for (const [name, sum] of sums) assert.equal(sum, 0n, `the postings of ${name} sum to ${sum}`);
  }
  return withoutZeros(changes);
}

function withoutZeros(changes: Readonly<Record<string, bigint>>): Record<string, bigint> {
  return Object.fromEntries(Object.entries(changes).filter(([, amount]) => amount !== 0n));
}

const { escrow, direct, vaultPayout, cctp } = orderKinds;
const isIntoVault = { chainName: 'base', isIntoVault: true };
const isReleased = { chainName: 'base', isIntoVault: false };
const paid = (type: OrderType, amounts: Amounts) => paymentPostings(orderOf(type, amounts), 'base');
const settled = (type: OrderType, amounts: Amounts, place = isReleased) =>
  settlementPostings(orderOf(type, amounts), place);
const returned = (type: OrderType, amounts: Amounts) => returnPostings(orderOf(type, amounts), 'base');
const minted = (amounts: Amounts) => mintPostings(orderOf(cctp, amounts), 'base');
const paidOut = ({ net: amount }: Amounts) => payoutPostings({ chainName: 'base', asset, amount });

type Rule = readonly [
  name: string,
  entries: (amounts: Amounts) => readonly (readonly Posting[])[],
  changes: (amounts: Amounts) => Readonly<Record<string, bigint>>,
];

const merchant = 'merchant:0xc4';
const held = ({ total, net, fee }: Amounts) => ({
  'gateway:base': total,
  [merchant]: -net,
  'fees:due': -fee,
});
const earned = ({ fee }: Amounts) => ({ 'gateway:base': fee, fees: -fee });
const nothing = () => ({});

const rules: readonly Rule[] = [
  ['a payment is held for the merchant and the fees', (a) => [paid(escrow, a)], held],
  ['a payment for a payout is held alike', (a) => [paid(vaultPayout, a)], held],
  ['a payment for a mint is held alike', (a) => [paid(cctp, a)], held],
  [
    'a direct payment goes from payer to recipient',
    (a) => [paid(direct, a)],
    ({ total }) => ({ 'recipients:base': total, 'payers:base': -total }),
  ],
  [
    'a settlement releases the net amount and earns the fee',
    (a) => [settled(escrow, a)],
    ({ net, fee }) => ({ [merchant]: net, 'gateway:base': -net, 'fees:due': fee, fees: -fee }),
  ],
  ['a settled payment leaves its fee', (a) => [paid(escrow, a), settled(escrow, a)], earned],
  [
    'a settlement into a vault becomes float',
    (a) => [paid(vaultPayout, a), settled(vaultPayout, a, isIntoVault)],
    ({ net, fee }) => ({ 'gateway:base': fee, fees: -fee, 'vault:base': net, float: -net }),
  ],
  [
    'a payout at par leaves the fee alone',
    (a) => [paid(vaultPayout, a), settled(vaultPayout, a, isIntoVault), paidOut(a)],
    earned,
  ],
  [
    'a burnt payment is owed to the merchant until the mint',
    (a) => [paid(cctp, a), settled(cctp, a)],
    ({ net, fee }) => ({ 'gateway:base': fee, fees: -fee, 'bridge:base': net, [merchant]: -net }),
  ],
  ['a minted payment leaves its fee', (a) => [paid(cctp, a), settled(cctp, a), minted(a)], earned],
  ['a returned payment leaves nothing', (a) => [paid(escrow, a), returned(escrow, a)], nothing],
  ['a returned direct payment leaves nothing', (a) => [paid(direct, a), returned(direct, a)], nothing],
  [
    'withdrawn fees leave the gateway',
    ({ fee }) => [feeWithdrawalPostings('base', asset, fee)],
    ({ fee }) => ({ 'gateway:base': -fee, fees: fee }),
  ],
  [
    'fees that are withdrawn after a settlement leave nothing',
    (a) => [paid(escrow, a), settled(escrow, a), feeWithdrawalPostings('base', asset, a.fee)],
    nothing,
  ],
  [
    'float in the vault is the operator’s',
    ({ net }) => [floatPostings('base', asset, net)],
    ({ net }) => ({ 'vault:base': net, float: -net }),
  ],
  [
    'float that is taken out leaves nothing',
    ({ net }) => [floatPostings('base', asset, net), floatPostings('base', asset, -net)],
    nothing,
  ],
  [
    'money of an unknown order is in the gateway and unmatched',
    ({ total }) => [unmatchedPostings('base', asset, total)],
    ({ total }) => ({ 'gateway:base': total, unmatched: -total }),
  ],
  [
    'the settlement of an unknown order leaves its fee',
    (a) => [
      unmatchedPostings('base', asset, a.total),
      unmatchedSettlementPostings('base', asset, { ...a, isIntoVault: false }),
    ],
    earned,
  ],
  [
    'the settlement of an unknown order into a vault adds to the float',
    (a) => [
      unmatchedPostings('base', asset, a.total),
      unmatchedSettlementPostings('base', asset, { ...a, isIntoVault: true }),
    ],
    ({ net, fee }) => ({ 'gateway:base': fee, fees: -fee, 'vault:base': net, float: -net }),
  ],
  [
    'an addition to a deposit comes from the wallet of its chain',
    (a) => [additionPostings(orderOf(escrow, a), a.fee)],
    ({ fee }) => ({ tolerance: fee, 'wallet:base': -fee }),
  ],
];

for (const [name, entries, changes] of rules)
  test(`${name}, and every entry sums to zero`, () => {
    fc.assert(
      fc.property(anyAmounts, (amounts) =>
        assert.deepEqual(changesOf(...entries(amounts)), withoutZeros(changes(amounts))),
      ),
    );
  });

const chain: Chain = {
  ...{ name: 'base', chainId: 8_453, rpcUrls: [], gateway: address('aa'), vault, startBlock: 0n },
  ...{ finality: { tag: 'finalized', depth: 0, quorum: 1 }, pollIntervalMs: 1_000 },
  tokens: [
    {
      ...{ tokenId: asset, chainName: 'base', chainId: 8_453, address: address('7A') },
      ...{ name: 'USD Coin', symbol: 'USDC', decimals: 6 },
    },
  ],
};

function eventOf(
  name: ChainEventName,
  values: Readonly<Record<string, string>>,
  contract: ContractName = 'gateway',
): ChainEvent {
  return {
    ...{ chainId: 8_453, blockNumber: 1n, blockHash: zeroHash, blockTime: new Date(0), logIndex: 0 },
    ...{ txHash: zeroHash, orderId: zeroHash, contract, name },
    arguments: { token: address('7a'), ...values },
  };
}

type Booked = readonly [kind: EntryKind, changes: Readonly<Record<string, bigint>>] | undefined;
interface EventRule {
  /** Distinguishes the rule from others of its event. */
  readonly when?: string;
  readonly event: ChainEvent;
  /** What is booked whether or not the order is known. */
  readonly always?: Booked;
  /** What is booked only for an unknown order. */
  readonly ofUnknown?: Booked;
}

const paidOrder = { totalValue: '100', paymentValue: '98', feeValue: '2', orderType: '0' };
const settledOrder = { netValue: '98', feeValue: '2', to: address('22') };
// A new event name does not compile until it has its rules here.
const eventRules: Readonly<Record<ChainEventName, readonly EventRule[]>> = {
  Paid: [
    {
      event: eventOf('Paid', paidOrder),
      ofUnknown: ['payment', { 'gateway:base': 100n, unmatched: -100n }],
    },
    {
      when: 'for a direct order',
      event: eventOf('Paid', { ...paidOrder, orderType: String(direct) }),
      ofUnknown: ['payment', { 'recipients:base': 100n, 'payers:base': -100n }],
    },
  ],
  Settled: [
    {
      event: eventOf('Settled', settledOrder),
      ofUnknown: ['settlement', { 'gateway:base': -98n, unmatched: 100n, fees: -2n }],
    },
    {
      when: 'into a vault',
      event: eventOf('Settled', { ...settledOrder, to: address('BB') }),
      ofUnknown: [
        'settlement',
        { 'gateway:base': -98n, unmatched: 100n, fees: -2n, 'vault:base': 98n, float: -98n },
      ],
    },
  ],
  Refunded: [
    {
      event: eventOf('Refunded', { value: '100' }),
      ofUnknown: ['refund', { 'gateway:base': -100n, unmatched: 100n }],
    },
  ],
  Reclaimed: [
    {
      event: eventOf('Reclaimed', { value: '100' }),
      ofUnknown: ['reclaim', { 'gateway:base': -100n, unmatched: 100n }],
    },
  ],
  PaidOut: [
    {
      event: eventOf('PaidOut', { amount: '98' }, 'vault'),
      ofUnknown: ['payout', { 'vault:base': -98n, float: 98n }],
    },
  ],
  SettlementRefunded: [
    {
      event: eventOf('SettlementRefunded', { value: '50' }),
      always: ['settlement_refund', { 'payers:base': 50n, 'refunders:base': -50n }],
    },
  ],
  Rescued: [
    {
      event: eventOf('Rescued', { value: '5' }),
      always: ['rescue', { 'payers:base': 5n, 'receivers:base': -5n }],
    },
  ],
  FeesWithdrawn: [
    {
      event: eventOf('FeesWithdrawn', { value: '2' }),
      always: ['fee_withdrawal', { 'gateway:base': -2n, fees: 2n }],
    },
  ],
  Withdrawn: [
    {
      event: eventOf('Withdrawn', { amount: '9' }, 'vault'),
      always: ['float_withdrawal', { 'vault:base': -9n, float: 9n }],
    },
  ],
  Transferred: [
    {
      when: 'to a vault',
      event: eventOf('Transferred', { amount: '9' }, 'vault'),
      always: ['float_deposit', { 'vault:base': 9n, float: -9n }],
    },
    {
      when: 'to a gateway',
      event: eventOf('Transferred', { amount: '9' }),
      always: ['unmatched', { 'gateway:base': 9n, unmatched: -9n }],
    },
    // A loss that no event explains is left to the reconciliation.
    { when: 'out of a gateway', event: eventOf('Transferred', { amount: '-9' }) },
    { when: 'out of a vault', event: eventOf('Transferred', { amount: '-9' }, 'vault') },
  ],
  // It is booked once per order, whether or not the order is known: see movement.test.ts.
  FeeAccrued: [{ event: eventOf('FeeAccrued', { value: '2' }) }],
  SettleSkipped: [{ event: eventOf('SettleSkipped', {}) }],
  PayoutSkipped: [{ event: eventOf('PayoutSkipped', {}, 'vault') }],
  Minted: [{ event: eventOf('Minted', {}, 'transmitter') }],
};

for (const [name, cases] of Object.entries(eventRules))
  for (const { when, event, always, ofUnknown } of cases) {
    const kinds = [always?.[0], ofUnknown && `${ofUnknown[0]}, of an unknown order only`];
    const title = [name, when, 'books', kinds.find((kind) => kind !== undefined) ?? 'nothing'];
    test(title.filter((word) => word !== undefined).join(' '), () => {
      const booked = [movementOf(chain, event), unknownOrderMovementOf(chain, event)];
      const found = booked.map((each) => each && [each.kind, changesOf(each.postings)]);
      assert.deepEqual(found, [always, ofUnknown]);
    });
  }

test('a configured token is booked by its id, regardless of the letter case of its address, and any other by its address', () => {
  const assetsOf = (token: Hex) =>
    movementOf(chain, eventOf('FeesWithdrawn', { token, value: '1' }))?.postings.map((each) => each.asset);
  for (const written of ['7a', '7A']) assert.deepEqual(assetsOf(address(written)), [asset, asset]);
  const other = `base::${address('7b')}`;
  assert.deepEqual(assetsOf(address('7B')), [other, other]);
});
