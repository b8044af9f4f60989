import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { type Hex, type Order, orderKinds } from '@florin/protocol/order.ts';
import { orderIdOf, permit2Address, receiverOf } from '@florin/server/parts';
import { decodeFunctionData, zeroAddress, zeroHash } from 'viem';
import { type BatchedCall, callsIn } from './batch.ts';
import { executeTransmitter, sendByRoute } from './circle-model.ts';
import { logGateway, logOther, logSettled } from './contract-logs.ts';
import {
  balanceOf,
  type Call,
  type CallContext,
  type CallInProgress,
  type CallResult,
  type ContractState,
  isSettler,
  Reverted,
  type Status,
  statuses,
} from './contract-state.ts';
import { executeToken, isSame, pullExact, send, transfer, transferFrom } from './token-model.ts';
import { executeVault } from './vault-model.ts';

/**
 * The behaviour of PaymentGateway, PayoutVault, CctpRoute, Circle's transmitter and the tokens on one chain. Logs use
 * the contracts' own ABI, so that production parsers can read them. `lab/differential` compares the model with the
 * contracts, call by call.
 */
export function execute(context: CallContext, state: ContractState, call: Call): CallResult {
  const run: CallInProgress = { context, from: call.from, state, logs: [] };
  try {
    callContract(run, call.to, call.data);
  } catch (error) {
    if (error instanceof Reverted) return { reverted: error.message };
    throw error;
  }
  return { state: run.state, logs: run.logs };
}

function callContract(run: CallInProgress, to: Hex, data: Hex): void {
  const { gateway, vault, circle, tokens, batcher } = run.context;
  if (isSame(to, gateway)) {
    executeGateway(run, data);
    return;
  }
  if (isSame(to, vault)) {
    executeVault(run, data);
    return;
  }
  if (circle !== undefined && isSame(to, circle.transmitter)) {
    executeTransmitter(run, circle, data);
    return;
  }
  if (isSame(to, batcher)) {
    for (const each of callsIn(data)) tryCall(run, batcher, each);
    return;
  }
  const token = tokens.find((candidate) => isSame(candidate, to));
  // Otherwise an empty transfer, by which the sender fills a nonce gap.
  if (token !== undefined) executeToken(run, token, data);
}

/** A call by a contract within another transaction. A revert undoes only this call. */
function tryCall(run: CallInProgress, from: Hex, { to, data }: BatchedCall): void {
  const inner: CallInProgress = { ...run, from, logs: [] };
  try {
    callContract(inner, to, data);
  } catch (error) {
    if (error instanceof Reverted) return;
    throw error;
  }
  run.state = inner.state;
  run.logs.push(...inner.logs);
}

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

function idOf({ context }: CallInProgress, order: Order): Hex {
  return modelOrderId(context.chainId, context.gateway, order);
}

function executeGateway(run: CallInProgress, data: Hex): void {
  const { functionName, args } = decodeFunctionData({ abi: paymentGatewayAbi, data });
  if (functionName === 'settle') {
    settle(run, args[0] as readonly Order[]);
    return;
  }
  if (functionName === 'withdrawFees') {
    withdrawFees(run, args[0] as Hex);
    return;
  }
  if (functionName === 'pause' || functionName === 'unpause') {
    setPaused(run, functionName === 'pause');
    return;
  }
  const order = args[0] as Order;
  switch (functionName) {
    case 'pay':
      requirePayer(run, order);
      open(run, order, args[1] as Hex);
      pullPayment(run, order);
      return;
    case 'payWithAuthorization':
      payBySignature(run, order, {
        method: 'eip3009',
        signed: args[1] as Hex,
        consent: args[2] as Hex,
      });
      return;
    case 'payWithPermit2': {
      const [signed, nonce, consent] = args.slice(1) as unknown as [Hex, bigint, Hex];
      payBySignature(run, order, { method: 'permit2', signed, nonce, consent });
      return;
    }
    case 'collect':
      collect(run, order, args[1] as Hex);
      return;
    case 'rescue':
      rescue(run, order, args[1] as Hex);
      return;
    case 'refund':
      if (!isSettler(run.context, run.from)) throw new Reverted('Unauthorized');
      returnPayment(run, order, 'Refunded');
      return;
    case 'reclaim':
      requirePayer(run, order);
      if (BigInt(run.context.timeSeconds) < order.reclaimAt) throw new Reverted('ReclaimTooEarly');
      returnPayment(run, order, 'Reclaimed');
      return;
    case 'refundSettled':
      refundSettled(run, order, args[1] as bigint);
      return;
    default:
      throw new Error(`the model of the gateway has no ${functionName}`);
  }
}

function requirePayer(run: CallInProgress, order: Order): void {
  if (!isSame(run.from, order.payer)) throw new Reverted('NotPayer');
}

