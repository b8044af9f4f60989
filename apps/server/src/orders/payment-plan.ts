import type { RevertedPlan, SendCall, Sender, SendPlan } from '@florin/evm';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeErrorResult } from 'viem';
import type { Chain } from '#chains/chain.ts';
import type { SendPurpose } from '#contracts/purpose.ts';
import { gatewayOf } from './order-gateway.ts';
import type { OrderSigner } from './signer.ts';
import type { StoredOrder } from './stored-order.ts';

/** A payment of an order that the service is to send, with money of somebody else's. */
export interface RelayedPayment {
  readonly purpose: 'relay' | 'collect';
  readonly order: Pick<StoredOrder, 'order' | 'gateway'>;
  /** The service's, over the order. */
  readonly signature: Hex;
  /** The gateway's call with this signature of the service. */
  readonly encode: (signature: Hex) => Hex;
}

type PlanContext = {
  readonly sender: Pick<Sender<SendPurpose>, 'plan'>;
  readonly signer: Pick<OrderSigner, 'hasSigned'>;
};

const invalidSignature = encodeErrorResult({ abi: paymentGatewayAbi, errorName: 'InvalidSignature' });
/** What the service signs with: 65 bytes. */
const wholeSignature = /^0x[0-9a-f]{130}$/i;

/**
 * Plans the gateway's call that pays an order; see `Sender.plan`. The order signer consents by sending, so where its wallet
 * sends, the signature stays away, and 4,500 gas with it. This is the one place that decides so; the plan holds the wallet
 * and the call that belongs to it, and both are stored together.
 */
export async function planPayment(
  deps: PlanContext,
  chain: Chain,
  payment: RelayedPayment,
): Promise<SendPlan | RevertedPlan> {
  const { chainId } = chain;
  const { purpose, signature, encode } = payment;
  // A call with none would be the consent of the wallet that sends it. Anybody else's the gateway answers so.
  if (!wholeSignature.test(signature)) return { reverted: true, data: invalidSignature };
  const call: SendCall<SendPurpose> = {
    purpose,
    to: gatewayOf(payment.order, chain),
    data: encode(signature),
  };
  if (!mayConsentBySending(deps, chain, payment)) return deps.sender.plan(chainId, call);
  const plan = await deps.sender.plan(chainId, { ...call, dataByRelayer: encode('0x') });
  // A gateway that knows no consent by transaction takes the signature, whoever sends it.
  const isRefused = 'reverted' in plan && plan.data.toLowerCase() === invalidSignature;
  return isRefused ? deps.sender.plan(chainId, call) : plan;
}

/**
 * Whether the order signer may consent by sending: to what its key has signed, and to nothing else, so that whoever can
 * write orders to the database gets no more out of its wallet than out of the gateway. At the gateway in use alone: of
 * earlier ones nobody has looked whether they know the signer.
 */
function mayConsentBySending(
  { signer }: PlanContext,
  chain: Chain,
  { order, signature }: RelayedPayment,
): boolean {
  const gateway = gatewayOf(order, chain);
  return gateway === chain.gateway && signer.hasSigned(chain.chainId, gateway, order.order, signature);
}
