import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { domainVersion, gatewayDomainName, orderTypes } from '@florin/protocol/typed-data.ts';
import fc from 'fast-check';
import { encodeFunctionData, hashTypedData, toEventSelector, toFunctionSelector, toHex } from 'viem';
import {
  decodeOrder,
  encodeOrder,
  encodeReclaim,
  encodeRescue,
  encodeSettle,
  orderIdOf,
  orderMembers,
  topics,
  waysToPay,
} from './wire.ts';

const bytes = (size: number) =>
  fc.uint8Array({ minLength: size, maxLength: size }).map((value) => toHex(value));
const uint = (bits: bigint) => fc.bigInt({ min: 0n, max: (1n << bits) - 1n });
const orders = fc.record({
  ...{ channelId: bytes(32), metaData: bytes(32), payer: bytes(20), token: bytes(20), to: bytes(20) },
  ...{ total: uint(256n), payment: uint(256n), fee: uint(256n), payBy: uint(64n), reclaimAt: uint(64n) },
  ...{ orderType: uint(8n), targetChain: uint(64n), via: bytes(20) },
});
/** viem needs narrow integers as numbers. */
const forViem = <Order extends { orderType: bigint }>(order: Order) => ({
  ...order,
  orderType: Number(order.orderType),
});

test("the members are those of the order's typed data", () => {
  assert.deepEqual(
    orderMembers.map(([name, type]) => ({ name, type })),
    orderTypes.Order,
  );
});

test('ids, words and calldata equal those of other libraries', () => {
  fc.assert(
    fc.property(orders, orders, bytes(20), uint(53n), (order, other, gateway, chainId) => {
      assert.deepEqual(decodeOrder(encodeOrder(order)), { ...order });
      const domain = {
        ...{ name: gatewayDomainName, version: domainVersion, chainId: Number(chainId) },
        verifyingContract: gateway,
      };
      const typed = { domain, types: orderTypes, primaryType: 'Order', message: forViem(order) } as const;
      assert.equal(orderIdOf(order, chainId, gateway), hashTypedData(typed));
      const call = { abi: paymentGatewayAbi, functionName: 'reclaim', args: [forViem(order)] } as const;
      assert.equal(encodeReclaim(order), encodeFunctionData(call));
      const rescue = { abi: paymentGatewayAbi, functionName: 'rescue' } as const;
      const rescueArgs = [forViem(order), other.token] as const;
      assert.equal(encodeRescue(order, other.token), encodeFunctionData({ ...rescue, args: rescueArgs }));
      const far = { abi: paymentGatewayAbi, functionName: 'rescueFromChain' } as const;
      const farArgs = [...rescueArgs, chainId] as const;
      assert.equal(encodeRescue(order, other.token, chainId), encodeFunctionData({ ...far, args: farArgs }));
      const batch = { abi: paymentGatewayAbi, functionName: 'settle' } as const;
      const args = [[forViem(order), forViem(other)]] as const;
      assert.equal(encodeSettle([order, other]), encodeFunctionData({ ...batch, args }));
    }),
    { numRuns: 50 },
  );
});

test('a word that is too large for its member is not an order', () => {
  fc.assert(
    fc.property(orders, (order) => {
      const digits = encodeOrder(order);
      for (const place of [2, 3, 4, 8, 9, 10, 11]) {
        assert.equal(
          decodeOrder(`${digits.slice(0, 64 * place)}1${digits.slice(64 * place + 1)}`),
          undefined,
        );
      }
      assert.equal(decodeOrder(digits.slice(2)), undefined);
    }),
    { numRuns: 10 },
  );
});

test('topics and selectors are those of the contract, and every payment method is known', () => {
  const events = { paid: 'Paid', settled: 'Settled', refunded: 'Refunded', reclaimed: 'Reclaimed' } as const;
  for (const [key, name] of Object.entries(events)) {
    const event = paymentGatewayAbi.find((entry) => entry.type === 'event' && entry.name === name);
    assert.ok(event !== undefined && event.type === 'event');
    assert.equal(topics[key as keyof typeof topics], toEventSelector(event));
  }
  const ways = paymentGatewayAbi.flatMap((entry): [string, string][] =>
    entry.type === 'function' && /^(pay|collect)/.test(entry.name) && entry.stateMutability === 'nonpayable'
      ? [[toFunctionSelector(entry) as Hex, entry.name]]
      : [],
  );
  const known = ways.filter(([, name]) => name !== 'pause' && name !== 'paused');
  assert.deepEqual(new Map(known.toSorted()), new Map([...waysToPay].toSorted()));
});
