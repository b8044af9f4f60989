import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderTypes, receiveAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import { TypedDataEncoder } from 'ethers';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { hashTypedData } from 'viem';
import { keccakHex } from './keccak.ts';
import { structHasher, typedPreimage } from './typed-data.ts';

const hexText = (size: number) =>
  fc
    .uint8Array({ minLength: size, maxLength: size })
    .map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
/** Half of the integers are near the limits of the types. */
const uint = (bits: number) =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n }),
    fc.constantFrom(0n, 1n, 2n ** BigInt(bits) - 1n, 2n ** BigInt(Math.min(bits, 64)) - 1n),
    ...(bits > 64 ? [fc.constantFrom(2n ** 64n, 2n ** 64n + 1n, 2n ** 128n)] : []),
  );
const orders = fc.record({
  channelId: hexText(32),
  metaData: hexText(32),
  payer: hexText(20),
  token: hexText(20),
  to: hexText(20),
  total: uint(256),
  payment: uint(256),
  fee: uint(256),
  payBy: uint(64),
  reclaimAt: uint(64),
  orderType: uint(8).map(Number),
  targetChain: uint(64),
  via: hexText(20),
});
const domains = fc.record({
  name: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  version: fc.constantFrom('', '1', '2.0'),
  chainId: uint(256),
  verifyingContract: hexText(20),
});
const hashOrder = structHasher('Order', orderTypes.Order);

test('digests equal those of viem and ethers', () => {
  fc.assert(
    fc.property(domains, orders, fc.boolean(), (domain, order, isBound) => {
      const { verifyingContract, ...unbound } = domain;
      const chosen = isBound ? domain : unbound;
      const digest = keccakHex(typedPreimage(chosen, hashOrder(order)));
      const typed = { domain: chosen, types: orderTypes, primaryType: 'Order', message: order } as const;
      assert.equal(digest, hashTypedData(typed));
      assert.equal(digest, TypedDataEncoder.hash(chosen, { Order: [...orderTypes.Order] }, order));
    }),
    { numRuns: 300 },
  );
});

test('a hash does not depend on earlier hashes', () => {
  const [type] = Object.values(receiveAuthorizationTypes);
  assert.ok(type);
  const hash = structHasher('ReceiveWithAuthorization', type);
  const address = `0x${'ff'.repeat(20)}`;
  const large = { from: address, to: address, nonce: `0x${'ff'.repeat(32)}` };
  const most = 2n ** 256n - 1n;
  const small = { ...large, value: 1, validAfter: 0n, validBefore: 2n ** 64n };
  const first = hash(small);
  hash({ ...large, value: most, validAfter: most, validBefore: most });
  assert.deepEqual(hash(small), first);
});

const order = {
  ...{ channelId: `0x${'01'.repeat(32)}`, metaData: `0x${'02'.repeat(32)}`, payer: `0x${'03'.repeat(20)}` },
  ...{ token: `0x${'04'.repeat(20)}`, to: `0x${'05'.repeat(20)}`, total: 1n, payment: 1n, fee: 0n },
  ...{ payBy: 1n, reclaimAt: 1n, orderType: 0, targetChain: 1n, via: `0x${'06'.repeat(20)}` },
};
const refused: Readonly<Record<string, Partial<Record<keyof typeof order, string | bigint | number>>>> = {
  'a uint256 too large': { total: 2n ** 256n },
  'a uint64 too large': { payBy: 2n ** 64n },
  'a uint8 too large': { orderType: 256 },
  'a negative integer': { fee: -1n },
  'a fraction': { orderType: 0.5 },
  'a number beyond exact integers': { targetChain: 2 ** 53 },
  'an integer as text': { total: '1' },
  'an address of 19 bytes': { payer: `0x${'03'.repeat(19)}` },
  'an address of 21 bytes': { payer: `0x${'03'.repeat(21)}` },
  'an address without 0x': { payer: '03'.repeat(21) },
  'no hexadecimal': { metaData: `0x${'0g'.repeat(32)}` },
  'bytes32 of 31 bytes': { metaData: `0x${'02'.repeat(31)}` },
  'bytes32 as a number': { channelId: 1n },
};
for (const [name, change] of Object.entries(refused)) {
  test(`${name} has no hash`, () => {
    assert.throws(() => hashOrder({ ...order, ...change }), RangeError);
  });
}

test('a missing member has no hash', () => {
  const { fee, ...rest } = order;
  assert.equal(fee, 0n);
  assert.throws(() => hashOrder(rest), RangeError);
});

test('text that is not valid Unicode has no hash', () => {
  const hash = structHasher('Note', [{ name: 'text', type: 'string' }]);
  assert.throws(() => hash({ text: 'a\ud800' }), RangeError);
  assert.throws(() => hash({ text: 1 }), RangeError);
});

test('a struct with a member of an unsupported type is refused when it is declared', () => {
  for (const type of ['uint', 'uint7', 'uint264', 'int256', 'bytes', 'bool', 'uint256[]', 'Order'])
    assert.throws(() => structHasher('Note', [{ name: 'member', type }]), RangeError);
});
