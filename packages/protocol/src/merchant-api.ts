import Type from 'typebox';
import { account } from './account.ts';
import { brandingRoutes } from './branding.ts';
import { capabilities } from './capability.ts';
import { deliveryRoutes } from './delivery-api.ts';
import { eventRoutes } from './event-api.ts';
import { exceptionRoutes } from './exception-api.ts';
import { linkRoutes } from './link-api.ts';
import { productRoutes } from './product-api.ts';
import { refundRoutes } from './refund-api.ts';
import { reportRoutes } from './report-api.ts';
import { type RouteTable, route } from './route.ts';
import { idText } from './schema.ts';
import { sessionRoutes } from './session-api.ts';
import { webhookRoutes } from './webhook-api.ts';

const read = { method: 'GET', tag: 'Accounts', permissions: ['accounts:read'], effect: 'query' } as const;

const accountRoutes = {
  getAccount: route({
    ...read,
    path: '/account/detail/:accountId',
    summary: 'Read a collection account',
    description: 'Removed accounts answer 100402.',
    params: Type.Object({ accountId: idText }),
    reply: account,
    errors: ['account_not_found', 'account_removed'],
  }),
  listAccounts: route({
    ...read,
    path: '/account/list',
    summary: 'List all collection accounts',
    description: 'Newest first; at most 20, so there are no pages. Removed accounts are left out.',
    reply: Type.Array(account),
  }),
} as const;

const capabilityRoutes = {
  getCapabilities: route({
    ...read,
    path: '/capabilities/all',
    summary: 'List tokens, routes and fees',
    description: 'Public: no API key.',
    tag: 'Capabilities',
    reply: capabilities,
    permissions: [],
  }),
} as const;

/** The merchant API, version 1. */
export const merchantApi = {
  title: 'Merchant API',
  basePath: '/payment/v1',
  shape: 'envelope',
  security: 'api_key',
  errors: [
    'authorization_header_malformed',
    'api_key_invalid',
    'api_key_forbidden',
    'rate_limited',
    'internal',
  ],
  routes: {
    ...productRoutes,
    ...accountRoutes,
    ...linkRoutes,
    ...brandingRoutes,
    ...sessionRoutes,
    ...refundRoutes,
    ...exceptionRoutes,
    ...reportRoutes,
    ...webhookRoutes,
    ...deliveryRoutes,
    ...eventRoutes,
    ...capabilityRoutes,
  },
} as const satisfies RouteTable;
