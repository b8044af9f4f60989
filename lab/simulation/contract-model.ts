import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { type Hex, type Order, orderKinds } from '@florin/protocol/order.ts';
import { permit2Address, receiverOf } from '@florin/server/parts';
import { decodeFunctionData, zeroAddress, zeroHash } from 'viem';
import { type BatchedCall, callsIn } from './batch.ts';
import { executeTransmitter } from './circle-model.ts';
import { logGateway, logOther } from './contract-logs.ts';
import {
  balanceOf,
  type Call,
  type CallContext,
  type CallInProgress,
  type CallResult,
  type ContractState,
  isSettler,
  Reverted,
  statuses,
} from './contract-state.ts';
import { idOf, setStatus, statusOf } from './order-book-model.ts';
import { accrue, settle } from './settlement-model.ts';
import {
  executeToken,
  isSame,
  pullExact,
  send,
  transfer,
  transferFrom,
  tryPullExact,
} from './token-model.ts';
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
      pullPayment(run, order, open(run, order, args[1] as Hex));
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

const mostSecondsToSettle = 120 * 86_400;

function checkTerms(context: CallContext, order: Order): void {
  const { chainId, timeSeconds, gateway } = context;
  const { payer, token, to, total, payment, fee, payBy, reclaimAt, targetChain, via } = order;
  const orderType: number = order.orderType;
  if (BigInt(timeSeconds) > payBy) throw new Reverted('PaymentDeadlinePassed');
  const isInTime =
    reclaimAt >= payBy + BigInt(context.leastSecondsToSettle) &&
    reclaimAt <= BigInt(timeSeconds + mostSecondsToSettle);
  if (!isInTime) throw new Reverted('WrongReclaimTime');
  const isCctp = orderType === orderKinds.cctp;
  if (orderType > orderKinds.cctp) throw new Reverted('UnsupportedOrderType');
  const isHere = targetChain === BigInt(chainId);
  const isWrongTarget = isHere ? isCctp : orderType < orderKinds.vaultPayout || targetChain === 0n;
  if (isWrongTarget) throw new Reverted('WrongTargetChain');
  if ([payer, token, to].includes(zeroAddress)) throw new Reverted('ZeroAddress');
  if (isSame(payer, gateway) || isSame(to, gateway)) throw new Reverted('WrongRecipient');
  const isVia = via !== zeroAddress;
  if (isVia !== orderType >= orderKinds.vaultPayout || isSame(via, gateway)) throw new Reverted('WrongVia');
  const areAmountsValid = total > 0n && total < 2n ** 128n && fee <= total && payment <= total;
  if (!areAmountsValid || (total !== payment && total - payment !== fee)) throw new Reverted('WrongAmounts');
}

/** The payment itself settles a direct order, and logs that in one event. */
function pullPayment(run: CallInProgress, order: Order, orderId: Hex): void {
  const { gateway, feeRecipient } = run.context;
  const { token, total, fee, to, payer } = order;
  if (order.orderType !== orderKinds.direct) {
    pullExact(run, token, payer, gateway, total);
    return;
  }
  if (total !== fee) pullExact(run, token, payer, to, total - fee);
  if (fee === 0n || tryPullExact(run, token, payer, feeRecipient, fee)) return;
  pullExact(run, token, payer, gateway, fee);
  accrueFee(run, order, orderId);
}

/** The token refuses the fee recipient of a direct order: the fee waits in the gateway. */
function accrueFee(run: CallInProgress, order: Order, orderId: Hex): void {
  accrue(run, order);
  logGateway(run, 'FeeAccrued', { orderId, token: order.token, value: order.fee });
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
  const orderId = open(run, order, signed);
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
  passOn(run, order, orderId);
}

/** Like PaymentGateway._keepOrPassOn: a direct order's money leaves again, but for a fee that its recipient refuses. */
function passOn(run: CallInProgress, order: Order, orderId: Hex): void {
  const { gateway, feeRecipient } = run.context;
  const { token, total, fee, to } = order;
  if (order.orderType !== orderKinds.direct) return;
  if (total !== fee) send(run, token, gateway, to, total - fee);
  if (fee === 0n || transfer(run, token, gateway, feeRecipient, fee)) return;
  accrueFee(run, order, orderId);
}

function collect(run: CallInProgress, order: Order, signature: Hex): void {
  const { gateway } = run.context;
  const orderId = open(run, order, signature);
  const receiver = receiverOf(gateway, orderId);
  logGateway(run, 'Collected', { orderId, receiver });
  send(run, order.token, receiver, gateway, order.total);
  passOn(run, order, orderId);
}

function rescue(run: CallInProgress, order: Order, token: Hex): void {
  const { gateway, timeSeconds } = run.context;
  const orderId = idOf(run, order);
  if (order.payer === zeroAddress) throw new Reverted('ZeroAddress');
  const isUsed = order.metaData === zeroHash || run.state.slots.has(order.metaData);
  const isInTime =
    BigInt(timeSeconds) <= order.payBy && order.payBy <= BigInt(timeSeconds + mostSecondsToSettle);
  if (isInTime && !isUsed && isSame(token, order.token)) throw new Reverted('StillCollectable');
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
  const remaining = order.total - before;
  if (amount === 0n || remaining === 0n) throw new Reverted('WrongRefund');
  const value = amount < remaining ? amount : remaining;
  const refunded = before + value;
  run.state = { ...run.state, refunded: new Map(run.state.refunded).set(orderId, refunded) };
  const { payer, token, metaData } = order;
  const values = { orderId, payer, from: run.from, token, value, refundedTotal: refunded, metaData };
  logGateway(run, 'SettlementRefunded', values);
  pullExact(run, token, run.from, payer, value);
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
