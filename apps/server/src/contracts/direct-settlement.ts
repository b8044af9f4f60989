import { orderKinds } from '@florin/protocol/order.ts';
import type { ChainEvent } from './event.ts';

/** Beyond the index of any log of a block. */
const BEYOND_LOGS = 2 ** 30;

/**
 * Adds a `Settled` event for each paid direct order. The contract emits only `Paid`, which saves the payer the gas of
 * a second event. Other rooms act on `Settled` for every type of order. The added event takes the index of the next
 * log, which is the token's. If an event of ours has that index, it takes one beyond all logs. Where the gateway
 * emits `Settled` itself, the function adds none.
 */
export function withDirectSettlements(events: readonly ChainEvent[]): readonly ChainEvent[] {
  const direct = events.filter(
    ({ name, arguments: said }) => name === 'Paid' && said['orderType'] === String(orderKinds.direct),
  );
  const unreported = direct.filter(
    (paid) => !events.some(({ name, orderId }) => name === 'Settled' && orderId === paid.orderId),
  );
  if (unreported.length === 0) return events;
  const taken = new Set(events.map(({ logIndex }) => logIndex));
  const settlements = unreported.map((paid) => {
    const next = paid.logIndex + 1;
    return settlementOf(paid, taken.has(next) ? paid.logIndex + BEYOND_LOGS : next);
  });
  return [...events, ...settlements].toSorted((first, second) => first.logIndex - second.logIndex);
}

function settlementOf(paid: ChainEvent, logIndex: number): ChainEvent {
  const said = (name: string): string => paid.arguments[name] ?? '';
  const amount = (name: string): bigint => BigInt(said(name));
  return {
    ...paid,
    logIndex,
    name: 'Settled',
    arguments: {
      ...{ orderId: said('orderId'), channelId: said('channelId'), to: said('to'), token: said('token') },
      ...{ netValue: String(amount('totalValue') - amount('feeValue')), feeValue: said('feeValue') },
      metaData: said('metaData'),
    },
  };
}
