import type { EventType } from '@florin/protocol/event.ts';
import { exceptionText, isOfDeposit } from '../ui/exception-text.ts';
import { formatToken, formatUsd, parseTime } from '../ui/format.ts';
import type { PaymentHistory, PaymentToken } from './types.ts';

type ChainEvent = PaymentHistory['chainEvents'][number];
type DroppedEvent = PaymentHistory['droppedEvents'][number];

const eventWords: Partial<Record<EventType, string>> = {
  'session.created': 'Order opened',
  'session.payment_detected': 'Payment seen on the chain',
  'session.paid': 'Payment is final',
  'session.settling': 'Settlement sent',
  'session.completed': 'Settled to your wallet',
  'session.settlement_pending': 'Settlement delayed',
  'session.expired': 'Expired',
  'session.cancelled': 'Cancelled',
  'session.exception': 'Needs attention',
};

const chainWords: Readonly<Record<string, string>> = {
  Paid: 'Paid into the gateway',
  Settled: 'Gateway settled',
  PaidOut: 'Vault paid out',
  Minted: 'Bridge paid out',
  Refunded: 'Sent back to the payer',
  Reclaimed: 'Back with the payer, not settled in time',
  Rescued: 'Deposit sent back',
  SettlementRefunded: 'Refunded after the settlement',
  SettleSkipped: 'Settlement refused',
  PayoutSkipped: 'Payout refused by the token',
};

/** What a reorg below finality takes back with an event. */
const lostWords: Readonly<Record<string, string>> = {
  Paid: 'the payment',
  Settled: 'the settlement',
  PaidOut: 'the payout',
  Minted: 'the payout',
  Refunded: 'the return to the payer',
  Reclaimed: 'the return to the payer',
  Rescued: 'the return of a deposit',
  SettlementRefunded: 'a refund',
};

/** The transaction that an event of ours tells of; the name that comes first is the one of the merchant's own chain. */
const toldBy: Partial<Record<EventType, readonly string[]>> = {
  'session.payment_detected': ['Paid'],
  'session.completed': ['PaidOut', 'Minted', 'Settled', 'Paid'],
};

export interface TimelineEntry {
  readonly key: string;
  readonly at: string;
  readonly title: string;
  /** Of an exception, which its own screen shows. */
  readonly exceptionId?: string;
  readonly transaction?: {
    readonly network: string;
    readonly blockNumber: number;
    readonly isFinal: boolean;
    /** A reorg below finality took its block back. */
    readonly isGone: boolean;
    readonly txHash: string;
    readonly href: string | undefined;
  };
}

/**
 * What happened to a payment, oldest first. A transaction stands with the event that tells of it, so that a chain whose time
 * is not ours changes no order; the others stand at the time of their block.
 */
export function timelineEntries(
  history: Pick<
    PaymentHistory,
    'events' | 'chainEvents' | 'droppedEvents' | 'transfers' | 'refunds' | 'exceptions'
  >,
  tokens: readonly PaymentToken[],
): TimelineEntry[] {
  const unmatched = new Set<ChainEvent | DroppedEvent>([...history.droppedEvents, ...history.chainEvents]);
  const events = history.events.map(({ eventId, type, at }): TimelineEntry => {
    const names = (toldBy as Readonly<Record<string, readonly string[] | undefined>>)[type] ?? [];
    const found = names
      .map((name) => [...unmatched].find((event) => event.name === name && isThereAt(event, at)))
      .find((event) => event !== undefined);
    if (found !== undefined) unmatched.delete(found);
    const title = (eventWords as Readonly<Record<string, string | undefined>>)[type] ?? type;
    const raised = type === 'session.exception' ? raisedAt(at, history.exceptions) : undefined;
    return {
      ...{ key: eventId, at, title: raised === undefined ? title : raisedText(raised, tokens) },
      ...(found && { transaction: transactionOf(found, tokens) }),
      ...(raised && { exceptionId: raised.exceptionId }),
    };
  });
  const others = [...unmatched].map(
    (event, index): TimelineEntry => ({
      key: `${event.txHash}${event.name}${index}`,
      at: event.at,
      title: `${refundedBy(event, history.refunds)}${chainWords[event.name] ?? event.name}`,
      transaction: transactionOf(event, tokens),
    }),
  );
  const transfers = history.transfers.map((transfer, index): TimelineEntry => {
    const token = tokens.find(({ tokenId }) => tokenId === transfer.tokenId);
    const amount = token === undefined ? '' : `${formatToken(transfer.amountInToken, token)} `;
    return {
      key: `${transfer.txHash}transfer${index}`,
      at: transfer.at,
      title: `${amount}arrived by transfer`,
      transaction: transactionOf(transfer, tokens),
    };
  });
  // A transfer comes before what it brought about in the same second, and so does a loss.
  const told = [...events.slice(0, 1), ...transfers, ...lossesOf(history), ...events.slice(1)].sort(byTime);
  return others.sort(byTime).reduce(withOther, told);
}

