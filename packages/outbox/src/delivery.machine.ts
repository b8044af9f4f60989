/**
 * pending: waits for its next attempt. succeeded and failed: finished. skipped: never sent, because the webhook was not active
 * when the event was written, or was removed.
 */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** What can happen to a delivery. */
export const deliveryTriggers = [
  /** The receiver answered with a status from 200 to 299. */
  'accepted',
  /** An attempt failed, and the schedule has another one. */
  'attempt_failed',
  /** The last attempt of the schedule failed. */
  'attempts_exhausted',
  'webhook_removed',
  /** The owner requests this delivery again, or at once while it waits for its next attempt. */
  'resend',
  /** The owner enables a webhook and requests the events that it missed. */
  'replay',
] as const;
export type DeliveryTrigger = (typeof deliveryTriggers)[number];

interface DeliveryMove {
  readonly from: DeliveryStatus;
  readonly trigger: DeliveryTrigger;
  readonly to: DeliveryStatus;
}

/** Every move that a delivery can make. A pair of status and trigger that is absent is refused. */
export const deliveryMoves: readonly DeliveryMove[] = [
  { from: 'pending', trigger: 'accepted', to: 'succeeded' },
  { from: 'pending', trigger: 'attempt_failed', to: 'pending' },
  { from: 'pending', trigger: 'attempts_exhausted', to: 'failed' },
  { from: 'pending', trigger: 'webhook_removed', to: 'skipped' },
  { from: 'pending', trigger: 'resend', to: 'pending' },
  { from: 'succeeded', trigger: 'resend', to: 'pending' },
  { from: 'failed', trigger: 'resend', to: 'pending' },
  { from: 'skipped', trigger: 'resend', to: 'pending' },
  { from: 'failed', trigger: 'replay', to: 'pending' },
  { from: 'skipped', trigger: 'replay', to: 'pending' },
];

/** The move for a status and a trigger. Throws RangeError when there is none. */
export function deliveryMove(status: DeliveryStatus, trigger: DeliveryTrigger): DeliveryMove {
  const move = deliveryMoves.find(({ from, trigger: by }) => from === status && by === trigger);
  if (move === undefined) throw new RangeError(`a delivery that is ${status} refuses ${trigger}`);
  return move;
}

/** The statuses from which this trigger moves a delivery. */
export function statusesBefore(trigger: DeliveryTrigger): DeliveryStatus[] {
  return deliveryMoves.filter((move) => move.trigger === trigger).map(({ from }) => from);
}
