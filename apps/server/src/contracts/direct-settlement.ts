import { orderKinds } from '@florin/protocol/order.ts';
import type { ChainEvent } from './event.ts';

/** Beyond the place of every log that a block can have. */
const BEYOND_LOGS = 2 ** 30;

/**
 * The block's events with a `Settled` for each direct order that was paid: its one event `Paid` says all of that, and the
 * gateway saves the payer another. Everybody to the right goes by `Settled`, whatever the type. It stands in the place of
 * the log that follows, which is one of the token's; should an event of ours stand there, then beyond all logs. Where the
 * gateway itself has told the settlement, nothing is added.
 */
export function withDirectSettlements(events: readonly ChainEvent[]): readonly ChainEvent[] {
  const direct = events.filter(
    ({ name, arguments: said }) => name === 'Paid' && said['orderType'] === String(orderKinds.direct),
  );
  const untold = direct.filter(
    (paid) => !events.some(({ name, orderId }) => name === 'Settled' && orderId === paid.orderId),
  );
  if (untold.length === 0) return events;
  const taken = new Set(events.map(({ logIndex }) => logIndex));
  const settlements = untold.map((paid) => {
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
