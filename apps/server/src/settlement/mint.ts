import type { Hex } from '@florin/protocol/order.ts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Chain } from '#chains/chain.ts';
import { type BurnMessage, parseBurnMessage } from '#contracts/cctp-message.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { AttestationUnavailable, type AttestedMessage } from '#outside/attestation.ts';
import type { Item } from './batch.ts';
import type { SettlementContext } from './context.ts';
import { finalEventsOfOrder } from './leg.sql.ts';
import { postponeOrDelay } from './leg.ts';

const transmitterAbi = parseAbi(['function receiveMessage(bytes message, bytes attestation) returns (bool)']);

/** A burn whose message can be delivered. */
export interface MintDelivery extends Item {
  readonly data: Hex;
}

/** Finds the attested messages of burnt orders. Orders without one wait; the merchant sees a long wait. */
export async function findDeliveries(
  deps: SettlementContext,
  chain: Chain,
  items: readonly Item[],
): Promise<readonly MintDelivery[]> {
  const deliveries: MintDelivery[] = [];
  // Orders that were settled together share a transaction, so one request answers for all of them.
  const answers = new Map<string, Promise<readonly AttestedMessage[]>>();
  for (const item of items) {
    const attested = await findAttested(deps, chain, item.order, answers);
    if (attested === undefined) await postponeOrDelay(deps, item.leg, 'attestation_pending');
    else deliveries.push({ ...item, data: receiveCall(attested) });
  }
  return deliveries;
}

function receiveCall({ message, attestation }: AttestedMessage): Hex {
  const args = [message, attestation] as const;
  return encodeFunctionData({ abi: transmitterAbi, functionName: 'receiveMessage', args });
}

async function findAttested(
  deps: SettlementContext,
  chain: Chain,
  order: StoredOrder,
  answers: Map<string, Promise<readonly AttestedMessage[]>>,
): Promise<AttestedMessage | undefined> {
  const domain = deps.chains.byId(order.chainId)?.cctp?.domain;
  if (domain === undefined || deps.attestations === undefined || chain.cctp === undefined) {
    deps.log.warn('settlement.cctp_not_configured', { chainId: order.chainId, orderId: order.orderId });
    return undefined;
  }
  const [burn] = await deps.db.query(finalEventsOfOrder, { orderId: order.orderId, eventNames: ['Settled'] });
  if (burn === undefined) return undefined;
  const answer = answers.get(burn.tx_hash) ?? deps.attestations.messagesOf(domain, burn.tx_hash as Hex);
  answers.set(burn.tx_hash, answer);
  try {
    const read = (await answer).map((attested) => ({ attested, burn: parseBurnMessage(attested.message) }));
    return read.find((entry) => isDeliveryOf(chain, order, domain, entry.burn))?.attested;
  } catch (error) {
    if (!(error instanceof AttestationUnavailable)) throw error;
    deps.log.warn('settlement.attestation_unavailable', { chainId: chain.chainId, reason: error.message });
    return undefined;
  }
}

/** Whether the message mints the whole of this order's money to its merchant. Other messages are not worth gas. */
function isDeliveryOf(
  chain: Chain,
  { orderId, order }: StoredOrder,
  domain: number,
  burn: BurnMessage | undefined,
): boolean {
  const source = chain.mintSources?.find((candidate) => candidate.domain === domain);
  if (burn === undefined || source === undefined) return false;
  const { sourceDomain, destinationDomain, sender, messageSender } = burn;
  return (
    burn.orderId === orderId &&
    burn.to === order.to &&
    burn.amount === order.total - order.fee &&
    sourceDomain === domain &&
    destinationDomain === chain.cctp?.domain &&
    sender === source.messenger &&
    source.routes.includes(messageSender)
  );
}
