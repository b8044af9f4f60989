import { type Hex, type Order, orderKinds } from '@florin/protocol/order.ts';
import { zeroAddress } from 'viem';
import { sendByRoute } from './circle-model.ts';
import { logGateway, logSettled } from './contract-logs.ts';
import { type CallInProgress, isSettler, statuses } from './contract-state.ts';
import { idOf, setStatus, statusOf } from './order-book-model.ts';
import { isSame, transfer } from './token-model.ts';

/** Like Settlement.settle: consecutive orders with the same token and recipient share one transfer. */
export function settle(run: CallInProgress, orders: readonly Order[]): void {
  let next = 0;
  while (next < orders.length) next = settleGroup(run, orders, next);
}

interface GroupedOrder {
  readonly order: Order;
  readonly orderId: Hex;
}

function settleGroup(run: CallInProgress, orders: readonly Order[], start: number): number {
  const group: GroupedOrder[] = [];
  let [token, recipient]: [Hex, Hex] = [zeroAddress, zeroAddress];
  let next = start;
  for (; next < orders.length; next += 1) {
    const order = orders[next];
    if (order === undefined) break;
    const orderId = idOf(run, order);
    const reason = skipReason(run, order, orderId);
    if (reason !== 0) {
      logGateway(run, 'SettleSkipped', { orderId, reason });
      continue;
    }
    if (order.orderType === orderKinds.cctp) {
      if (group.length > 0) break;
      settleByRoute(run, order, orderId);
      return next + 1;
    }
    const to = order.orderType === orderKinds.vaultPayout ? order.via : order.to;
    if (group.length === 0) [token, recipient] = [order.token, to];
    else if (!isSame(recipient, to) || !isSame(token, order.token)) break;
    setStatus(run, order, orderId, statuses.settled);
    group.push({ order, orderId });
  }
  closeGroup(run, group, token, recipient);
  return next;
}

function closeGroup(run: CallInProgress, group: readonly GroupedOrder[], token: Hex, recipient: Hex): void {
  const net = group.reduce((sum, { order }) => sum + order.total - order.fee, 0n);
  if (net === 0n || transfer(run, token, run.context.gateway, recipient, net)) {
    for (const { order, orderId } of group) {
      logSettled(run, orderId, order, recipient);
      accrue(run, order);
    }
    return;
  }
  for (const { order, orderId } of group) {
    setStatus(run, order, orderId, statuses.paid);
    logGateway(run, 'SettleSkipped', { orderId, reason: 3 });
  }
}

function settleByRoute(run: CallInProgress, order: Order, orderId: Hex): void {
  if (order.total !== order.fee && !sendByRoute(run, orderId, order)) {
    logGateway(run, 'SettleSkipped', { orderId, reason: 5 });
    return;
  }
  setStatus(run, order, orderId, statuses.settled);
  logSettled(run, orderId, order, order.via);
  accrue(run, order);
}

export function accrue(run: CallInProgress, { token, fee }: Order): void {
  const key = token.toLowerCase();
  const accruedFees = new Map(run.state.accruedFees);
  accruedFees.set(key, (accruedFees.get(key) ?? 0n) + fee);
  run.state = { ...run.state, accruedFees };
}

/** Numbers of IPaymentGateway; 0: not skipped. */
function skipReason(run: CallInProgress, order: Order, orderId: Hex): number {
  const status = statusOf(run.state, order, orderId);
  const isRepeated = status === statuses.settled && !run.context.isIdempotent;
  if (status === statuses.unknown) return 1;
  if (status !== statuses.paid && !isRepeated) return 2;
  const { timeSeconds, settlersOnlySeconds } = run.context;
  if (BigInt(timeSeconds) >= order.reclaimAt) return 6;
  if (isSettler(run.context, run.from)) return 0;
  const paidAtSeconds = run.state.slots.get(order.metaData)?.paidAtSeconds ?? 0;
  const isOpenToAll = timeSeconds >= paidAtSeconds + settlersOnlySeconds;
  return order.orderType === orderKinds.escrow && isOpenToAll ? 0 : 4;
}
