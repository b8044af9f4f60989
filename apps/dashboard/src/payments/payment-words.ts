import type { PendingReason, SessionDeposit } from '@florin/protocol/session.ts';
import { exactDecimal, formatNumber, formatToken } from '../ui/format.ts';

const delays: Readonly<Record<PendingReason, string>> = {
  reorged: 'The chain replaced the block of the settlement.',
  reverted: 'The settlement’s transaction failed.',
  not_mined:
    'The settlement’s transaction gets into no block: the network’s fees are high, or it stands still.',
  vault_short: 'The vault of the target chain lacks money.',
  recipient_blocked: 'The token refuses transfers to your wallet.',
  token_paused: 'The issuer has paused the token.',
  attestation_pending: 'The token’s bridge has not confirmed the transfer yet.',
  outflow_cap: 'The operator’s limit of payouts is reached.',
};

/** Why a settlement is delayed, as a sentence; the API’s own word where it is a new one. */
export function delayReason(reason: string): string {
  return Object.hasOwn(delays, reason) ? delays[reason as PendingReason] : `Reason: ${reason}.`;
}

/** What of a payment has arrived at one address: `12.00 of 25.00 USDC received`; `30.00 USDC received` where nothing is missing. */
export function receivedText({ amountInToken, missingInToken, decimals, symbol }: SessionDeposit): string {
  if (missingInToken === '0') return `${formatToken(amountInToken, { decimals, symbol })} received`;
  const whole = BigInt(amountInToken) + BigInt(missingInToken);
  const digits = { minimumFractionDigits: Math.min(2, decimals), maximumFractionDigits: decimals };
  const received = formatNumber(exactDecimal(amountInToken, decimals), digits);
  return `${received} of ${formatToken(whole, { decimals, symbol })} received`;
}
