import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { walletOf } from './wallet.ts';

const hex = (minLength: number, maxLength = minLength) =>
  fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
const wei = fc.bigInt({ min: 0n, max: 2n ** 100n });

test('a signed transaction equals that of viem, byte for byte', async () => {
  const transactions = fc.record({
    chainId: fc.integer({ min: 1, max: 2 ** 40 }),
    nonce: fc.bigInt({ min: 0n, max: 2n ** 40n }),
    to: hex(20),
    data: hex(0, 2_000),
    gasLimit: fc.bigInt({ min: 21_000n, max: 16_777_216n }),
    priorityFee: wei,
    more: wei,
  });
  const keys = hex(32).filter((key) => BigInt(key) > 0n && BigInt(key) < 2n ** 255n);
  await fc.assert(
    fc.asyncProperty(keys, transactions, async (key, { more, ...transaction }) => {
      const maxFee = transaction.priorityFee + more;
      const { chainId, nonce, to, data, gasLimit, priorityFee } = transaction;
      assert.equal(
        await walletOf(key).signTransaction({ ...transaction, maxFee }),
        await privateKeyToAccount(key).signTransaction({
          ...{ type: 'eip1559', chainId, nonce: Number(nonce), to, data, gas: gasLimit },
          ...{ maxFeePerGas: maxFee, maxPriorityFeePerGas: priorityFee },
        }),
      );
    }),
    { numRuns: 50 },
  );
});
