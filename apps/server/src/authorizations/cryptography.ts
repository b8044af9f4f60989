import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  domainVersion,
  paymentSessionCreationTypes,
  preparePaymentTypes,
} from '@florin/protocol/typed-data.ts';
import { addressOfPublicKey, keccakHex, type Secp256k1, structHasher, typedPreimage } from '@florin/signing';

/** A message of the AI protocol, discriminated by its purpose. Checked by the schema; hex in any letter case. */
export type AgentMessage =
  | { readonly purpose: 'create_payment_session'; readonly message: CreateSessionMessage }
  | { readonly purpose: 'prepare_payment'; readonly message: PreparePaymentMessage };

/** The cryptography of authorizations: native code where the machine has it, WebAssembly elsewhere. */
export interface Cryptography {
  /**
   * EIP-712 digest in the domain `{name, version "1", chainId: the message's paymentChainId}`. Throws `RangeError` for
   * members that are not values of their types. Integers must be canonical decimals.
   */
  digest(domainName: string, agentMessage: AgentMessage): Hex;
  /**
   * The address, in lower case, whose key made a signature in canonical form: 65 bytes, low s, v 27 or 28. Undefined
   * for every other form, and when no key fits the signature.
   */
  recover(digest: Hex, signature: Hex): Hex | undefined;
}

const hashCreation = structHasher(
  'PaymentSessionCreationAuthorization',
  paymentSessionCreationTypes.PaymentSessionCreationAuthorization,
);
const hashPreparation = structHasher(
  'PreparePaymentAuthorization',
  preparePaymentTypes.PreparePaymentAuthorization,
);

const decimal = /^(?:0|[1-9][0-9]{0,77})$/;

/** Other spellings of a number, such as "0x2105" and " 8453 ", hash alike: one signature would fit several messages. */
function integerOf(text: string): bigint {
  if (!decimal.test(text)) throw new RangeError('no canonical decimal');
  return BigInt(text);
}

function structHashOf({ purpose, message }: AgentMessage, paymentChainId: bigint): Uint8Array {
  const authorizationExpiresAt = integerOf(message.authorizationExpiresAt);
  if (purpose === 'prepare_payment')
    return hashPreparation({ ...message, paymentChainId, authorizationExpiresAt });
  const amount = integerOf(message.amount);
  return hashCreation({ ...message, paymentChainId, amount, authorizationExpiresAt });
}

const digestForm = /^0x[0-9a-f]{64}$/;
const signatureForm = /^0x[0-9a-f]{130}$/i;

function bytesOf(hex: Hex): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}

/** Our own hashing, with recovery by the given implementation. */
export function cryptographyOf(secp256k1: Secp256k1): Cryptography {
  return {
    digest(domainName, agentMessage) {
      const chainId = integerOf(agentMessage.message.paymentChainId);
      const domain = { name: domainName, version: domainVersion, chainId };
      return keccakHex(typedPreimage(domain, structHashOf(agentMessage, chainId)));
    },
    recover(digest, signature) {
      if (!digestForm.test(digest)) throw new RangeError('no digest');
      if (!signatureForm.test(signature)) return undefined;
      const publicKey = secp256k1.recover(bytesOf(digest), bytesOf(signature));
      return publicKey === undefined ? undefined : addressOfPublicKey(publicKey);
    },
  };
}
