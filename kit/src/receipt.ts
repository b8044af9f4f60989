import { canonicalJson } from '@florin/protocol/canonical-json.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { findLogs, openPlace, type PaymentStatus, type Request, readStatus } from './payment.ts';
import { type GatewayOrder, orderIdOf, orderMembers, toBytes, toHex, topics } from './wire.ts';

/** What a merchant or payer keeps: enough to prove what was bought, at what price, and that it was paid. */
export interface Receipt {
  readonly chainId: string;
  readonly gateway: Hex;
  readonly orderId: Hex;
  /** The twelve members of the order; numbers as decimal strings. */
  readonly order: Readonly<Record<string, string>>;
  readonly lineItems: readonly unknown[];
  /** 32 secret bytes; without them nobody can guess the line items from the chain. */
  readonly salt: Hex;
}

/** One thing that was checked. */
export interface Finding {
  readonly what: string;
  readonly isGood: boolean;
}

export interface Verdict {
  readonly isValid: boolean;
  readonly status: PaymentStatus;
  readonly findings: readonly Finding[];
  readonly paid?: { readonly transaction: Hex; readonly block: bigint };
  /** The transaction that settled, refunded or reclaimed the order. */
  readonly closed?: { readonly transaction: Hex; readonly block: bigint };
}

/** The type of orders whose payment settles them. */
const DIRECT = 1n;

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
    typeof value.order === 'object';
  if (!isReceipt) throw new Error('this is no receipt: chainId, gateway, orderId, order, lineItems, salt');
  return value as Receipt;
}

/**
 * Checks a receipt without trusting who gave it: line items and salt hash to the order's key, the order hashes to its
 * id, and the chain knows that id as paid. Node and gateway are the verifier's own choice, and have to be the receipt's.
 */
export async function verifyReceipt(
  receipt: Receipt,
  given: { readonly request: Request; readonly gateway: string; readonly fromBlock?: bigint },
): Promise<Verdict> {
  const findings: Finding[] = [];
  const note = (what: string, isGood: boolean) => findings.push({ what, isGood });
  const place = await openPlace(given.request, given.gateway);
  note('the receipt is of this gateway', receipt.gateway.toLowerCase() === place.gateway);
  note('the receipt is of this chain', receipt.chainId === String(place.chainId));
  const order = readOrder(receipt.order);
  note('the order has its twelve members', order !== undefined);
  if (order === undefined) return { isValid: false, status: 'unknown', findings };
  const orderId = receipt.orderId.toLowerCase() as Hex;
  const isCommitted = order.metaData === (await metaDataOf(receipt.lineItems, receipt.salt));
  note("line items and salt give the order's metaData", isCommitted);
  note('the order gives its id', orderIdOf(order, place.chainId, place.gateway) === orderId);
  const status = await readStatus(place, order.metaData, orderId);
  note(`the chain knows the order as ${status}`, status !== 'unknown');
  const [paid] = await findLogs(place, [topics.paid, orderId], given.fromBlock ?? 0n);
  note('the chain shows its payment', paid !== undefined);
  const closing = { settled: topics.settled, refunded: topics.refunded, reclaimed: topics.reclaimed };
  const topic = status === 'unknown' || status === 'paid' ? undefined : closing[status];
  const isDirect = order.orderType === DIRECT;
  const [closed] =
    topic === undefined
      ? []
      : isDirect
        ? [paid]
        : await findLogs(place, [topic, orderId], given.fromBlock ?? 0n);
  return {
    isValid: findings.every(({ isGood }) => isGood),
    status,
    findings,
    ...(paid === undefined ? {} : { paid: seenIn(paid) }),
    ...(closed === undefined ? {} : { closed: seenIn(closed) }),
  };
}

/** `sha256(sha256(canonical JSON of the line items) || salt)`, the single-use key of a session. */
export async function metaDataOf(lineItems: readonly unknown[], salt: string): Promise<Hex> {
  const items = await sha256(new TextEncoder().encode(canonicalJson(lineItems)));
  return toHex(await sha256(Uint8Array.from([...items, ...toBytes(salt)])));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

function seenIn({
  transactionHash,
  blockNumber,
}: {
  readonly transactionHash: Hex;
  readonly blockNumber: Hex;
}) {
  return { transaction: transactionHash, block: BigInt(blockNumber) };
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
