import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { type Hex, type Order, orderKinds, type Payout } from '@florin/protocol/order.ts';
import {
  type Abi,
  type AbiEvent,
  decodeFunctionData,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
} from 'viem';
import { orderIdOf } from '#sessions/order-signer.ts';

/**
 * What PaymentGateway and PayoutVault do, as far as the service uses them today: pay, settle, refund, reclaim and
 * payoutBatch. Logs are encoded by the contracts' own ABI, so that production parsers read them.
 */

/** What became of an order key. */
export interface OrderSlot {
  readonly orderId: Hex;
  readonly status: 'paid' | 'settled' | 'refunded' | 'reclaimed';
}

/** Everything that the contracts of one chain have stored. Never changed: a call gives a new one. */
export interface ContractState {
  /** By metaData, the single-use key of a session. */
  readonly slots: ReadonlyMap<Hex, OrderSlot>;
  readonly paidOut: ReadonlySet<Hex>;
  /** Token balances by `<holder>:<token>`; holders are gateway, vault, fees and lower-case addresses. */
  readonly balances: ReadonlyMap<string, bigint>;
  /** Token holders that the token refuses, lower case. */
  readonly blocked: ReadonlySet<string>;
}

export const emptyState: ContractState = {
  slots: new Map(),
  paidOut: new Set(),
  balances: new Map(),
  blocked: new Set(),
};

/** One log of a call, without its place in a block. */
export interface ModelLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly name: string;
  readonly orderId: Hex;
}

/** Where and when a call is made. */
export interface CallContext {
  readonly chainId: number;
  readonly gateway: Hex;
  readonly vault: Hex;
  readonly settler: Hex;
  readonly timeSeconds: number;
  /** False where a seeded bug takes away that an order settles once. */
  readonly isIdempotent: boolean;
  readonly signPayout: (payout: Payout) => Hex;
}

