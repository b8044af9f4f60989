import type { Hex } from '@florin/protocol/order.ts';
import {
  decodeOrder,
  domainSeparatorOf,
  type GatewayOrder,
  orderDigits,
  orderIdOf,
  selectorOf,
  topics,
  toWord,
  waysToPay,
  wordDigits,
} from './wire.ts';

/** Sends one JSON-RPC request to a node or wallet; an error answer rejects. */
export type Request = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** A gateway on the chain of a node. */
export interface Place {
  readonly request: Request;
  readonly chainId: bigint;
  readonly gateway: Hex;
}

/** A payment from its `Paid` event, with the part of its order that the chain shows. */
export interface Payment {
  readonly orderId: Hex;
  readonly channelId: Hex;
  readonly metaData: Hex;
  readonly payer: Hex;
  readonly to: Hex;
  readonly token: Hex;
  readonly total: bigint;
  readonly payment: bigint;
  readonly fee: bigint;
  readonly orderType: bigint;
  readonly status: PaymentStatus;
  /** Unix seconds; 0 when another order holds the key. */
  readonly paidAt: bigint;
  readonly transaction: Hex;
  readonly block: bigint;
  /** The function of the gateway that was called, or `other` for a call through another contract. */
  readonly way: string;
  /** Absent when the paying transaction does not show it: `missing` says what to do. */
  readonly order?: GatewayOrder;
  readonly missing?: string;
}

export const paymentStatuses = ['unknown', 'paid', 'settled', 'refunded', 'reclaimed'] as const;
export type PaymentStatus = (typeof paymentStatuses)[number];

/** The party whose payments to find: one of the three. */
export interface Search {
  readonly payer?: string;
  readonly channelId?: string;
  readonly recipient?: string;
  /** First block to search, 0 when absent. */
  readonly fromBlock?: bigint;
}

/** The parts of a node's log that are read here. */
export interface EventLog {
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
}

/** A node that refuses even this short a span is unusable. */
const leastSpanBlocks = 10n;

/** Checks that there is a gateway at the address, and on which chain. Throws when there is none. */
export async function openPlace(request: Request, gateway: string): Promise<Place> {
  if (!/^0x[0-9a-fA-F]{40}$/.test(gateway)) throw new Error(`${gateway} is not an address`);
  const chainId = BigInt(String(await request('eth_chainId', [])));
  const place = { request, chainId, gateway: gateway.toLowerCase() as Hex };
  const found = await callGateway(place, selectorOf('domainSeparator()')).catch(() => '');
  if (found !== domainSeparatorOf(chainId, place.gateway))
    throw new Error(`there is no Florin gateway at ${gateway} on chain ${chainId}`);
  return place;
}

/** All payments of a payer, a channel or a recipient, oldest first, with their outcomes. */
export async function findPayments(place: Place, search: Search): Promise<Payment[]> {
  const { payer, channelId, recipient } = search;
  const filter = [
    topics.paid,
    null,
    channelId === undefined ? null : `0x${toWord(channelId)}`,
    payer === undefined ? null : `0x${toWord(payer)}`,
  ];
  const logs = await findLogs(place, filter, search.fromBlock ?? 0n);
  const payments: Payment[] = [];
  for (const log of logs) {
    const isWanted = recipient === undefined || wordOf(log.data, 0) === toWord(recipient);
    if (isWanted) payments.push(await readPayment(place, log));
  }
  return payments;
}

/** Logs of the gateway, in spans that the node accepts. */
export async function findLogs(
  { request, gateway }: Place,
  filter: readonly (string | null)[],
  fromBlock: bigint,
): Promise<EventLog[]> {
  const head = BigInt(String(await request('eth_blockNumber', [])));
  const found: EventLog[] = [];
  let span = head - fromBlock + 1n;
  for (let from = fromBlock; from <= head; ) {
    const to = from + span - 1n < head ? from + span - 1n : head;
    const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    try {
      const logs = await request('eth_getLogs', [{ address: gateway, topics: filter, ...range }]);
      found.push(...(logs as EventLog[]));
      from = to + 1n;
    } catch (error) {
      // Nodes refuse wide ranges with their own codes and texts, so halving finds what each accepts.
      if (span <= leastSpanBlocks) throw error;
      span = span / 2n;
    }
  }
  return found;
}

/** Why a payment cannot be reclaimed now; undefined when it can. */
export function reclaimProblem(payment: Payment, nowSeconds: bigint): string | undefined {
  if (payment.status !== 'paid') return `the order is ${payment.status}: there is nothing to reclaim`;
  if (payment.order === undefined) return payment.missing;
  const { reclaimAt } = payment.order;
  if (nowSeconds >= reclaimAt) return undefined;
  return `it can be reclaimed from ${new Date(Number(reclaimAt) * 1_000).toISOString()} on`;
}

