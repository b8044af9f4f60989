import type { Queryable, Transaction } from '@florin/pg';
import {
  type ExceptionPolicy,
  type LatePayment,
  maxUnderpaidPpm,
} from '@florin/protocol/exception-policy.ts';
import { type PaymentAmounts, toleranceOf } from '@florin/protocol/fee.ts';
import { type MicroUsd, maxMicroUsd, microUsd, toTokenAmount } from '@florin/protocol/money.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import { getAddress, isAddress } from 'viem';
import { findExceptionPolicy } from '#links/link-lookup.ts';
import type { DepositPolicy, OrderContext, OrderRequest } from './context.ts';
import {
  addressesOfWalletOrders,
  type DepositTermsRow,
  insertDepositTerms,
  termsOfOrders,
  termsOfWalletOrder,
} from './deposit-terms.sql.ts';
import { draftOrder, findOrder, storeOrder, unsigned } from './order.ts';
import type { StoredOrder } from './stored-order.ts';

/** The terms of one deposit address, as the payer saw them. */
export interface DepositTerms {
  readonly orderId: string;
  /** How much may be missing from the total of a paid deposit, in units of the token. */
  readonly tolerance: bigint;
  /** The most that the operator adds when a merchant accepts a short deposit; never less than the tolerance. */
  readonly mostAdded: bigint;
  readonly latePayment: LatePayment;
}

/** The order whose receiver contract is a payer's deposit address. */
export interface OrderWithTerms {
  readonly order: StoredOrder;
  readonly terms: DepositTerms;
}

/** Time for a deposit that arrived in time to become final and be collected after the session's end, in seconds. */
const additionSeconds = 3_600;

/**
 * Stores the terms of a payer's deposit address, next to the order for the payer's wallet. The address belongs to an
 * order of its own. That order is payable for longer, and the service signs it only to collect the deposit. Undefined
 * where only a full deposit in time pays: then the wallet's order has the address.
 */
export async function prepareDeposit(
  transaction: Transaction,
  deps: OrderContext,
  request: OrderRequest,
  walletOrder: StoredOrder,
): Promise<OrderWithTerms | undefined> {
  const depositPolicy = deps.gasless?.deposits;
  if (depositPolicy === undefined) return undefined;
  const earlier = await findDeposit(transaction, walletOrder.orderId);
  if (earlier !== undefined) {
    const again = { ...earlier.order, payerEmail: request.payerEmail, withSecret: walletOrder.withSecret };
    await storeOrder(transaction, again, deps.clock.now(), request);
    return earlier;
  }
  const { businessId } = request.session;
  const given = businessId === '' ? undefined : await findExceptionPolicy(transaction, businessId);
  const latePayment = given?.latePayment ?? depositPolicy.latePayment;
  const { tolerance, mostAdded } = tolerancesOf(depositPolicy, given, walletOrder.amounts);
  const isLateReturned = latePayment === 'return';
  if (isLateReturned && tolerance === 0n) return undefined;
  const lateSeconds = isLateReturned
    ? additionSeconds
    : (given?.lateHours ?? depositPolicy.lateHours) * 3_600;
  // The settlement mode was checked against orders on other chains when the wallet's order was signed.
  const settlementMode = walletOrder.order.orderType === orderKinds.direct ? 'direct' : 'escrow';
  const order = { ...draftOrder(deps, { ...request, lateSeconds, settlementMode }), signature: unsigned };
  const now = deps.clock.now();
  await storeOrder(transaction, order, now, { language: request.language });
  const units = (value: MicroUsd) => toTokenAmount(value, request.token.decimals);
  const terms = {
    orderId: order.orderId,
    tolerance: units(tolerance),
    mostAdded: units(mostAdded),
    latePayment,
  };
  const { orderId: walletOrderId } = walletOrder;
  await transaction.query(insertDepositTerms, { ...terms, walletOrderId, createdAt: now });
  return { order, terms };
}

