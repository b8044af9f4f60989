import { canonicalJson } from '@florin/protocol/canonical-json.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  type EventLog,
  findLogs,
  openPlace,
  type PaymentStatus,
  type Place,
  type Request,
  readStatus,
} from './payment.ts';
import { type GatewayOrder, orderIdOf, orderMembers, toBytes, toHex, topics, ZERO_ADDRESS } from './wire.ts';

/** A merchant's or payer's record: enough to prove what was bought, at what price, and that it was paid. */
export interface Receipt {
  readonly chainId: string;
  readonly gateway: Hex;
  readonly orderId: Hex;
  /** The thirteen members of the order; numbers as decimal strings. */
  readonly order: Readonly<Record<string, string>>;
  readonly lineItems: readonly unknown[];
  /** 32 secret bytes; without them the line items cannot be guessed from the chain. */
  readonly salt: Hex;
  /** Time of the block that paid the order, in ISO 8601. */
  readonly paidAt?: unknown;
  /** The transaction that paid the order. */
  readonly sourceTx?: unknown;
  /** The transaction that paid the merchant; empty before. */
  readonly targetTx?: unknown;
}

/** One check and its result. */
export interface Finding {
  readonly what: string;
  readonly isGood: boolean;
}

export interface Verdict {
  readonly isValid: boolean;
  /** Absent when no chain was asked. */
  readonly status?: PaymentStatus;
  readonly findings: readonly Finding[];
  /** Fields that neither the order nor the chain confirms or contradicts. */
  readonly unvouched: readonly string[];
  /** What the order leaves through, when no published contracts were given to compare it with. */
  readonly unknownVia?: Hex | undefined;
  readonly paid?: Seen;
  /** The transaction that settled, refunded or reclaimed the order. */
  readonly closed?: Seen;
}

/** Where the chain shows an event. */
interface Seen {
  readonly transaction: Hex;
  readonly block: bigint;
}

/** Fields bound together: the order's id is a hash of all of them. */
const committed = ['chainId', 'gateway', 'orderId', 'order', 'lineItems', 'salt'];
/** The type of orders whose payment settles them. */
const DIRECT = 1n;

/** Orders of the other types are paid out on their target chain. */
function isSettledHere({ orderType }: GatewayOrder): boolean {
  return orderType <= DIRECT;
}

/** Reads a receipt's text. Throws for anything else. */
export function parseReceipt(text: string): Receipt {
  const value = JSON.parse(text) as Partial<Receipt> | null;
  const isReceipt =
    typeof value === 'object' &&
    value !== null &&
    /^[1-9][0-9]*$/.test(String(value.chainId)) &&
    /^0x[0-9a-fA-F]{40}$/.test(String(value.gateway)) &&
    /^0x[0-9a-fA-F]{64}$/.test(String(value.orderId)) &&
    /^0x[0-9a-fA-F]{64}$/.test(String(value.salt)) &&
    Array.isArray(value.lineItems) &&
    typeof value.order === 'object' &&
    value.order !== null;
  if (!isReceipt) throw new Error('this is not a receipt: chainId, gateway, orderId, order, lineItems, salt');
  return value as Receipt;
}

/**
 * Checks what a receipt proves without a node: line items and salt hash to the order's key, and the order, on the
 * receipt's chain and gateway, hashes to its id. It cannot say whether such an order was ever signed or paid.
 * `published` are vaults and routes of the installation: an order that leaves through another contract is refused.
 */
export async function checkReceipt(
  receipt: Receipt,
  published: readonly string[],
  at: Pick<Place, 'chainId' | 'gateway'> = { chainId: BigInt(receipt.chainId), gateway: receipt.gateway },
): Promise<Verdict & { readonly order?: GatewayOrder }> {
  const findings: Finding[] = [];
  const note = (what: string, isGood: boolean) => findings.push({ what, isGood });
  const order = readOrder(receipt.order);
  const isWhole = order !== undefined && Object.keys(receipt.order).length === orderMembers.length;
  note('the order has its thirteen members', isWhole);
  const unvouched = Object.keys(receipt).filter((name) => !committed.includes(name));
  if (order === undefined) return { isValid: false, findings, unvouched };
  const isCommitted = order.metaData === (await metaDataOf(receipt.lineItems, receipt.salt));
  note("line items and salt give the order's metaData", isCommitted);
  const orderId = orderIdOf(order, at.chainId, at.gateway);
  note('the order gives its id', orderId === receipt.orderId.toLowerCase());
  const isCompared = order.via !== ZERO_ADDRESS && published.length > 0;
  if (isCompared)
    note(
      'the order leaves through a published contract',
      published.some((one) => one.toLowerCase() === order.via),
    );
  const unknownVia = order.via === ZERO_ADDRESS || isCompared ? undefined : order.via;
  return { isValid: findings.every(({ isGood }) => isGood), findings, unvouched, unknownVia, order };
}

/**
 * Checks a receipt without trusting its source: what it proves alone, and that the chain has its order as paid, at the
 * stated time and place. The verifier chooses node and gateway, which must be the receipt's.
 */
