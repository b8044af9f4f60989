import { type MemberPermission, memberPermissions, staffPermissions } from './permission.ts';

/** The roles of a merchant's members, the most powerful first. */
export const memberRoles = ['owner', 'admin', 'developer', 'finance', 'support', 'viewer'] as const;
export type MemberRole = (typeof memberRoles)[number];

/**
 * A member's role, or `staff`: the operator's staff, who run the installation. They look into every merchant, and change
 * nothing there but whether it is suspended.
 */
export type Role = MemberRole | 'staff';

const viewer: readonly MemberPermission[] = [
  'products:read',
  'accounts:read',
  'payment_links:read',
  'checkout_sessions:read',
  'sessions:read',
  'refunds:read',
  'webhooks:read',
  'events:read',
  'reports:read',
  'members:read',
];

const support: readonly MemberPermission[] = [
  ...viewer,
  'payer_pii:read',
  'checkout_sessions:write',
  'refunds:write',
];

/**
 * What a role may do: a route is allowed when the role holds one of the route's permissions. Only owners and admins touch
 * wallets and members. Only an owner makes or removes an owner.
 */
export const rolePermissions: Readonly<Record<Role, ReadonlySet<MemberPermission>>> = {
  owner: new Set(memberPermissions),
  admin: new Set(memberPermissions),
  developer: new Set<MemberPermission>([
    ...viewer,
    'products:write',
    'payment_links:write',
    'checkout_sessions:write',
    'webhooks:write',
    'webhook_secrets:read',
    'keys:read',
    'keys:write',
  ]),
  finance: new Set<MemberPermission>([...support, 'audit:read']),
  support: new Set(support),
  viewer: new Set(viewer),
  staff: new Set<MemberPermission>([...viewer, 'audit:read', ...staffPermissions]),
};

/** Permissions whose use needs a fresh proof of who the member is. */
const sensitivePermissions: readonly MemberPermission[] = [
  'accounts:write',
  'keys:write',
  'members:write',
  'refunds:write',
  'installation:write',
];

/** Routes besides those of `sensitivePermissions` that reveal or replace a secret. */
const sensitivePaths: readonly string[] = ['/webhook/create', '/webhook/key/refresh'];

const newPlace = 'proof for a new place';
/** Routes whose operations ask for the proof for some requests alone, by path, and in words for which. */
export const provenAtTimes: Readonly<Record<string, string>> = {
  '/payment/link/create': newPlace,
  '/payment/link/update': newPlace,
  '/session/checkout/create': newPlace,
  '/branding/update': 'proof for a new place or another legal name',
  '/webhook/update': 'proof for another URL or other events',
};

/** They belong to a signing that began with a proof. A wallet may take longer to answer than a proof is fresh. */
const pathsOfSigning: readonly string[] = ['/refund/signing/sent', '/refund/signing/end'];

/** Whether a member must have proven who they are within the last minutes. */
export function needsFreshProof(route: {
  readonly path: string;
  readonly permissions: readonly MemberPermission[];
}): boolean {
  if (pathsOfSigning.includes(route.path)) return false;
  return (
    sensitivePaths.includes(route.path) ||
    route.permissions.some((permission) => sensitivePermissions.includes(permission))
  );
}

/** Whether a member of the role `actor` may give the role `given`, or take it away. */
export function mayAssign(actor: Role, given: MemberRole): boolean {
  return actor === 'owner' || (actor === 'admin' && given !== 'owner');
}