/** Like OrderBook._open: uses up the order's key and logs the payment. */
function open(run: CallInProgress, order: Order, signature: Hex): Hex {
  checkTerms(run.context, order);
  const orderId = idOf(run, order);
  if (run.state.isPaused) throw new Reverted('ContractPaused');
  const isSigned =
    signature === '0x'
      ? isSame(run.from, run.context.orderSigner)
      : run.context.isOrderSigned(orderId, order, signature);
  if (!isSigned) throw new Reverted('InvalidSignature');
  if (order.metaData === zeroHash || run.state.slots.has(order.metaData)) throw new Reverted('MetaDataUsed');
  const isDirect = order.orderType === orderKinds.direct;
  setStatus(run, order, orderId, isDirect ? statuses.settled : statuses.paid);
  const { channelId, metaData, payer, to, token, total, payment, fee, orderType } = order;
  const values = { totalValue: total, paymentValue: payment, feeValue: fee, orderType, metaData };
  logGateway(run, 'Paid', { orderId, channelId, from: payer, to, token, ...values });
  return orderId;
}

function checkTerms({ chainId, timeSeconds, circle, gateway }: CallContext, order: Order): void {
  const { token, to, total, payment, fee, payBy, targetChain } = order;
  const orderType: number = order.orderType;
  if (BigInt(timeSeconds) > payBy) throw new Reverted('PaymentDeadlinePassed');
  const isCctp = orderType === orderKinds.cctp;
  if (orderType > orderKinds.cctp || (isCctp && circle === undefined))
    throw new Reverted('UnsupportedOrderType');
  const isHere = targetChain === BigInt(chainId);
  const isWrongTarget = isHere ? isCctp : orderType < orderKinds.vaultPayout || targetChain === 0n;
  if (isWrongTarget) throw new Reverted('WrongTargetChain');
  if (token === zeroAddress || to === zeroAddress) throw new Reverted('ZeroAddress');
  if (isSame(to, gateway)) throw new Reverted('WrongRecipient');
  const areAmountsValid = total > 0n && total < 2n ** 128n && fee <= total && payment <= total;
  if (!areAmountsValid || (total !== payment && total - payment !== fee)) throw new Reverted('WrongAmounts');
}

function setStatus(run: CallInProgress, { metaData }: Order, orderId: Hex, status: Status): void {
  run.state = { ...run.state, slots: new Map(run.state.slots).set(metaData, { orderId, status }) };
}

function statusOf(state: ContractState, order: Order, orderId: Hex): Status {
  const slot = state.slots.get(order.metaData);
  return slot?.orderId === orderId ? slot.status : statuses.unknown;
}

/** The payment itself settles a direct order, and logs that in one event. */
function pullPayment(run: CallInProgress, order: Order): void {
  const { gateway, feeRecipient } = run.context;
  const { token, total, fee, to, payer } = order;
  if (order.orderType !== orderKinds.direct) {
    pullExact(run, token, payer, gateway, total);
    return;
  }
  if (total !== fee) pullExact(run, token, payer, to, total - fee);
  if (fee !== 0n) pullExact(run, token, payer, feeRecipient, fee);
}

/** Payments that the service sends for the payer must have a way back. */
function openRelayed(run: CallInProgress, order: Order, signature: Hex): Hex {
  if (order.payer === zeroAddress) throw new Reverted('ZeroAddress');
  if (isSame(order.payer, run.context.gateway)) throw new Reverted('WrongRecipient');
  return open(run, order, signature);
}

interface SignedPayment {
  readonly method: 'eip3009' | 'permit2';
  /** `signed` is the service's signature, `consent` the payer's. */
  readonly signed: Hex;
  readonly consent: Hex;
  /** Permit2's nonce. The nonce of an EIP-3009 authorization is the order's id. */
  readonly nonce?: bigint;
}

function payBySignature(run: CallInProgress, order: Order, payment: SignedPayment): void {
  const { method, signed, consent: signature } = payment;
  const { gateway } = run.context;
  const orderId = openRelayed(run, order, signed);
  const { token, payer, total } = order;
  const refusal = method === 'eip3009' ? 'TransferFailed' : 'Permit2Failed';
  const nonce = payment.nonce ?? BigInt(orderId);
  const nonceKey = `${method} ${payer} ${nonce} ${method === 'eip3009' ? token : ''}`.toLowerCase();
  const isSigned = run.context.isConsentSigned({ method, orderId, order, nonce, signature });
  if (!isSigned || run.state.usedNonces.has(nonceKey)) throw new Reverted(refusal);
  run.state = { ...run.state, usedNonces: new Set(run.state.usedNonces).add(nonceKey) };
  if (method === 'eip3009') logOther(run, token, 'AuthorizationUsed', { authorizer: payer, nonce: orderId });
  const moved =
    method === 'eip3009'
      ? transfer(run, token, payer, gateway, total)
      : transferFrom(run, token, { spender: permit2Address, from: payer, to: gateway, value: total });
  if (!moved) throw new Reverted(refusal);
  if (order.orderType === orderKinds.direct) forward(run, order, gateway);
}