/** A transaction that a reorg took back is what our events told of until then. */
function isThereAt(event: ChainEvent | DroppedEvent, at: string): boolean {
  return !('droppedAt' in event) || event.droppedAt >= at;
}

/** What the chain took back, each time. */
function lossesOf({ droppedEvents }: Pick<PaymentHistory, 'droppedEvents'>): TimelineEntry[] {
  return [...Map.groupBy(droppedEvents, ({ droppedAt }) => droppedAt)].flatMap(([at, dropped]) => {
    const what = new Set(dropped.flatMap(({ name }) => lostWords[name] ?? []));
    if (what.size === 0) return [];
    return { key: `lost${at}`, at, title: `The chain took back ${[...what].join(', ')}` };
  });
}

const timeOf = ({ at }: TimelineEntry) => parseTime(at)?.getTime() ?? 0;
const byTime = (one: TimelineEntry, other: TimelineEntry) => timeOf(one) - timeOf(other);

/** With a transaction that no event tells of, at its time, and in any case in the order of its chain's blocks. */
function withOther(entries: TimelineEntry[], other: TimelineEntry): TimelineEntry[] {
  const { network, isGone, blockNumber = 0 } = other.transaction ?? {};
  const blocks = entries.map(({ transaction }) =>
    transaction?.network === network && transaction?.isGone === isGone ? transaction?.blockNumber : undefined,
  );
  const firstLater = blocks.findIndex((block) => block !== undefined && block > blockNumber);
  const afterEarlier = blocks.findLastIndex((block) => block !== undefined && block < blockNumber) + 1;
  const later = entries.findIndex((entry) => timeOf(entry) > timeOf(other));
  const atTime = later < 0 ? entries.length : later;
  const end = firstLater < 0 ? entries.length : firstLater;
  return entries.toSpliced(Math.max(afterEarlier, Math.min(atTime, end)), 0, other);
}

/** The exception that an event tells of: the one of its second, else the latest before it, whose amount has grown. */
function raisedAt(at: string, exceptions: PaymentHistory['exceptions']) {
  const earlier = exceptions.filter(({ createAt }) => createAt <= at);
  return earlier.toSorted((one, other) => (one.createAt < other.createAt ? 1 : -1))[0];
}

function raisedText(
  exception: PaymentHistory['exceptions'][number],
  tokens: readonly PaymentToken[],
): string {
  const { title } = exceptionText(exception);
  const token = tokens.find(({ tokenId }) => tokenId === exception.tokenId);
  if (!isOfDeposit(exception.kind) || token === undefined) return title;
  return `${title}: ${formatToken(exception.amountInToken, token)}`;
}

/** The amount of a part that went back, which tells several of them apart. */
function refundedBy({ name, txHash }: ChainEvent | DroppedEvent, refunds: PaymentHistory['refunds']): string {
  const [refund, ...more] = refunds.filter((each) => each.txHash === txHash);
  const isOne = name === 'SettlementRefunded' && refund !== undefined && more.length === 0;
  return isOne ? `${formatUsd(refund.amount)} · ` : '';
}

function transactionOf(
  event: Omit<ChainEvent, 'name' | 'at'> | Omit<DroppedEvent, 'name' | 'at'>,
  tokens: readonly PaymentToken[],
) {
  const token = tokens.find(({ chainId }) => chainId === event.chainId);
  const explorer = token?.explorer ?? '';
  const { blockNumber, txHash } = event;
  const isGone = 'droppedAt' in event;
  return {
    ...{ blockNumber, isFinal: !isGone && event.isFinal, isGone, txHash },
    network: token?.network ?? `chain ${event.chainId}`,
    href: explorer === '' ? undefined : `${explorer}/tx/${txHash}`,
  };
}
