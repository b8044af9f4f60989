import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  domainVersion,
  paymentSessionCreationTypes,
  preparePaymentTypes,
} from '@florin/protocol/typed-data.ts';
import { hashTypedData, recoverAddress } from 'viem';

/** A message of the AI protocol, told apart by what it authorizes. Checked by the schema; hex in any letter case. */
export type AgentMessage =
  | { readonly purpose: 'create_payment_session'; readonly message: CreateSessionMessage }
  | { readonly purpose: 'prepare_payment'; readonly message: PreparePaymentMessage };

/** The mathematics behind authorizations, so that a faster encoder can stand in. */
export interface Cryptography {
  /** EIP-712 digest in the domain `{name, version "1", chainId: the message's paymentChainId}`. */
  digest(domainName: string, agentMessage: AgentMessage): Hex;
  /** The address whose key made a 65-byte signature; undefined when there is none. */
  recover(digest: Hex, signature: Hex): Promise<Hex | undefined>;
}

function lowerHex(text: string): Hex {
  return text.toLowerCase() as Hex;
}

function domainOf(name: string, chainId: string) {
  return { name, version: domainVersion, chainId: BigInt(chainId) };
}

function creationDigest(domainName: string, message: CreateSessionMessage): Hex {
  return hashTypedData({
    domain: domainOf(domainName, message.paymentChainId),
    types: paymentSessionCreationTypes,
    primaryType: 'PaymentSessionCreationAuthorization',
    message: {
      ...message,
      payer: lowerHex(message.payer),
      paymentChainId: BigInt(message.paymentChainId),
      paymentToken: lowerHex(message.paymentToken),
      amount: BigInt(message.amount),
      authorizationNonce: lowerHex(message.authorizationNonce),
      authorizationExpiresAt: BigInt(message.authorizationExpiresAt),
    },
  });
}

function preparationDigest(domainName: string, message: PreparePaymentMessage): Hex {
  return hashTypedData({
    domain: domainOf(domainName, message.paymentChainId),
    types: preparePaymentTypes,
    primaryType: 'PreparePaymentAuthorization',
    message: {
      ...message,
      payer: lowerHex(message.payer),
      paymentChainId: BigInt(message.paymentChainId),
      paymentToken: lowerHex(message.paymentToken),
      authorizationNonce: lowerHex(message.authorizationNonce),
      authorizationExpiresAt: BigInt(message.authorizationExpiresAt),
    },
  });
}

/** Hashing and recovery by viem. */
export const viemCryptography: Cryptography = {
  digest: (domainName, { purpose, message }) =>
    purpose === 'create_payment_session'
      ? creationDigest(domainName, message)
      : preparationDigest(domainName, message),
  async recover(digest, signature) {
    try {
      return await recoverAddress({ hash: digest, signature });
    } catch {
      // The point is not on the curve: nobody's signature, which is all that the caller asks.
      return undefined;
    }
  },
};
