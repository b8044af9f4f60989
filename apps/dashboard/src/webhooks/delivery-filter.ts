import type { DeliveryStatus } from '@florin/protocol/delivery-api.ts';

/** The states of a delivery that a reader looks for. */
export const deliveryStates = [
  { value: '', label: 'All states' },
  { value: 'failing', label: 'Failed or retrying' },
  { value: 'waiting', label: 'Waiting' },
  { value: 'succeeded', label: 'Delivered' },
  { value: 'skipped', label: 'Skipped' },
] as const;

interface Filtered {
  readonly eventType: string;
  readonly status: DeliveryStatus;
  /** Oldest first. */
  readonly attempts: readonly { readonly error: string }[];
}

/** Whether a delivery has the state and the type; an empty one leaves all. */
export function isSought(
  { eventType, status, attempts }: Filtered,
  { state, type }: { readonly state: string; readonly type: string },
): boolean {
  if (type !== '' && eventType !== type) return false;
  const isFailing = status === 'failed' || (status === 'pending' && (attempts.at(-1)?.error ?? '') !== '');
  if (state === 'failing') return isFailing;
  if (state === 'waiting') return status === 'pending' && !isFailing;
  return state === '' || state === status;
}
