import { type MemberRole, rolePermissions } from './member-role.ts';
import type { MemberPermission } from './permission.ts';

/** What a member chooses to get by e-mail, for each merchant. */
export const notificationKinds = [
  'payment',
  'exception',
  'settlement_delayed',
  'refund_waiting',
  'webhook_failing',
  'webhook_paused',
  'wallet_changed',
  'access_changed',
  'weekly_summary',
] as const;
export type NotificationKind = (typeof notificationKinds)[number];

/**
 * Who may act on it gets it unless they choose otherwise. A payment, a settlement that is tried again by itself, and a summary ask
 * for no act.
 */
const actingPermissions: Readonly<Record<NotificationKind, MemberPermission | undefined>> = {
  payment: undefined,
  exception: 'refunds:write',
  settlement_delayed: undefined,
  refund_waiting: 'refunds:write',
  webhook_failing: 'webhooks:write',
  webhook_paused: 'webhooks:write',
  wallet_changed: 'accounts:write',
  access_changed: 'members:write',
  weekly_summary: undefined,
};

/** Whether a member of the role gets it without a choice. */
export function isNotifiedByDefault(kind: NotificationKind, role: MemberRole): boolean {
  const permission = actingPermissions[kind];
  return permission !== undefined && rolePermissions[role].has(permission);
}

const alwaysKinds: readonly NotificationKind[] = ['wallet_changed', 'access_changed'];

/** Whether a member of the role cannot turn it off: an attacker who moves the money would do that first. */
export function isAlwaysNotified(kind: NotificationKind, role: MemberRole): boolean {
  return alwaysKinds.includes(kind) && isNotifiedByDefault(kind, role);
}
