import type { RevertedPlan, SendCall, Sender, SendPlan } from '@florin/evm';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeErrorResult } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import { gatewayOf } from './order-gateway.ts';
import { mismatchOf } from './order-mismatch.ts';
import type { OrderSigner } from './signer.ts';
import type { StoredOrder } from './stored-order.ts';

/** A payer's payment of an order that the service sends. */
export interface RelayedPayment {
  readonly purpose: 'relay' | 'collect';
  readonly order: Pick<StoredOrder, 'order' | 'orderId' | 'gateway'>;
  /** The service's signature over the order. */
  readonly signature: Hex;
  /** Encodes the gateway's call with a signature of the service. */
  readonly encode: (signature: Hex) => Hex;
}

type PlanContext = {
  readonly sender: Pick<Sender<SendPurpose>, 'plan'>;
  readonly signer: Pick<OrderSigner, 'hasSigned'>;
};

const invalidSignature = encodeErrorResult({ abi: paymentGatewayAbi, errorName: 'InvalidSignature' });
/** The answer where no chain is asked: the order does not match, or has no signature of the service. */
export const unsentRefusal: RevertedPlan = { reverted: true, data: invalidSignature };
/** The service's signatures have 65 bytes. */
const wholeSignature = /^0x[0-9a-f]{130}$/i;

/**
 * Plans the gateway's call that pays an order; see `Sender.plan`. The order signer consents by sending: when its own
 * wallet sends, the call omits the signature and saves 4,500 gas. The plan has the wallet and the call that fits it, and
 * both are stored together.
 */
export async function planPayment(
  deps: PlanContext,
  chain: Chain,
  payment: RelayedPayment,
): Promise<SendPlan | RevertedPlan> {
  const { chainId } = chain;
  const { purpose, signature, encode } = payment;
  if (mismatchOf(payment.order, chain) !== undefined) return unsentRefusal;
  // Without a signature the sending wallet would consent. The gateway refuses other senders with this error.
  if (!wholeSignature.test(signature)) return unsentRefusal;
  const call: SendCall<SendPurpose> = {
    purpose,
    to: gatewayOf(payment.order, chain),
    data: encode(signature),
  };
  if (!mayConsentBySending(deps, chain, payment)) return deps.sender.plan(chainId, call);
  const plan = await deps.sender.plan(chainId, { ...call, dataByRelayer: encode('0x') });
  // An older gateway does not know consent by sending. It takes the signature from any sender.
  const isRefused = 'reverted' in plan && plan.data.toLowerCase() === invalidSignature;
  return isRefused ? deps.sender.plan(chainId, call) : plan;
}

/**
 * Whether the order signer may consent by sending. It does so only for orders that its key has signed: an attacker who
 * can write orders to the database gains nothing from its wallet. And only at the current gateway, because earlier ones
 * may not know this signer.
 */
function mayConsentBySending(
  { signer }: PlanContext,
  chain: Chain,
  { order, signature }: RelayedPayment,
): boolean {
  const gateway = gatewayOf(order, chain);
  return gateway === chain.gateway && signer.hasSigned(chain.chainId, gateway, order.order, signature);
}
