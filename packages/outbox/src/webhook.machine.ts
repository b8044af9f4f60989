/** A removed webhook keeps its row for its deliveries. */
export const webhookStatuses = ['active', 'inactive', 'paused', 'removed'] as const;
export type WebhookStatus = (typeof webhookStatuses)[number];

/** What can happen to a webhook. */
export const webhookTriggers = [
  'enable',
  'disable',
  /** Its receiver has failed for too long, or answered 410. */
  'pause',
  'remove',
] as const;
export type WebhookTrigger = (typeof webhookTriggers)[number];

interface WebhookMove {
  readonly from: WebhookStatus;
  readonly trigger: WebhookTrigger;
  readonly to: WebhookStatus;
}

/** Every move that a webhook can make. A pair of status and trigger that is absent is refused. */
export const webhookMoves: readonly WebhookMove[] = [
  { from: 'inactive', trigger: 'enable', to: 'active' },
  { from: 'paused', trigger: 'enable', to: 'active' },
  // Repeating a change succeeds, so that a caller that lost the answer can retry.
  { from: 'active', trigger: 'enable', to: 'active' },
  { from: 'active', trigger: 'disable', to: 'inactive' },
  { from: 'paused', trigger: 'disable', to: 'inactive' },
  { from: 'inactive', trigger: 'disable', to: 'inactive' },
  { from: 'active', trigger: 'pause', to: 'paused' },
  { from: 'active', trigger: 'remove', to: 'removed' },
  { from: 'inactive', trigger: 'remove', to: 'removed' },
  { from: 'paused', trigger: 'remove', to: 'removed' },
];

/** The move for a status and a trigger; undefined when there is none. */
export function webhookMove(status: WebhookStatus, trigger: WebhookTrigger): WebhookMove | undefined {
  return webhookMoves.find((move) => move.from === status && move.trigger === trigger);
}
