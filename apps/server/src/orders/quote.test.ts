import assert from 'node:assert/strict';
import { test } from 'node:test';
import { microUsd } from '@florin/protocol/money.ts';
import type { Token } from '@florin/protocol/token.ts';
import fc from 'fast-check';
import { type Chain, chainsOf } from '#chains/chain.ts';
import { quoteOf, quoteOfTotal, routesTo } from './quote.ts';

function chain(name: string, chainId: number, tokens: [string, number][]): Chain {
  const address = (index: number) => `0x${(chainId * 100 + index).toString(16).padStart(40, '0')}` as const;
  return {
    name,
    chainId,
    rpcUrls: [],
    gateway: address(90),
    vault: address(91),
    startBlock: 0n,
    finality: { tag: 'finalized', depth: 0, quorum: 1 },
    pollIntervalMs: 100,
    tokens: tokens.map(
      ([symbol, decimals], index): Token => ({
        tokenId: `${name}::${symbol}`,
        chainName: name,
        chainId,
        address: address(index),
        name: symbol,
        symbol,
        decimals,
      }),
    ),
  };
}

const chains = chainsOf([
  chain('alpha', 1, [
    ['usdc', 6],
    ['usdt', 6],
  ]),
  chain('beta', 2, [['dai', 18]]),
]);
const rates = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };

// proves W3.4
test('routes to a token begin with the same token, then its chain, then other chains, each with its rate', () => {
  assert.deepEqual(
    routesTo(chains, rates, 'alpha::usdc').map((route) => [
      route.paymentToken.tokenId,
      route.kind,
      route.feePpm,
      route.orderType,
    ]),
    [
      ['alpha::usdc', 'same_token', 2000, 0],
      ['alpha::usdt', 'same_chain', 3000, 2],
      ['beta::dai', 'cross_chain', 6000, 2],
    ],
  );
});

// proves W3.4
test('a price and a chosen total have the fee of their route, rounded up', () => {
  const amount = microUsd(1_000_001n);
  const routes = routesTo(chains, rates, 'alpha::usdc');
  assert.deepEqual(
    routes.map((route) => [
      quoteOf(route, { paymentValue: amount, feeModel: 1 })?.amounts.feeValue,
      quoteOf(route, { paymentValue: amount, feeModel: 2 })?.amounts.feeValue,
      quoteOfTotal(route, { totalValue: amount, feeModel: 1 })?.amounts.feeValue,
    ]),
    [
      [2001n, 2001n, 2001n],
      [3001n, 3001n, 3001n],
      [6001n, 6001n, 6001n],
    ],
  );
});

test('the vault pays unless the paid token is the settlement token', () => {
  for (const settlementToken of chains.tokens) {
    for (const { paymentToken, orderType } of routesTo(chains, rates, settlementToken.tokenId)) {
      // PaymentGateway refuses escrow orders that name another chain; PayoutVault pays any token on any chain.
      assert.equal(orderType === 2, paymentToken.tokenId !== settlementToken.tokenId, paymentToken.tokenId);
    }
  }
});

test('an unknown settlement token has no route', () => {
  assert.deepEqual(routesTo(chains, rates, 'alpha::eth'), []);
});

test('a price that the fee would use up is not quoted', () => {
  const [route] = routesTo(chains, rates, 'alpha::usdc');
  assert.ok(route !== undefined);
  assert.equal(quoteOf(route, { paymentValue: microUsd(1n), feeModel: 1 }), undefined);
  assert.deepEqual(quoteOf(route, { paymentValue: microUsd(1n), feeModel: 2 })?.amounts, {
    totalValue: 2n,
    paymentValue: 1n,
    feeValue: 1n,
    netValue: 1n,
  });
});

test('the amount in token units is exactly totalValue at par', () => {
  const [route] = routesTo(chains, rates, 'beta::dai');
  assert.ok(route !== undefined);
  fc.assert(
    fc.property(
      fc.bigInt({ min: 2n, max: 10n ** 13n }),
      fc.constantFrom(1 as const, 2 as const),
      (price, feeModel) => {
        const quote = quoteOf(route, { paymentValue: microUsd(price), feeModel });
        assert.equal(quote?.amountInToken, (quote?.amounts.totalValue ?? 0n) * 10n ** 12n);
        const chosen = quoteOfTotal(route, { totalValue: microUsd(price), feeModel });
        assert.equal(chosen?.amountInToken, price * 10n ** 12n);
      },
    ),
  );
});

test('an order leaves by CCTP where it joins the two tokens, and by the vault above its limit or for another token', () => {
  const circle = `0x${'c'.repeat(40)}` as const;
  const joined = ['gamma', 'delta'].map((name, index) => ({
    ...chain(name, 3 + index, [
      ['usdc', 6],
      ['usdt', 6],
    ]),
    cctp: {
      ...{ domain: index, transmitter: circle, messenger: circle, route: circle, tokenId: `${name}::usdc` },
      maxPerOrder: microUsd(1_000_000_000n),
    },
  }));
  const wayOfPrice = (from: string, to: string, price: bigint): number | undefined => {
    const route = routesTo(chainsOf(joined), rates, to).find(
      ({ paymentToken }) => paymentToken.tokenId === from,
    );
    const quote =
      route === undefined ? undefined : quoteOf(route, { paymentValue: microUsd(price), feeModel: 2 });
    return quote?.orderType;
  };
  assert.equal(wayOfPrice('gamma::usdc', 'delta::usdc', 1_000_000_000n), 3);
  assert.equal(wayOfPrice('gamma::usdc', 'delta::usdc', 1_000_000_001n), 2);
  assert.equal(wayOfPrice('gamma::usdt', 'delta::usdc', 1_000_000n), 2);
  assert.equal(wayOfPrice('gamma::usdt', 'gamma::usdc', 1_000_000n), 2);
  assert.equal(wayOfPrice('gamma::usdc', 'gamma::usdc', 1_000_000n), 0);
});