export interface Call {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/** What a call did; undefined: it reverted and changed nothing. */
export type CallResult = { readonly state: ContractState; readonly logs: readonly ModelLog[] } | undefined;

/** Makes one call on a state. */
export function execute(context: CallContext, state: ContractState, call: Call): CallResult {
  const to = call.to.toLowerCase();
  if (to === context.gateway.toLowerCase()) return executeGateway(context, state, call);
  if (to === context.vault.toLowerCase()) return executeVault(context, state, call);
  // A transfer of nothing, by which the sender fills a nonce.
  return { state, logs: [] };
}

const orderIds = new Map<string, Hex>();

/** The id of an order; remembered, because the same orders come by again and again. */
export function modelOrderId(chainId: number, gateway: Hex, order: Order): Hex {
  const key = `${chainId}${gateway}${order.metaData}${order.payer}${order.token}${order.total}${order.payBy}${order.orderType}`;
  const known = orderIds.get(key);
  if (known !== undefined) return known;
  if (orderIds.size > 2_000) orderIds.clear();
  const orderId = orderIdOf(chainId, gateway, order);
  orderIds.set(key, orderId);
  return orderId;
}

function executeGateway(context: CallContext, state: ContractState, call: Call): CallResult {
  const { functionName, args } = decodeFunctionData({ abi: paymentGatewayAbi, data: call.data });
  switch (functionName) {
    case 'pay':
      return pay(context, state, call.from, args[0] as Order);
    case 'settle':
      return settle(context, state, call.from, args[0] as readonly Order[]);
    case 'refund':
      if (call.from.toLowerCase() !== context.settler.toLowerCase()) return undefined;
      return giveBack(context, state, args[0] as Order, 'refunded');
    case 'reclaim': {
      const order = args[0] as Order;
      if (call.from.toLowerCase() !== order.payer.toLowerCase()) return undefined;
      if (BigInt(context.timeSeconds) < order.reclaimAt) return undefined;
      return giveBack(context, state, order, 'reclaimed');
    }
    default:
      throw new Error(`the model of the gateway has no ${functionName}`);
  }
}

function pay(context: CallContext, state: ContractState, from: Hex, order: Order): CallResult {
  if (from.toLowerCase() !== order.payer.toLowerCase()) return undefined;
  if (BigInt(context.timeSeconds) > order.payBy || state.slots.has(order.metaData)) return undefined;
  const orderId = modelOrderId(context.chainId, context.gateway, order);
  const { channelId, metaData, to, token, total, payment, fee, orderType } = order;
  const isDirect = orderType === orderKinds.direct;
  const paid = gatewayLog(context, 'Paid', {
    orderId,
    channelId,
    from: order.payer,
    to,
    token,
    totalValue: total,
    paymentValue: payment,
    feeValue: fee,
    orderType,
    metaData,
  });
  const slots = new Map(state.slots).set(metaData, { orderId, status: isDirect ? 'settled' : 'paid' });
  const received = isDirect
    ? move(move(state.balances, to, token, total - fee), 'fees', token, fee)
    : move(state.balances, 'gateway', token, total);
  const logs = isDirect ? [paid, settledLog(context, orderId, order, to)] : [paid];
  return { state: { ...state, slots, balances: move(received, order.payer, token, -total) }, logs };
}

function settle(context: CallContext, state: ContractState, from: Hex, orders: readonly Order[]): CallResult {
  const slots = new Map(state.slots);
  let { balances } = state;
  const logs: ModelLog[] = [];
  const isSettler = from.toLowerCase() === context.settler.toLowerCase();
  for (const order of orders) {
    const orderId = modelOrderId(context.chainId, context.gateway, order);
    const slot = slots.get(order.metaData);
    const status = slot?.orderId === orderId ? slot.status : undefined;
    const isPayout = order.orderType === orderKinds.vaultPayout;
    const recipient = isPayout ? context.vault : order.to;
    const again = status === 'settled' && !context.isIdempotent;
    const reason = skipReason(again ? 'paid' : status, {
      isAllowed: isSettler || !isPayout,
      isBlocked: state.blocked.has(recipient.toLowerCase()),
    });
    if (reason !== 0) {
      logs.push(gatewayLog(context, 'SettleSkipped', { orderId, reason }));
      continue;
    }
    slots.set(order.metaData, { orderId, status: 'settled' });
    const net = order.total - order.fee;
    balances = move(balances, 'gateway', order.token, -net);
    balances = move(balances, isPayout ? 'vault' : order.to, order.token, net);
    logs.push(settledLog(context, orderId, order, recipient));
  }
  return { state: { ...state, slots, balances }, logs };
}

/** By the numbers of IPaymentGateway; 0: not skipped. */
function skipReason(
  status: OrderSlot['status'] | undefined,
  { isAllowed, isBlocked }: { isAllowed: boolean; isBlocked: boolean },
): number {
  if (status === undefined) return 1;
  if (status !== 'paid') return 2;
  if (!isAllowed) return 4;
  return isBlocked ? 3 : 0;
}

function giveBack(
  context: CallContext,
  state: ContractState,
  order: Order,
  status: 'refunded' | 'reclaimed',
): CallResult {
  const orderId = modelOrderId(context.chainId, context.gateway, order);
  const slot = state.slots.get(order.metaData);
  if (slot?.orderId !== orderId || slot.status !== 'paid') return undefined;
  const { payer, token, total, metaData } = order;
  const name = status === 'refunded' ? 'Refunded' : 'Reclaimed';
  const balances = move(move(state.balances, 'gateway', token, -total), payer, token, total);
  const slots = new Map(state.slots).set(metaData, { orderId, status });
  const logs = [gatewayLog(context, name, { orderId, payer, token, value: total, metaData })];
  return { state: { ...state, slots, balances }, logs };
}

function executeVault(context: CallContext, state: ContractState, call: Call): CallResult {
  if (call.from.toLowerCase() !== context.settler.toLowerCase()) return undefined;
  const { functionName, args } = decodeFunctionData({ abi: payoutVaultAbi, data: call.data });
  if (functionName !== 'payoutBatch') throw new Error(`the model of the vault has no ${functionName}`);
  const [payouts, signatures] = args as [readonly Payout[], readonly Hex[]];
  const paidOut = new Set(state.paidOut);
  let { balances } = state;
  const logs: ModelLog[] = [];
  for (const [index, payout] of payouts.entries()) {
    const { orderId, channelId, metaData, sourceChain, token, to, amount } = payout;
    const left = balances.get(balanceKey('vault', token)) ?? 0n;
    const isSigned = signatures[index] === context.signPayout(payout);
    const reason =
      paidOut.has(orderId) && context.isIdempotent
        ? 1
        : !isSigned
          ? 3
          : amount > left || state.blocked.has(to.toLowerCase())
            ? 8
            : 0;
    if (reason !== 0) {
      logs.push(vaultLog(context, 'PayoutSkipped', { orderId, reason }));
      continue;
    }
    paidOut.add(orderId);
    balances = move(move(balances, 'vault', token, -amount), to, token, amount);
    logs.push(vaultLog(context, 'PaidOut', { orderId, channelId, to, token, amount, sourceChain, metaData }));
  }
  return { state: { ...state, paidOut, balances }, logs };
}

/** The name of a balance. */
export function balanceKey(holder: string, token: Hex): string {
  return `${holder.toLowerCase()}:${token.toLowerCase()}`;
}

function move(
  balances: ReadonlyMap<string, bigint>,
  holder: string,
  token: Hex,
  change: bigint,
): ReadonlyMap<string, bigint> {
  const key = balanceKey(holder, token);
  return new Map(balances).set(key, (balances.get(key) ?? 0n) + change);
}

/** The state with more of a token in a holder's hands, from outside the model. */
export function funded(state: ContractState, holder: string, token: Hex, amount: bigint): ContractState {
  return { ...state, balances: move(state.balances, holder, token, amount) };
}

function settledLog(context: CallContext, orderId: Hex, order: Order, to: Hex): ModelLog {
  const { channelId, metaData, token, total, fee } = order;
  const values = { orderId, channelId, to, token, netValue: total - fee, feeValue: fee, metaData };
  return gatewayLog(context, 'Settled', values);
}

type Values = Readonly<Record<string, unknown>> & { readonly orderId: Hex };

function gatewayLog(context: CallContext, name: string, values: Values): ModelLog {
  return logOf(paymentGatewayAbi, context.gateway, name, values);
}

function vaultLog(context: CallContext, name: string, values: Values): ModelLog {
  return logOf(payoutVaultAbi, context.vault, name, values);
}

function logOf(abi: Abi, address: Hex, name: string, values: Values): ModelLog {
  const event = abi.find((item): item is AbiEvent => item.type === 'event' && item.name === name);
  if (event === undefined) throw new Error(`no event ${name}`);
  const plain = event.inputs.filter((input) => input.indexed !== true);
  const topics = encodeEventTopics({ abi: [event], eventName: name, args: addressed(values) });
  return {
    address: address.toLowerCase() as Hex,
    topics: topics.map((topic) => String(topic).toLowerCase() as Hex),
    data: encodeAbiParameters(
      plain,
      plain.map((input) => values[input.name ?? '']),
    ),
    name,
    orderId: values.orderId,
  };
}

/** viem wants addresses with their checksums. */
function addressed(values: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length === 42 ? getAddress(value) : value,
    ]),
  );
}
