import type { SessionDeposit } from '@florin/protocol/session.ts';
import { exactDecimal, formatNumber, formatToken } from './format.ts';

/** What of a payment has arrived at one address: `12.00 of 25.00 USDC received`; `30.00 USDC received` where nothing is missing. */
export function receivedText({ amountInToken, missingInToken, decimals, symbol }: SessionDeposit): string {
  if (missingInToken === '0') return `${formatToken(amountInToken, { decimals, symbol })} received`;
  const whole = BigInt(amountInToken) + BigInt(missingInToken);
  const digits = { minimumFractionDigits: Math.min(2, decimals), maximumFractionDigits: decimals };
  const received = formatNumber(exactDecimal(amountInToken, decimals), digits);
  return `${received} of ${formatToken(whole, { decimals, symbol })} received`;
}