/** For how long after the payment only the service settles it. */
const settlersOnlySeconds = 86_400n;

/** Why a payment cannot be settled now by anyone; undefined when it can. */
export function settleProblem(payment: Payment, nowSeconds: bigint): string | undefined {
  if (payment.status !== 'paid') return `the order is ${payment.status}: there is nothing to settle`;
  if (payment.order === undefined) return payment.missing;
  const at = (seconds: bigint) => new Date(Number(seconds) * 1_000).toISOString();
  const { reclaimAt } = payment.order;
  if (nowSeconds >= reclaimAt) return `it can only go back to its payer since ${at(reclaimAt)}`;
  if (payment.orderType !== 0n)
    return `it goes to another chain, and only the service can settle it there: it goes back to its payer from ${at(reclaimAt)} on`;
  const opensAt = payment.paidAt + settlersOnlySeconds;
  return nowSeconds >= opensAt ? undefined : `only the service can settle it until ${at(opensAt)}`;
}

/** Time of the newest block in Unix seconds, which the gateway uses. */
export async function chainTime({ request }: Place): Promise<bigint> {
  const block = (await request('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
  return BigInt(block.timestamp);
}

/** A word of data by its index. */
export function wordOf(data: string, place: number): string {
  const start = 2 + place * wordDigits;
  return data.slice(start, start + wordDigits).toLowerCase();
}

/** Status and time of an order by its single-use key; also `unknown` when another order holds the key. */
export async function readStatus(
  place: Place,
  metaData: Hex,
  orderId: Hex,
): Promise<Pick<Payment, 'status' | 'paidAt'>> {
  const answer = await callGateway(place, `${selectorOf('statusOf(bytes32)')}${toWord(metaData)}`);
  const isThis = wordOf(answer, 2).slice(12) === orderId.slice(2, 54);
  const status = paymentStatuses[Number(BigInt(`0x${wordOf(answer, 0)}`))];
  if (!isThis || status === undefined) return { status: 'unknown', paidAt: 0n };
  return { status, paidAt: BigInt(`0x${wordOf(answer, 1)}`) };
}

async function readPayment(place: Place, log: EventLog): Promise<Payment> {
  const [, orderId = '', channelId = '', payer = ''] = log.topics;
  const number = (at: number) => BigInt(`0x${wordOf(log.data, at)}`);
  const address = (at: number): Hex => `0x${wordOf(log.data, at).slice(24)}`;
  const metaData: Hex = `0x${wordOf(log.data, 6)}`;
  const event = {
    orderId: orderId as Hex,
    channelId: channelId as Hex,
    metaData,
    payer: `0x${payer.slice(26)}` as Hex,
    to: address(0),
    token: address(1),
    total: number(2),
    payment: number(3),
    fee: number(4),
    orderType: number(5),
  };
  const key = await readStatus(place, metaData, event.orderId);
  const paying = await readOrder(place, event, log.transactionHash);
  return { ...event, ...key, transaction: log.transactionHash, block: BigInt(log.blockNumber), ...paying };
}

/**
 * Reads the order from the paying transaction's calldata. Every payment method, batch and relayed call contains its
 * thirteen words in sequence, beginning with channel and key. So the search looks for those two, and the order id proves
 * the match.
 */
async function readOrder(
  { request, chainId, gateway }: Place,
  event: { readonly orderId: Hex; readonly channelId: Hex; readonly metaData: Hex },
  transaction: Hex,
): Promise<{ way: string; order?: GatewayOrder; missing?: string }> {
  const missing =
    'its transaction does not show the whole order: ask the service, or the wallet that made the payment';
  const found = (await request('eth_getTransactionByHash', [transaction])) as {
    to: string | null;
    input: string;
  } | null;
  if (found === null)
    return { way: 'other', missing: 'the node does not know its transaction: use another node' };
  const isDirect = found.to?.toLowerCase() === gateway;
  const way = (isDirect ? waysToPay.get(found.input.slice(0, 10).toLowerCase()) : undefined) ?? 'other';
  const input = found.input.toLowerCase();
  const start = `${event.channelId.slice(2)}${event.metaData.slice(2)}`.toLowerCase();
  for (let at = input.indexOf(start); at !== -1; at = input.indexOf(start, at + 1)) {
    const order = decodeOrder(input.slice(at, at + orderDigits));
    if (order !== undefined && orderIdOf(order, chainId, gateway) === event.orderId) return { way, order };
  }
  return { way, missing };
}

/** The present answer of a view of the gateway. */
export async function callGateway({ request, gateway }: Place, data: string): Promise<string> {
  return String(await request('eth_call', [{ to: gateway, data }, 'latest']));
}