export async function verifyReceipt(
  receipt: Receipt,
  given: {
    readonly request: Request;
    readonly gateway: string;
    readonly fromBlock?: bigint;
    readonly published: readonly string[];
  },
): Promise<Verdict> {
  const place = await openPlace(given.request, given.gateway);
  const { order, ...own } = await checkReceipt(receipt, given.published, place);
  const findings = [...own.findings];
  const note = (what: string, isGood: boolean) => findings.push({ what, isGood });
  note('the receipt is of this gateway', receipt.gateway.toLowerCase() === place.gateway);
  note('the receipt is of this chain', receipt.chainId === String(place.chainId));
  if (order === undefined) return { ...own, isValid: false, status: 'unknown', findings };
  const orderId = receipt.orderId.toLowerCase() as Hex;
  const { status } = await readStatus(place, order.metaData, orderId);
  note(`the chain knows the order as ${status}`, status !== 'unknown');
  const [paid] = await findLogs(place, [topics.paid, orderId], given.fromBlock ?? 0n);
  note('the chain shows its payment', paid !== undefined);
  const closed =
    order.orderType === DIRECT && status === 'settled'
      ? paid
      : await findClosing(place, status, orderId, given.fromBlock ?? 0n);
  const confirmed: string[] = [];
  const compare = (name: 'paidAt' | 'sourceTx' | 'targetTx', isSame: boolean) => {
    confirmed.push(name);
    if (receipt[name] !== undefined) note(`${name} is as the chain shows it`, isSame);
  };
  if (paid !== undefined) {
    compare('paidAt', receipt.paidAt === (await timeOf(place, paid)));
    compare('sourceTx', receipt.sourceTx === paid.transactionHash);
  }
  // An empty field claims nothing, and this chain does not show settlements on another one.
  if (receipt.targetTx !== '' && isSettledHere(order))
    compare('targetTx', status === 'settled' && receipt.targetTx === closed?.transactionHash);
  return {
    ...{ isValid: findings.every(({ isGood }) => isGood), status, findings },
    unvouched: own.unvouched.filter((name) => !confirmed.includes(name)),
    unknownVia: own.unknownVia,
    ...(paid === undefined ? {} : { paid: seenIn(paid) }),
    ...(closed === undefined ? {} : { closed: seenIn(closed) }),
  };
}

/** The event that closed an order of this status. */
async function findClosing(
  place: Place,
  status: PaymentStatus,
  orderId: Hex,
  fromBlock: bigint,
): Promise<EventLog | undefined> {
  if (status === 'unknown' || status === 'paid') return undefined;
  const [closing] = await findLogs(place, [topics[status], orderId], fromBlock);
  return closing;
}

/** Time of a log's block, in the format of receipts. */
async function timeOf({ request }: Place, { blockNumber }: EventLog): Promise<string> {
  const block = (await request('eth_getBlockByNumber', [blockNumber, false])) as { timestamp: Hex };
  return new Date(Number(block.timestamp) * 1_000).toISOString();
}

/** A verdict in lines for a person. */
export function describeVerdict({
  findings,
  unvouched,
  unknownVia,
  paid,
  closed,
  status,
}: Verdict): string[] {
  const lines = findings.map(({ what, isGood }) => `${isGood ? 'ok   ' : 'WRONG'} ${what}`);
  if (paid !== undefined) lines.push(`paid in block ${paid.block} by ${paid.transaction}`);
  if (closed !== undefined) lines.push(`${status} in block ${closed.block} by ${closed.transaction}`);
  if (unknownVia !== undefined)
    lines.push(`leaves through ${unknownVia}: compare it with the operator's published vault and route`);
  if (unvouched.length > 0)
    lines.push(`not vouched for: ${unvouched.join(', ')}. Only the one who gave out the receipt says so`);
  return lines;
}

/** `sha256(sha256(canonical JSON of the line items) || salt)`, the single-use key of a session. */
export async function metaDataOf(lineItems: readonly unknown[], salt: string): Promise<Hex> {
  const items = await sha256(new TextEncoder().encode(canonicalJson(lineItems)));
  return toHex(await sha256(Uint8Array.from([...items, ...toBytes(salt)])));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

function seenIn({ transactionHash, blockNumber }: EventLog): Seen {
  return { transaction: transactionHash, block: BigInt(blockNumber) };
}

/** Addresses of published vaults and routes, with commas between them. Throws for anything else. */
export function parsePublished(text: string): readonly string[] {
  const addresses = text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
  const wrong = addresses.find((address) => !/^0x[0-9a-f]{40}$/.test(address));
  if (wrong !== undefined) throw new Error(`${wrong} is not an address`);
  return addresses;
}

/** The order of a receipt; undefined when a member is missing or does not fit. */
export function readOrder(members: Receipt['order']): GatewayOrder | undefined {
  const values: Record<string, Hex | bigint> = {};
  for (const [name, type] of orderMembers) {
    const text = String(members[name]);
    if (type.startsWith('uint')) {
      if (!/^(0|[1-9][0-9]*)$/.test(text) || BigInt(text) >> BigInt(type.slice(4)) !== 0n) return undefined;
      values[name] = BigInt(text);
    } else {
      const digits = type === 'address' ? 40 : 64;
      if (!/^0x[0-9a-fA-F]+$/.test(text) || text.length !== 2 + digits) return undefined;
      values[name] = text.toLowerCase() as Hex;
    }
  }
  return values as unknown as GatewayOrder;
}
