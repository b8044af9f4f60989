import type { PendingReason } from '@florin/protocol/session.ts';

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
