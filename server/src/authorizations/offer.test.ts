import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type MicroUsd, microUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import fc from 'fast-check';
import { chainsOf } from '#chains/chain.ts';
import { quoteOfTotal, routesTo } from '#sessions/quote.ts';
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
  const finality = { tag: 'finalized', depth: 1 } as const;
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

// proves W8.11
test('whatever total lies within the bounds of a custom link is taken in every token', () => {
  fc.assert(
    fc.property(rates, feeModel, fc.double({ min: 0, max: 1, noNaN: true }), (fees, model, place) => {
      const terms: Terms = { settlementToken, feeModel: model, price: { kind: 'open' } };
      const { minAmountInUSD = '', maxAmountInUSD = '' } = pricingModelOf({ chains, rates: fees }, terms);
      const [least, most] = [parseUsd(minAmountInUSD), parseUsd(maxAmountInUSD)];
      const between = least + BigInt(Math.floor(Number(most - least) * place));
      for (const total of [least, between, most]) {
        for (const route of routesTo(chains, fees, settlementToken)) {
          assert.ok(quoteOfTotal(route, { totalValue: microUsd(total), feeModel: model }), `${total}`);
        }
      }
    }),
  );
});

test('the amount in token and the amount in dollars say the same', () => {
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

test('the settlement token itself is offered first', () => {
  const terms: Terms = { settlementToken: 'base::usdc', feeModel: 1, price: { kind: 'open' } };
  const fees = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };
  assert.deepEqual(
    offeredTokens({ chains, rates: fees }, terms).map(({ chainName }) => chainName),
    ['base', 'ethereum'],
  );
});
