import assert from 'node:assert/strict';
import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { secp256k1 } from '@florin/signing';
import { Wallet } from 'ethers';
import { type AgentMessage, cryptographyOf } from '#authorizations/cryptography.ts';
import type { PayerChain } from '#authorizations/payer-chain.ts';
import { isAuthorizedBy } from '#authorizations/signature.ts';

export const cryptography = cryptographyOf(secp256k1);

/**
 * The fields in the specification's order, written out here because the service's own list is what this test checks.
 */
export const creationTypes = {
  PaymentSessionCreationAuthorization: [
    { name: 'purpose', type: 'string' },
    { name: 'linkId', type: 'string' },
    { name: 'linkVersion', type: 'string' },
    { name: 'merchantId', type: 'string' },
    { name: 'payer', type: 'address' },
    { name: 'paymentChainId', type: 'uint256' },
    { name: 'paymentToken', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'authorizationNonce', type: 'bytes32' },
    { name: 'authorizationExpiresAt', type: 'uint256' },
  ],
};
export const preparationTypes = {
  PreparePaymentAuthorization: [
    { name: 'purpose', type: 'string' },
    { name: 'sessionId', type: 'string' },
    { name: 'merchantId', type: 'string' },
    { name: 'paymentChainId', type: 'uint256' },
    { name: 'paymentToken', type: 'address' },
    { name: 'payer', type: 'address' },
    { name: 'payerEmail', type: 'string' },
    { name: 'authorizationNonce', type: 'bytes32' },
    { name: 'authorizationExpiresAt', type: 'uint256' },
  ],
};

export const domainName = 'aipay.pay.example.com';
export const wallet = new Wallet(`0x${'5e'.repeat(32)}`);
export const payer = wallet.address as Hex;
export const chainId = 8453;
export const domain = { name: domainName, version: '1', chainId };

export const creation: CreateSessionMessage = {
  purpose: 'create_payment_session',
  linkId: 'lnk_0000000000000000000001',
  linkVersion: 'ver_0000000000000000000001',
  merchantId: 'mer_0000000000000000000001',
  payer,
  paymentChainId: String(chainId),
  paymentToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  amount: '10020000',
  authorizationNonce: `0x${'ab'.repeat(32)}`,
  authorizationExpiresAt: '1800000000',
};
export const preparation: PreparePaymentMessage = {
  purpose: 'prepare_payment',
  sessionId: 'sess_0000000000000000000001',
  merchantId: 'mer_0000000000000000000001',
  payer,
  payerEmail: 'ada@example.com',
  paymentChainId: String(chainId),
  paymentToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  authorizationNonce: `0x${'cd'.repeat(32)}`,
  authorizationExpiresAt: '1800000000',
};

export const create = (message: CreateSessionMessage): AgentMessage => ({
  purpose: 'create_payment_session',
  message,
});
export const prepare = (message: PreparePaymentMessage): AgentMessage => ({
  purpose: 'prepare_payment',
  message,
});

export const noCode: PayerChain = {
  codeAt: async () => '0x',
  callAt: async () => assert.fail('a plain account has no code to call'),
};

/** An account whose code gives the answer under test. */
export function contractWallet(
  answer: Hex | undefined,
  seen: Parameters<PayerChain['callAt']>[1][] = [],
): PayerChain {
  return {
    codeAt: async () => '0x60806040',
    callAt: async (_chainId, call) => {
      seen.push(call);
      return answer;
    },
  };
}

export async function accepts(
  payerChain: PayerChain,
  agentMessage: AgentMessage,
  signature: string,
): Promise<boolean> {
  const digest = cryptography.digest(domainName, agentMessage);
  const deps = { cryptography, payerChain };
  return isAuthorizedBy(deps, { chainId, payer, digest, signature: signature as Hex });
}