/** Forwards the money of a direct order and leaves no residue. */
function forward(run: CallInProgress, order: Order, holder: Hex): void {
  const { token, total, fee, to } = order;
  if (total !== fee) send(run, token, holder, to, total - fee);
  if (fee !== 0n) send(run, token, holder, run.context.feeRecipient, fee);
}

function collect(run: CallInProgress, order: Order, signature: Hex): void {
  const { gateway } = run.context;
  const orderId = openRelayed(run, order, signature);
  const receiver = receiverOf(gateway, orderId);
  logGateway(run, 'Collected', { orderId, receiver });
  if (order.orderType === orderKinds.direct) {
    forward(run, order, receiver);
    return;
  }
  send(run, order.token, receiver, gateway, order.total);
}

function rescue(run: CallInProgress, order: Order, token: Hex): void {
  const { gateway, timeSeconds } = run.context;
  const orderId = idOf(run, order);
  if (order.payer === zeroAddress) throw new Reverted('ZeroAddress');
  const isUsed = order.metaData === zeroHash || run.state.slots.has(order.metaData);
  const isCollectable = BigInt(timeSeconds) <= order.payBy && !isUsed;
  if (isCollectable && isSame(token, order.token)) throw new Reverted('StillCollectable');
  const receiver = receiverOf(gateway, orderId);
  const amount = balanceOf(run.state, receiver, token);
  if (amount === 0n) throw new Reverted('NothingToRescue');
  logGateway(run, 'Rescued', { orderId, payer: order.payer, token, value: amount });
  send(run, token, receiver, order.payer, amount);
}

function returnPayment(run: CallInProgress, order: Order, name: 'Refunded' | 'Reclaimed'): void {
  const orderId = idOf(run, order);
  if (statusOf(run.state, order, orderId) !== statuses.paid) throw new Reverted('OrderNotOpen');
  setStatus(run, order, orderId, name === 'Refunded' ? statuses.refunded : statuses.reclaimed);
  const { payer, token, total, metaData } = order;
  logGateway(run, name, { orderId, payer, token, value: total, metaData });
  send(run, token, run.context.gateway, payer, total);
}

function refundSettled(run: CallInProgress, order: Order, amount: bigint): void {
  const orderId = idOf(run, order);
  if (statusOf(run.state, order, orderId) !== statuses.settled) throw new Reverted('OrderNotSettled');
  const before = run.state.refunded.get(orderId) ?? 0n;
  if (amount === 0n || amount > order.total - before) throw new Reverted('WrongRefund');
  const refunded = before + amount;
  run.state = { ...run.state, refunded: new Map(run.state.refunded).set(orderId, refunded) };
  const { payer, token, metaData } = order;
  const values = { orderId, payer, token, value: amount, refundedTotal: refunded, metaData };
  logGateway(run, 'SettlementRefunded', values);
  pullExact(run, token, run.from, payer, amount);
}

function withdrawFees(run: CallInProgress, token: Hex): void {
  const { gateway, feeRecipient } = run.context;
  const key = token.toLowerCase();
  const accrued = run.state.accruedFees.get(key) ?? 0n;
  // One unit stays, which makes the next payment cheaper.
  if (accrued <= 1n) throw new Reverted('NothingToWithdraw');
  run.state = { ...run.state, accruedFees: new Map(run.state.accruedFees).set(key, 1n) };
  logGateway(run, 'FeesWithdrawn', { token, to: feeRecipient, value: accrued - 1n });
  send(run, token, gateway, feeRecipient, accrued - 1n);
}

function setPaused(run: CallInProgress, isPaused: boolean): void {
  const { admin, guardian } = run.context;
  const mayCall = isSame(run.from, admin) || (isPaused && isSame(run.from, guardian));
  if (!mayCall) throw new Reverted('Unauthorized');
  if (run.state.isPaused === isPaused) throw new Reverted(isPaused ? 'ContractPaused' : 'ContractNotPaused');
  run.state = { ...run.state, isPaused };
  logGateway(run, isPaused ? 'Paused' : 'Unpaused', { by: run.from });
}

/** Like Settlement.settle: consecutive orders with the same token and recipient share one transfer. */
function settle(run: CallInProgress, orders: readonly Order[]): void {
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
    const to = order.orderType === orderKinds.vaultPayout ? run.context.vault : order.to;
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
  const route = run.context.circle?.route ?? zeroAddress;
  if (order.total !== order.fee && !sendByRoute(run, orderId, order)) {
    logGateway(run, 'SettleSkipped', { orderId, reason: 5 });
    return;
  }
  setStatus(run, order, orderId, statuses.settled);
  logSettled(run, orderId, order, route);
  accrue(run, order);
}

function accrue(run: CallInProgress, { token, fee }: Order): void {
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
  return order.orderType > orderKinds.direct && !isSettler(run.context, run.from) ? 4 : 0;
}
