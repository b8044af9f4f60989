import type { Move } from '@florin/protocol/machine.ts';

/** A deleted link keeps its row for its sessions. */
export const linkStatuses = ['active', 'disabled', 'deleted'] as const;
export type LinkStatus = (typeof linkStatuses)[number];

/** The triggers of a payment link. */
export const linkTriggers = [
  'disable',
  'enable',
  /** A product that it shows was archived. */
  'product_archived',
  /** The account that it pays into was removed. */
  'account_removed',
  /** So many payments are final as its limit allows. */
  'limit_reached',
  /** Its `activeUntil` has come. */
  'ended',
  /** A member deletes it in the dashboard; an active link is disabled first. */
  'delete',
] as const;
export type LinkTrigger = (typeof linkTriggers)[number];

interface LinkMove extends Move<LinkStatus, LinkTrigger> {
  /** Undefined where nothing changes. */
  readonly event?: 'payment.link.enabled' | 'payment.link.disabled';
}

/** Every move that a payment link can make. A pair of status and trigger that is absent is refused. */
export const linkMoves: readonly LinkMove[] = [
  { from: 'active', trigger: 'disable', to: 'disabled', event: 'payment.link.disabled' },
  { from: 'disabled', trigger: 'enable', to: 'active', event: 'payment.link.enabled' },
  // Repeating a change succeeds, so that a caller that lost the answer can retry.
  { from: 'disabled', trigger: 'disable', to: 'disabled' },
  { from: 'active', trigger: 'enable', to: 'active' },
  { from: 'active', trigger: 'product_archived', to: 'disabled', event: 'payment.link.disabled' },
  { from: 'active', trigger: 'account_removed', to: 'disabled', event: 'payment.link.disabled' },
  { from: 'active', trigger: 'limit_reached', to: 'disabled', event: 'payment.link.disabled' },
  { from: 'active', trigger: 'ended', to: 'disabled', event: 'payment.link.disabled' },
  { from: 'disabled', trigger: 'delete', to: 'deleted' },
];
