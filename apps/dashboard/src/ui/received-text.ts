import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Session, SessionDeposit } from '@florin/protocol/session.ts';
import type { PaymentTransaction } from '@florin/protocol/transaction.ts';
import { exactDecimal, formatNumber, formatToken } from './format.ts';

/** What of a payment has arrived at one address: `12.00 of 25.00 USDC received`; `30.00 USDC received` where nothing is missing. */
export function receivedText({ amountInToken, missingInToken, decimals, symbol }: SessionDeposit): string {
  if (missingInToken === '0') return `${formatToken(amountInToken, { decimals, symbol })} received`;
  const whole = BigInt(amountInToken) + BigInt(missingInToken);
  const digits = { minimumFractionDigits: Math.min(2, decimals), maximumFractionDigits: decimals };
  const received = formatNumber(exactDecimal(amountInToken, decimals), digits);
  return `${received} of ${formatToken(whole, { decimals, symbol })} received`;
}

/** Whether all that the payer paid went back; the operator's addition to a short deposit was not the payer's. */
export function refundedText(
  { amount, refundedAmount }: Pick<Session, 'amount' | 'refundedAmount'>,
  transaction: Pick<PaymentTransaction, 'totalValue' | 'addedValue'> | undefined,
): string {
  const paid = transaction === undefined ? amount : transaction.totalValue - transaction.addedValue;
  return refundedAmount < paid ? 'Partly refunded' : 'Refunded';
}

/** What came that is no payment, and whether it is gone: `15.00 USDC came and went back`. Beside a payment it says why. */
export function cameText(
  { kind, amountInToken, status, decision, resolvedTx, isGone }: PaymentException,
  token: { readonly symbol: string; readonly decimals: number } | undefined,
): string {
  const amount = token === undefined ? undefined : formatToken(amountInToken, token);
  const isBack = status === 'resolved' && resolvedTx !== '' && decision !== 'accept';
  const isSecond = kind === 'duplicate' || kind === 'duplicate_settled';
  const over = kind === 'overpaid' && amount !== undefined ? ' too much' : '';
  const money = isSecond ? `A second ${amount ?? 'payment'}` : `${amount ?? 'Money'}${over}`;
  if (isGone) return `${money} came, and the chain took it back`;
  return isBack ? `${money} came and went back` : `${money} came`;
}
