/** All permissions of API keys. A secret key has them all. */
export const permissions = [
  'products:read',
  'products:write',
  'accounts:read',
  'payment_links:read',
  'payment_links:write',
  'checkout_sessions:read',
  'checkout_sessions:write',
  'sessions:read',
  'payer_pii:read',
  'refunds:read',
  'refunds:write',
  'webhooks:read',
  'webhooks:write',
  'webhook_secrets:read',
  'events:read',
  'reports:read',
] as const;
export type Permission = (typeof permissions)[number];

/** A key that ends within so many days needs a successor: members are told. */
export const keyWarningDays = 14;

/** Permissions of members in the dashboard alone. No API key has one of them. */
const dashboardPermissions = [
  'accounts:write',
  'keys:read',
  'keys:write',
  'members:read',
  'members:write',
  'audit:read',
] as const;

/** Permissions of the operator's staff alone. */
export const staffPermissions = ['installation:read', 'installation:write'] as const;

/** A permission in the dashboard: of members, some of which API keys have too, or of the operator's staff. */
export type MemberPermission =
  | Permission
  | (typeof dashboardPermissions)[number]
  | (typeof staffPermissions)[number];
/** What members can have. */
export const memberPermissions: readonly MemberPermission[] = [...permissions, ...dashboardPermissions];

/**
 * Ready-made sets for restricted keys. `read_only` is every read except personal data and webhook secrets; `fulfilment`
 * also sees payers; `storefront` creates sessions and reads them; `agent` sells through links and sessions.
 */
export const permissionPresets = {
  read_only: permissions.filter(
    (permission) =>
      permission.endsWith(':read') &&
      permission !== 'payer_pii:read' &&
      permission !== 'webhook_secrets:read',
  ),
  fulfilment: ['products:read', 'checkout_sessions:read', 'sessions:read', 'payer_pii:read', 'events:read'],
  storefront: ['products:read', 'checkout_sessions:read', 'checkout_sessions:write'],
  agent: [
    'products:read',
    // A session and a link name an account.
    'accounts:read',
    'payment_links:read',
    'payment_links:write',
    'checkout_sessions:read',
    'checkout_sessions:write',
    'sessions:read',
  ],
} as const satisfies Record<string, readonly Permission[]>;
export type PermissionPreset = keyof typeof permissionPresets;
