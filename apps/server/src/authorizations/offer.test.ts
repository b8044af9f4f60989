import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import fc from 'fast-check';
import { type Chains, chainsOf } from '#chains/chain.ts';
import { priceBounds, quoteOf, quoteOfTotal, routesTo, totalBounds } from '#orders/quote.ts';
import { offeredTokens, pricingModelOf, type Terms } from './offer.ts';

function token(chainName: string, chainId: number, symbol: string, decimals: number): Token {
  const tokenId = `${chainName}::${symbol.toLowerCase()}`;
  return {
    tokenId,
    chainName,
    chainId,
    address: `0x${'0'.repeat(39)}${decimals % 10}`,
    name: symbol,
    symbol,
    decimals,
  };
}

function chain(name: string, chainId: number, tokens: Token[]) {
  const finality = { tag: 'finalized', depth: 1, quorum: 1 } as const;
  const contracts = { gateway: `0x${'a1'.repeat(20)}`, vault: `0x${'b2'.repeat(20)}` } as const;
  return { name, chainId, rpcUrls: [], ...contracts, startBlock: 0n, finality, pollIntervalMs: 1000, tokens };
}

const chains = chainsOf([
  chain('ethereum', 1, [token('ethereum', 1, 'USDC', 6)]),
  chain('base', 8453, [token('base', 8453, 'USDC', 18)]),
]);
const settlementToken = 'ethereum::usdc';

/** Reads a decimal string of US dollars back as Micro-USD. */
function parseUsd(text: string): MicroUsd {
  const [whole = '', fraction = ''] = text.split('.');
  return microUsd(BigInt(whole + fraction.padEnd(6, '0')));
}

const rates = fc.record({
  sameToken: fc.nat(100_000),
  sameChain: fc.nat(100_000),
  crossChain: fc.nat(100_000),
});
const feeModel = fc.constantFrom(1 as const, 2 as const);

/** The same chains, with vaults that pay at most `most` for one order. */
function cappedAt(most: bigint): Chains {
  const condition = { status: 'available', reason: '', secondsToFinal: 1 } as const;
  const conditions = { version: () => 1, of: () => condition, payoutCap: () => microUsd(most) };
  return { ...chains, conditions };
}

/** What the vaults pay for one order: any amount, little, next to nothing, nothing. */
const caps = fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 0n, max: 20_000_000_000_000n }));

interface Shown {
  readonly minAmountInUSD?: string | undefined;
  readonly maxAmountInUSD?: string | undefined;
}

const boundsIn = ({ minAmountInUSD = '', maxAmountInUSD = '' }: Shown): [bigint, bigint] => [
  parseUsd(minAmountInUSD),
  parseUsd(maxAmountInUSD),
];

// proves W8.11
test('a custom link accepts exactly the totals within the bounds that it shows', () => {
  fc.assert(
    fc.property(rates, feeModel, caps, (fees, model, cap) => {
      const deps = { chains: cappedAt(cap), rates: fees };
      const terms: Terms = { settlementToken, feeModel: model, price: { kind: 'open' } };
      const offers = offeredTokens(deps, terms);
      for (const route of routesTo(deps.chains, fees, settlementToken)) {
        const takes = (total: bigint) =>
          quoteOfTotal(route, { totalValue: microUsd(total), feeModel: model }) !== undefined;
        const offer = offers.find(({ tokenAddress }) => tokenAddress === route.paymentToken.address);
        if (offer === undefined) {
          assert.ok(![1n, 2n, 3n, cap, cap + 1n].some(takes));
          continue;
        }
        const [least, most] = boundsIn(offer);
        assert.deepEqual([least - 1n, least, most, most + 1n].map(takes), [false, true, true, false]);
      }
      const all = offers.map(boundsIn);
      const ascending = (values: bigint[]) => values.sort((left, right) => Number(left - right));
      const widest = [
        ascending(all.map(([least]) => least))[0],
        ascending(all.map(([, most]) => most)).at(-1),
      ];
      assert.deepEqual(boundsIn(pricingModelOf(deps, terms)), widest);
    }),
    { numRuns: 2_000 },
  );
});

test('every total within the bounds of a token is accepted and leaves the merchant a positive amount', () => {
  fc.assert(
    fc.property(rates, feeModel, caps, fc.bigInt({ min: 0n, max: 10n ** 14n }), (fees, model, cap, place) => {
      const deps = { chains: cappedAt(cap), rates: fees };
      for (const route of routesTo(deps.chains, fees, settlementToken)) {
        const totals = totalBounds(route, model);
        const prices = priceBounds(route, model);
        if (totals === undefined || prices === undefined) continue;
        const total = microUsd(totals.least + (place % (totals.most - totals.least + 1n)));
        const price = microUsd(prices.least + (place % (prices.most - prices.least + 1n)));
        const ofTotal = quoteOfTotal(route, { totalValue: total, feeModel: model });
        const ofPrice = quoteOf(route, { paymentValue: price, feeModel: model });
        assert.ok((ofTotal?.amounts.netValue ?? 0n) > 0n && (ofPrice?.amounts.netValue ?? 0n) > 0n);
        assert.ok((ofTotal?.amounts.paymentValue ?? 0n) <= route.maxPaymentValue);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('the amount in token and the amount in dollars are equal', () => {
  fc.assert(
    fc.property(rates, feeModel, fc.bigInt({ min: 2n, max: 10_000_000_000_000n }), (fees, model, price) => {
      const paymentValue = microUsd(price);
      const terms: Terms = { settlementToken, feeModel: model, price: { kind: 'price', paymentValue } };
      for (const offer of offeredTokens({ chains, rates: fees }, terms)) {
        const units = 10n ** BigInt(offer.decimals - 6);
        assert.equal(BigInt(offer.amountInToken), parseUsd(offer.amountInUSD) * units);
        assert.ok(parseUsd(offer.amountInUSD) >= price);
      }
    }),
  );
});

test('a token whose chain is unavailable says so, and comes after all others', () => {
  const condition = (chainId: number) =>
    chainId === 8453
      ? ({ status: 'unavailable', reason: 'chain_unreachable', secondsToFinal: 1 } as const)
      : ({ status: 'delayed', reason: 'chain_lagging', secondsToFinal: 1 } as const);
  const conditions = { version: () => 1, of: condition, payoutCap: () => microUsd(10n ** 12n) };
  const fees = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };
  const offersTo = (token: string) =>
    offeredTokens(
      { chains: { ...chains, conditions }, rates: fees },
      { settlementToken: token, feeModel: 1, price: { kind: 'price', paymentValue: microUsd(1_000_000n) } },
    ).map(({ chainName, status, statusReason }) => [chainName, status, statusReason]);
  assert.deepEqual(offersTo('ethereum::usdc'), [
    ['ethereum', 'delayed', 'chain_lagging'],
    ['base', 'unavailable', 'chain_unreachable'],
  ]);
  // Payments towards an unavailable chain are refused from everywhere.
  assert.deepEqual(offersTo('base::usdc'), [
    ['base', 'unavailable', 'chain_unreachable'],
    ['ethereum', 'unavailable', 'chain_unreachable'],
  ]);
});

test('the settlement token itself is offered first', () => {
  const terms: Terms = { settlementToken: 'base::usdc', feeModel: 1, price: { kind: 'open' } };
  const fees = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };
  assert.deepEqual(
    offeredTokens({ chains, rates: fees }, terms).map(({ chainName }) => chainName),
    ['base', 'ethereum'],
  );
});
