import type { Hex } from '@florin/protocol/order.ts';
import { callGateway, type Place, wordOf } from './payment.ts';
import { readOrder } from './receipt.ts';
import {
  decodeOrder,
  encodeRescue,
  type GatewayOrder,
  orderDigits,
  orderIdOf,
  selectorOf,
  toWord,
  ZERO_ADDRESS,
} from './wire.ts';

/** An order with a deposit address, and the chain that it was made for. */
export interface DepositOrder {
  readonly order: GatewayOrder;
  readonly chainId: bigint;
}

/** The balance of a deposit address in one token. */
export interface Deposit {
  readonly orderId: Hex;
  readonly receiver: Hex;
  /** Zero for the chain's own coin. */
  readonly token: Hex;
  readonly amount: bigint;
  /** The receiver of a rescue by any sender: the refund address in the order. */
  readonly refundAddress: Hex;
  /** Calldata of the gateway for the rescue. */
  readonly data: Hex;
  /** Why it cannot be rescued now. */
  readonly problem?: string;
}

interface DepositFile {
  readonly chainId?: unknown;
  readonly order?: unknown;
  /** Of an answer of prepare. */
  readonly aiView?: { readonly paymentExecutionGuide?: { readonly alternatives?: unknown } };
}

/**
 * Reads the order of a deposit address from an answer of prepare as the service gave it, from a receipt, or from
 * `{"chainId","order"}`. Throws for anything else.
 */
export function parseDepositOrder(text: string): DepositOrder {
  const value = JSON.parse(text) as DepositFile | null;
  const prepared = value?.aiView === undefined ? undefined : preparedOrder(value.aiView);
  const members = value?.order;
  const order =
    typeof members === 'object' && members !== null
      ? readOrder(members as Record<string, string>)
      : prepared?.order;
  const chainId = String(prepared?.chainId ?? value?.chainId);
  if (order === undefined || !/^[1-9][0-9]*$/.test(chainId)) {
    throw new Error(
      'this is not an order: an answer of prepare with a deposit address, or chainId and an order with its thirteen members',
    );
  }
  return { order, chainId: BigInt(chainId) };
}

/** Calldata of `rescue`: selector, order and token. */
const recoveryCall = new RegExp(`^0x[0-9a-f]{8}([0-9a-f]{${orderDigits}})[0-9a-f]{64}$`, 'i');

/** The call that recovers a deposit contains its order, which may be another than the order to pay by wallet. */
function preparedOrder({ paymentExecutionGuide }: NonNullable<DepositFile['aiView']>) {
  const alternatives = paymentExecutionGuide?.alternatives;
  if (!Array.isArray(alternatives)) return undefined;
  const deposit: { recovery?: { txRequest?: { chainId?: unknown; data?: unknown } } } | undefined =
    alternatives.find((alternative) => alternative?.method === 'deposit');
  const { chainId, data } = deposit?.recovery?.txRequest ?? {};
  const [, words] = recoveryCall.exec(String(data)) ?? [];
  return { chainId, order: words === undefined ? undefined : decodeOrder(words) };
}

/**
 * The balances of a deposit address on this chain: the order's token, the chain's coin and `tokens`; omits zero ones.
 * Money for another chain's order may have been sent here by mistake: then all of it can be rescued.
 */
export async function findDeposits(
  place: Place,
  { order, chainId }: DepositOrder,
  tokens: readonly string[],
  nowSeconds: bigint,
): Promise<Deposit[]> {
  const orderId = orderIdOf(order, chainId, place.gateway);
  const answer = await callGateway(place, `${selectorOf('receiverOf(bytes32)')}${toWord(orderId)}`);
  const receiver: Hex = `0x${wordOf(answer, 0).slice(24)}`;
  const wanted = [order.token, ZERO_ADDRESS, ...tokens].map((token) => token.toLowerCase() as Hex);
  const deposits: Deposit[] = [];
  for (const token of new Set(wanted)) {
    const amount = await balanceOf(place, token, receiver);
    if (amount === 0n) continue;
    const problem =
      token === order.token && chainId === place.chainId
        ? await collectableProblem(place, order, nowSeconds)
        : undefined;
    deposits.push({
      ...{ orderId, receiver, token, amount, refundAddress: order.payer },
      data: encodeRescue(order, token, chainId === place.chainId ? undefined : chainId),
      ...(problem === undefined ? {} : { problem }),
    });
  }
  return deposits;
}

/** No order can be paid longer than this before its `payBy`, in seconds: the gateway's 120 days. */
const mostSecondsToPay = 10_368_000n;

/** The gateway keeps an order's token for the payment from 120 days before `payBy` until then. */
async function collectableProblem(
  place: Place,
  { metaData, payBy }: GatewayOrder,
  nowSeconds: bigint,
): Promise<string | undefined> {
  if (nowSeconds > payBy || payBy > nowSeconds + mostSecondsToPay) return undefined;
  const answer = await callGateway(place, `${selectorOf('statusOf(bytes32)')}${toWord(metaData)}`);
  if (BigInt(`0x${wordOf(answer, 0)}`) !== 0n) return undefined;
  const end = new Date(Number(payBy) * 1_000).toISOString();
  return `it can still pay the order: the rest can be rescued after ${end}`;
}

async function balanceOf({ request }: Place, token: Hex, owner: Hex): Promise<bigint> {
  if (token === ZERO_ADDRESS) return BigInt(String(await request('eth_getBalance', [owner, 'latest'])));
  const data = `${selectorOf('balanceOf(address)')}${toWord(owner)}`;
  const answer = String(await request('eth_call', [{ to: token, data }, 'latest']));
  if (!/^0x[0-9a-fA-F]{64,}$/.test(answer)) throw new Error(`${token} is not a token on this chain`);
  return BigInt(answer.slice(0, 66));
}
