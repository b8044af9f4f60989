import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SendPlan, SendRequest } from '@florin/evm';
import { microUsd } from '@florin/protocol/money.ts';
import { type Hex, type Order, type OrderType, orderKinds } from '@florin/protocol/order.ts';
import { zeroAddress } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { fixtureOrder } from '../../test/harness/order-fixture.ts';
import { spenderOf } from './order-gateway.ts';
import { mismatchOf, valueMismatchOf } from './order-mismatch.ts';
import { orderIdOf, orderSignerOf } from './order-signer.ts';
import { planPayment } from './payment-plan.ts';

const address = (byte: string): Hex => `0x${byte.repeat(20)}`;
const [earlier, oldVault, route, oldRoute, foreign] = ['e1', 'e2', 'e3', 'e4', 'ee'].map(address) as [
  Hex,
  Hex,
  Hex,
  Hex,
  Hex,
];
const [given] = fixtureChains.all;
assert.ok(given !== undefined);
const [usdc] = given.tokens;
assert.ok(usdc !== undefined);
const cctp = {
  ...{ domain: 0, transmitter: address('c1'), messenger: address('c2'), route },
  ...{ tokenId: usdc.tokenId, maxPerOrder: microUsd(1n) },
};
const chain: Chain = {
  ...given,
  cctp,
  previousContracts: [{ gateway: earlier, vault: oldVault, cctpRoute: oldRoute }],
};
const signer = orderSignerOf(`0x${'11'.repeat(32)}`);

/** An order as the service stores it, with the id of its terms. */
function stored(changes: Partial<Order> = {}, gateway: Hex = chain.gateway) {
  const order = { ...fixtureOrder.order, token: usdc?.address ?? zeroAddress, ...changes };
  return { ...fixtureOrder, order, gateway, orderId: orderIdOf(chain.chainId, gateway, order) };
}

test('an order matches when the configuration names its gateway and the destination of its money, and its terms give its id', () => {
  const through = (orderType: OrderType, via: Hex) => mismatchOf(stored({ orderType, via }), chain);
  const { escrow, direct, vaultPayout, cctp: burn } = orderKinds;
  const known: readonly (readonly [OrderType, Hex])[] = [
    ...([escrow, direct] as const).map((type) => [type, zeroAddress] as const),
    ...[chain.vault, oldVault].map((via) => [vaultPayout, via] as const),
    ...[route, oldRoute].map((via) => [burn, via] as const),
  ];
  for (const [type, via] of known) assert.equal(through(type, via), undefined);
  const wrong: readonly (readonly [number, Hex])[] = [
    ...([escrow, direct, vaultPayout, burn, 4] as const).map((type) => [type, foreign] as const),
    ...[[escrow, chain.vault] as const, [vaultPayout, route] as const, [burn, chain.vault] as const],
    ...[[vaultPayout, zeroAddress] as const, [4, zeroAddress] as const],
  ];
  for (const [type, via] of wrong) assert.equal(through(type as OrderType, via), 'via');
  assert.equal(mismatchOf(stored({}, earlier), chain), undefined);
  assert.equal(mismatchOf(stored({}, foreign), chain), 'gateway');
  const order = stored();
  const changed = [
    { to: foreign },
    { payer: foreign },
    { total: 1n },
    { fee: 1n },
    { reclaimAt: 1n },
  ] as const;
  for (const change of changed)
    assert.equal(mismatchOf({ ...order, order: { ...order.order, ...change } }, chain), 'id');
});

test('wallets are asked to approve a configured gateway alone, whatever the row of an order says', () => {
  const given = [chain.gateway, earlier, earlier.toLowerCase() as Hex, foreign];
  const spenders = given.map((gateway) => spenderOf({ gateway }, chain));
  assert.deepEqual(spenders, [...given.slice(0, 3), undefined]);
});

test('the values of an order that does not match are those of no configured token, or not those of its amounts', () => {
  const order = stored();
  assert.equal(valueMismatchOf(order, chain), undefined);
  assert.equal(valueMismatchOf(stored({ token: foreign }), chain), 'token');
  for (const name of ['totalValue', 'netValue'] as const)
    assert.equal(
      valueMismatchOf({ ...order, amounts: { ...order.amounts, [name]: microUsd(1n) } }, chain),
      'amount',
    );
  assert.equal(valueMismatchOf(stored({}, foreign), chain), 'gateway');
});

test('the order signer’s wallet omits the signature at the present gateway alone, and sends no order that does not match', async () => {
  /** The call that is planned, with the one by which the signer's own wallet would consent. */
  const planned = async (order: ReturnType<typeof stored>, signedAs = order) => {
    const asked: unknown[] = [];
    const plan = async (_chainId: number, { data, dataByRelayer }: SendRequest<SendPurpose>) => {
      asked.push([data, dataByRelayer]);
      return {} as SendPlan;
    };
    const signature = await signer.signOrder(chain.chainId, signedAs.gateway, signedAs.order);
    const payment = { purpose: 'relay' as const, order, signature, encode: (by: Hex) => by };
    await planPayment({ sender: { plan }, signer }, chain, payment);
    return asked.map((call) => JSON.stringify(call).replaceAll(signature, 'signature'));
  };
  assert.deepEqual(await planned(stored()), ['["signature","0x"]']);
  // The service does not know whether an earlier gateway trusts this signer, or accepts consent by transaction.
  assert.deepEqual(await planned(stored({}, earlier)), ['["signature",null]']);
  assert.deepEqual(await planned(stored({ fee: 1n }), stored()), ['["signature",null]']);
  assert.deepEqual(await planned(stored({}, foreign)), []);
  assert.deepEqual(await planned(stored({ orderType: orderKinds.vaultPayout, via: foreign })), []);
  assert.deepEqual(await planned({ ...stored(), orderId: fixtureOrder.orderId }), []);
});
