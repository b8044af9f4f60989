import type { Hex, Order } from '@florin/protocol/order.ts';
import { orderIdOf } from '@florin/server/parts';
import { type CallInProgress, type ContractState, type Status, statuses } from './contract-state.ts';

const orderIds = new Map<string, Hex>();

/** The id of an order. It is cached, because the same orders recur. */
export function modelOrderId(chainId: number, gateway: Hex, order: Order): Hex {
  const key = `${chainId}${gateway}${Object.values(order).join()}`;
  const cached = orderIds.get(key);
  if (cached !== undefined) return cached;
  if (orderIds.size > 2_000) orderIds.clear();
  const orderId = orderIdOf(chainId, gateway, order);
  orderIds.set(key, orderId);
  return orderId;
}

/** The id of an order on the chain of a call. */
export function idOf({ context }: CallInProgress, order: Order): Hex {
  return modelOrderId(context.chainId, context.gateway, order);
}

/** Writes an order's single-use key; the first time is the payment. */
export function setStatus(run: CallInProgress, { metaData }: Order, orderId: Hex, status: Status): void {
  const paidAtSeconds = run.state.slots.get(metaData)?.paidAtSeconds ?? run.context.timeSeconds;
  const slots = new Map(run.state.slots).set(metaData, { orderId, status, paidAtSeconds });
  run.state = { ...run.state, slots };
}

/** The status of this very order. */
export function statusOf(state: ContractState, order: Order, orderId: Hex): Status {
  const slot = state.slots.get(order.metaData);
  return slot?.orderId === orderId ? slot.status : statuses.unknown;
}
