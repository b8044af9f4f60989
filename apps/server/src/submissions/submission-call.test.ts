import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import { decodeFunctionData } from 'viem';
import { submissionCall } from './submission-call.ts';

const word = `0x${'11'.repeat(32)}` as const;
const address = `0x${'22'.repeat(20)}` as const;
const order: Order = {
  channelId: word,
  metaData: word,
  payer: address,
  token: address,
  to: address,
  total: 5n,
  payment: 4n,
  fee: 1n,
  payBy: 9n,
  reclaimAt: 10n,
  orderType: 0,
  targetChain: 1n,
  via: address,
};
const signature = `0x${'33'.repeat(65)}` as const;
const consent = `0x${'44'.repeat(65)}` as const;

test('a payment carries the payer’s consent, and the service’s where the gateway needs it', () => {
  const sent = (method: 'eip3009' | 'permit2', orderSignature: Hex) => {
    const data = submissionCall(
      { order, signature: orderSignature },
      { method, signature: consent, nonce: 7n },
    );
    const { functionName, args } = decodeFunctionData({ abi: paymentGatewayAbi, data });
    return [functionName, ...(args ?? []).slice(1)];
  };
  assert.deepEqual(sent('eip3009', signature), ['payWithAuthorization', signature, consent]);
  assert.deepEqual(sent('eip3009', '0x'), ['payWithAuthorization', '0x', consent]);
  assert.deepEqual(sent('permit2', signature), ['payWithPermit2', signature, 7n, consent]);
  assert.deepEqual(sent('permit2', '0x'), ['payWithPermit2', '0x', 7n, consent]);
});