/** The tolerance, and the most that may be added, in Micro-USD. A link that sets one of the two bounds sets both. */
export function tolerancesOf(
  policy: DepositPolicy,
  given: ExceptionPolicy | undefined,
  amounts: PaymentAmounts,
): { tolerance: MicroUsd; mostAdded: MicroUsd } {
  const { totalValue, feeValue } = amounts;
  const mostAdded = toleranceOf(totalValue, maxUnderpaidPpm, [microUsd(feeValue + policy.addedAboveFee)]);
  const isGiven = given?.underpaidPpm !== undefined || given?.underpaidAmount !== undefined;
  const ppm = isGiven ? (given.underpaidPpm ?? maxUnderpaidPpm) : policy.underpaidPpm;
  const amount = isGiven
    ? microUsd(given.underpaidAmount ?? maxMicroUsd)
    : (policy.underpaidAmount ?? microUsd(maxMicroUsd));
  return { tolerance: toleranceOf(totalValue, ppm, [amount, mostAdded]), mostAdded };
}

/**
 * The most that the operator's present policy lets the service add to an order, in units of its token. The order's own terms
 * stand in the database alone, so this is the bound for a writer to it.
 */
export function mostAddedTo(policy: DepositPolicy | undefined, { order, amounts }: StoredOrder): bigint {
  if (policy === undefined) return 0n;
  const { totalValue, netValue } = amounts;
  const checked = { ...amounts, feeValue: microUsd(totalValue - netValue) };
  return (tolerancesOf(policy, undefined, checked).mostAdded * order.total) / totalValue;
}

/** The deposit order of a wallet's order; undefined where the wallet's order has the deposit address itself. */
export async function findDeposit(
  queryable: Queryable,
  walletOrderId: string,
): Promise<OrderWithTerms | undefined> {
  const [row] = await queryable.query(termsOfWalletOrder, { walletOrderId });
  if (row === undefined) return undefined;
  const order = await findOrder(queryable, row.order_id);
  if (order === undefined) throw new Error(`the order ${row.order_id} of a deposit address is missing`);
  return { order, terms: parseTerms(row) };
}

/** A deposit address with everything that its payer must know. */
export interface AddressTerms {
  readonly sessionId: string;
  readonly tokenId: string;
  readonly address: Hex;
  readonly refundAddress: string;
  readonly amountInToken: bigint;
  /** Unix seconds. */
  readonly payUntil: number;
  /** The least amount that pays; the whole amount where nothing may be missing. */
  readonly leastInToken: bigint;
  /** Unix seconds: until then a late deposit may be accepted; undefined: it goes back. */
  readonly lateUntil: number | undefined;
}

/** The deposit addresses of wallets' orders, by the ids of these. Omits unknown ids. Nothing of it ever changes. */
export async function findDepositAddresses(
  queryable: Queryable,
  walletOrderIds: readonly string[],
): Promise<ReadonlyMap<string, AddressTerms>> {
  const rows =
    walletOrderIds.length === 0 ? [] : await queryable.query(addressesOfWalletOrders, { walletOrderIds });
  return new Map(
    rows.flatMap((row) => {
      // Orders of before receivers were stored: no page shows their addresses.
      if (!isAddress(row.receiver)) return [];
      const address = {
        sessionId: row.session_id,
        tokenId: row.token_id,
        address: getAddress(row.receiver),
        refundAddress: row.payer,
        amountInToken: row.total,
        payUntil: Number(row.pay_until),
        leastInToken: row.total - row.tolerance,
        lateUntil: row.late_payment === 'return' ? undefined : Number(row.pay_by),
      };
      return [[row.wallet_order_id, address] as const];
    }),
  );
}

/** Deposit terms by order. An order without terms must be paid in full and in time. */
export async function findDepositTerms(
  queryable: Queryable,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, DepositTerms>> {
  const rows = await queryable.query(termsOfOrders, { orderIds });
  return new Map(rows.map((row) => [row.order_id, parseTerms(row)]));
}

function parseTerms(row: DepositTermsRow): DepositTerms {
  return {
    orderId: row.order_id,
    tolerance: row.tolerance,
    mostAdded: row.most_added,
    // The schema's check constraint is what makes the narrowing true.
    latePayment: row.late_payment as LatePayment,
  };
}
