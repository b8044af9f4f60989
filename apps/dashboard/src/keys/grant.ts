import type { Permission } from '@florin/protocol/permission.ts';

/** How far a key may go with one resource. */
export type Level = 'none' | 'read' | 'write';

export interface KeyResource {
  readonly name: string;
  readonly title: string;
  readonly hint: string;
  /** Each level that the resource has, with what it grants. */
  readonly levels: Readonly<Partial<Record<Level, readonly Permission[]>>>;
}

/** What a key may be granted, in the order of the form. */
export const resources: readonly KeyResource[] = [
  {
    name: 'sessions',
    title: 'Checkout sessions',
    hint: 'Create and cancel sessions',
    levels: {
      read: ['checkout_sessions:read'],
      write: ['checkout_sessions:read', 'checkout_sessions:write'],
    },
  },
  {
    name: 'payments',
    title: 'All payments',
    hint: 'List sessions of links and agents too',
    levels: { read: ['sessions:read'] },
  },
  { name: 'payers', title: 'Payers’ e-mails', hint: 'Personal data', levels: { read: ['payer_pii:read'] } },
  {
    name: 'products',
    title: 'Products',
    hint: 'Names, prices and pictures',
    levels: { read: ['products:read'], write: ['products:read', 'products:write'] },
  },
  {
    name: 'links',
    title: 'Payment links',
    hint: 'Create, change and disable links',
    levels: { read: ['payment_links:read'], write: ['payment_links:read', 'payment_links:write'] },
  },
  {
    name: 'accounts',
    title: 'Wallets',
    hint: 'Keys never change wallets',
    levels: { read: ['accounts:read'] },
  },
  {
    name: 'refunds',
    title: 'Refunds',
    hint: 'Send money back, and decide on exceptions',
    levels: { read: ['refunds:read'], write: ['refunds:read', 'refunds:write'] },
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    hint: 'Addresses and deliveries',
    levels: { read: ['webhooks:read'], write: ['webhooks:read', 'webhooks:write'] },
  },
  {
    name: 'secrets',
    title: 'Signing keys of webhooks',
    hint: 'The secrets that verify your webhooks',
    levels: { read: ['webhook_secrets:read'] },
  },
  {
    name: 'events',
    title: 'Events',
    hint: 'What happened, for catching up',
    levels: { read: ['events:read'] },
  },
  {
    name: 'reports',
    title: 'Reports',
    hint: 'Settlements, fees, payments',
    levels: { read: ['reports:read'] },
  },
];

export type Grant = Readonly<Record<string, Level>>;

/** The permissions of a grant, without repeats. */
export function permissionsOf(grant: Grant): Permission[] {
  const granted = resources.flatMap(({ name, levels }) => levels[grant[name] ?? 'none'] ?? []);
  return [...new Set(granted)];
}

/** The highest level of each resource that a set of permissions covers. */
export function grantOf(permissions: readonly string[]): Grant {
  const held = new Set(permissions);
  const covers = (level: readonly Permission[] | undefined) =>
    level?.every((permission) => held.has(permission)) === true;
  return Object.fromEntries(
    resources.map(({ name, levels }) => [
      name,
      covers(levels.write) ? 'write' : covers(levels.read) ? 'read' : 'none',
    ]),
  );
}

/** Lines that a person typed, without empty ones. */
export function linesOf(typed: string): string[] {
  return typed
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
