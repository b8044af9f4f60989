import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex, Order, Payout } from '@florin/protocol/order.ts';
import { orderTypes, payoutTypes } from '@florin/protocol/typed-data.ts';
import { recoverAddress, Signature, TypedDataEncoder, Wallet } from 'ethers';
import fc from 'fast-check';
import { orderSignerOf, verifiedSigner } from './order-signer.ts';

/** Half the order of secp256k1's group: a canonical s is at most this (EIP-2). */
const halfOrder = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
const privateKey = `0x${'c0ffee'.padStart(64, '1')}` as const;
const signer = orderSignerOf(privateKey);

function hex(bytes: number) {
  return fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);
}

const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const chainId = fc.integer({ min: 1, max: 2 ** 40 });
const orders: fc.Arbitrary<Order> = fc.record({
  channelId: hex(32),
  metaData: hex(32),
  payer: hex(20),
  token: hex(20),
  to: hex(20),
  total: uint(256),
  payment: uint(256),
  fee: uint(256),
  payBy: uint(64),
  reclaimAt: uint(64),
  orderType: fc.constantFrom(0, 1, 2),
  targetChain: uint(64),
  via: hex(20),
});
const payouts: fc.Arbitrary<Payout> = fc.record({
  orderId: hex(32),
  channelId: hex(32),
  metaData: hex(32),
  sourceChain: uint(64),
  token: hex(20),
  to: hex(20),
  amount: uint(256),
  deadline: uint(64),
});

function assertCanonical(signature: Hex): void {
  assert.match(signature, /^0x[0-9a-f]{128}(1b|1c)$/);
  assert.ok(BigInt(Signature.from(signature).s) <= halfOrder);
}

function domain(name: string, chain: number, verifyingContract: Hex) {
  return { name, version: '1', chainId: chain, verifyingContract };
}

test('ethers computes the same orderId and signature', async () => {
  await fc.assert(
    fc.asyncProperty(chainId, hex(20), orders, async (chain, gateway, order) => {
      const ethersDomain = domain('Florin PaymentGateway', chain, gateway);
      const types = { Order: [...orderTypes.Order] };
      const orderId = signer.orderId(chain, gateway, order);
      assert.equal(orderId, TypedDataEncoder.hash(ethersDomain, types, order));
      const signature = await signer.signOrder(chain, gateway, order);
      assertCanonical(signature);
      assert.equal(recoverAddress(orderId, signature), signer.address);
      assert.equal(signature, await new Wallet(privateKey).signTypedData(ethersDomain, types, order));
    }),
    { numRuns: 50 },
  );
});

test('ethers computes the same signature of a payout', async () => {
  await fc.assert(
    fc.asyncProperty(chainId, hex(20), payouts, async (chain, vault, payout) => {
      const ethersDomain = domain('Florin PayoutVault', chain, vault);
      const types = { Payout: [...payoutTypes.Payout] };
      const signature = await signer.signPayout(chain, vault, payout);
      assertCanonical(signature);
      assert.equal(signature, await new Wallet(privateKey).signTypedData(ethersDomain, types, payout));
    }),
    { numRuns: 50 },
  );
});

test('the orderId of an order depends on its chain and its gateway', () => {
  fc.assert(
    fc.property(chainId, hex(20), hex(20), orders, (chain, gateway, otherGateway, order) => {
      fc.pre(gateway !== otherGateway);
      const ids = [
        signer.orderId(chain, gateway, order),
        signer.orderId(chain + 1, gateway, order),
        signer.orderId(chain, otherGateway, order),
      ];
      assert.equal(new Set(ids).size, 3);
    }),
    { numRuns: 50 },
  );
});

test('the signer has a checksummed address', () => {
  assert.equal(signer.address, new Wallet(privateKey).address);
});

test('nothing is signed for a chain that this process has not verified', async () => {
  const [order] = fc.sample(orders, 1);
  const [payout] = fc.sample(payouts, 1);
  assert.ok(order !== undefined && payout !== undefined);
  const problems = new Map([[1, 'unreachable' as const]]);
  const careful = verifiedSigner(signer, { problemOf: (id) => problems.get(id) });
  const contract = `0x${'12'.repeat(20)}` as const;
  const refusal = { slug: 'chain_unavailable' };
  await assert.rejects(careful.signOrder(1, contract, order), refusal);
  await assert.rejects(careful.signPayout(1, contract, payout), refusal);
  assert.equal(await careful.signOrder(2, contract, order), await signer.signOrder(2, contract, order));

  problems.clear();
  assert.equal(await careful.signPayout(1, contract, payout), await signer.signPayout(1, contract, payout));
});
