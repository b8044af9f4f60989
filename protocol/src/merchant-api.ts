import Type, { type TProperties } from 'typebox';
import { account } from './account.ts';
import { capabilities } from './capability.ts';
import { link, linkCreateBody, linkCreated, linkDetail, linkUpdateBody } from './link.ts';
import { product, productCreateBody, productUpdateBody } from './product.ts';
import { type RouteTable, route } from './route.ts';
import { idText, pageParams, successReply } from './schema.ts';
import { session, sessionCreateBody, sessionView } from './session.ts';
import {
  webhook,
  webhookCreateBody,
  webhookEnableBody,
  webhookIdBody,
  webhookKeyRefreshBody,
  webhookUpdateBody,
} from './webhook.ts';

/** A page whose `page` and `size` come back as strings, as product and link lists have them. */
function textPage<T extends TProperties>(members: T) {
  return Type.Object({
    total: Type.Integer(),
    page: Type.String(),
    size: Type.String(),
    hasMore: Type.Boolean(),
    ...members,
  });
}

/** A page whose `page` and `size` come back as numbers, as session lists have them. */
const sessionPage = Type.Object({
  total: Type.Integer(),
  page: Type.Integer(),
  size: Type.Integer(),
  hasMore: Type.Boolean(),
  sessions: Type.Array(sessionView),
});

const closed = { additionalProperties: false } as const;
const productIdBody = Type.Object({ productId: idText }, closed);
const linkIdBody = Type.Object({ linkId: idText }, closed);

const productRoutes = {
  createProduct: route({
    method: 'POST',
    path: '/product/create',
    summary: 'Create a product',
    tag: 'Products',
    body: productCreateBody,
    reply: product,
    permissions: ['products:write'],
    effect: 'create',
    errors: ['field_invalid'],
  }),
  listProducts: route({
    method: 'GET',
    path: '/product/list/:page/:size',
    summary: 'List products, newest first',
    tag: 'Products',
    params: pageParams,
    reply: textPage({ products: Type.Array(product) }),
    permissions: ['products:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  listProductsByIds: route({
    method: 'POST',
    path: '/product/list/by/ids',
    summary: 'Read several products',
    description: 'In the order asked for; unknown ids are left out.',
    tag: 'Products',
    body: Type.Object({ productIds: Type.Array(idText, { maxItems: 100 }) }, closed),
    reply: Type.Array(product),
    permissions: ['products:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  updateProduct: route({
    method: 'POST',
    path: '/product/update',
    summary: 'Replace a product',
    description: 'Full replacement: fields left out are reset. The links that show it get a new version.',
    tag: 'Products',
    body: productUpdateBody,
    reply: successReply,
    permissions: ['products:write'],
    effect: 'update',
    errors: ['product_not_found', 'product_removed'],
  }),
  removeProduct: route({
    method: 'POST',
    path: '/product/remove',
    summary: 'Remove a product that no payment link ever referenced',
    tag: 'Products',
    body: productIdBody,
    reply: successReply,
    permissions: ['products:write'],
    effect: 'update',
    errors: ['product_not_found', 'product_removed', 'product_used'],
  }),
  archiveProduct: route({
    method: 'POST',
    path: '/product/archive',
    summary: 'Archive a product',
    description: 'Every payment link that shows the product is disabled. Open sessions stay payable.',
    tag: 'Products',
    body: productIdBody,
    reply: successReply,
    permissions: ['products:write'],
    effect: 'update',
    errors: ['product_not_found', 'product_removed'],
  }),
  unarchiveProduct: route({
    method: 'POST',
    path: '/product/unarchive',
    summary: 'Unarchive a product',
    description: 'Links that archiving disabled stay disabled.',
    tag: 'Products',
    body: productIdBody,
    reply: successReply,
    permissions: ['products:write'],
    effect: 'update',
    errors: ['product_not_found', 'product_removed'],
  }),
} as const;

const accountRoutes = {
  getAccount: route({
    method: 'GET',
    path: '/account/detail/:accountId',
    summary: 'Read a collection account',
    tag: 'Accounts',
    params: Type.Object({ accountId: idText }),
    reply: account,
    permissions: ['accounts:read'],
    effect: 'query',
    errors: ['account_not_found', 'account_removed'],
  }),
  listAccounts: route({
    method: 'GET',
    path: '/account/list',
    summary: 'List all collection accounts',
    tag: 'Accounts',
    reply: Type.Array(account),
    permissions: ['accounts:read'],
    effect: 'query',
    errors: [],
  }),
} as const;

/** What creating and updating a link can refuse alike. */
const linkErrors = [
  'link_items_mismatch',
  'product_not_found',
  'products_missing',
  'product_not_active',
  'products_not_active',
  'account_not_found',
  'account_removed',
  'settlement_token_not_enabled',
  'currency_unsupported',
  'channel_unsupported',
  'amount_out_of_range',
  'field_invalid',
] as const;

const linkRoutes = {
  createLink: route({
    method: 'POST',
    path: '/payment/link/create',
    summary: 'Create a payment link',
    description:
      'A fixed link sells products at the given prices; a custom link lets the payer choose the amount.',
    tag: 'Payment links',
    body: linkCreateBody,
    reply: linkCreated,
    permissions: ['payment_links:write'],
    effect: 'create',
    errors: linkErrors,
  }),
  updateLink: route({
    method: 'POST',
    path: '/payment/link/update',
    summary: 'Replace a payment link',
    description:
      'Full replacement: fields left out are reset. Line items as in create, or as a read returns them. A disabled ' +
      'link stays disabled.',
    tag: 'Payment links',
    body: linkUpdateBody,
    reply: successReply,
    permissions: ['payment_links:write'],
    effect: 'update',
    errors: ['link_not_found', 'link_archived', ...linkErrors],
  }),
  getLink: route({
    method: 'GET',
    path: '/payment/link/:linkId',
    summary: 'Read a payment link',
    tag: 'Payment links',
    params: Type.Object({ linkId: idText }),
    reply: linkDetail,
    permissions: ['payment_links:read'],
    effect: 'query',
    errors: ['link_not_found', 'link_archived'],
  }),
  listLinks: route({
    method: 'GET',
    path: '/payment/link/list/:page/:size',
    summary: 'List payment links, newest first',
    description: 'Line items come without productData.',
    tag: 'Payment links',
    params: pageParams,
    reply: textPage({ links: Type.Array(link) }),
    permissions: ['payment_links:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  disableLink: route({
    method: 'POST',
    path: '/payment/link/disable',
    summary: 'Disable a payment link',
    tag: 'Payment links',
    body: linkIdBody,
    reply: successReply,
    permissions: ['payment_links:write'],
    effect: 'update',
    errors: ['link_not_found', 'link_archived'],
  }),
  enableLink: route({
    method: 'POST',
    path: '/payment/link/enable',
    summary: 'Enable a payment link',
    tag: 'Payment links',
    body: linkIdBody,
    reply: successReply,
    permissions: ['payment_links:write'],
    effect: 'update',
    errors: ['link_not_found', 'link_archived', 'product_not_active', 'account_removed'],
  }),
} as const;

function sessionList(path: string, summary: string) {
  return route({
    method: 'GET',
    path: `/session/list/${path}/:page/:size`,
    summary,
    tag: 'Sessions',
    params: pageParams,
    reply: sessionPage,
    permissions: ['sessions:read'],
    effect: 'query',
    errors: ['field_invalid'],
  });
}

const sessionRoutes = {
  createCheckoutSession: route({
    method: 'POST',
    path: '/session/checkout/create',
    summary: 'Create a checkout session',
    description: 'A one-time checkout. `metadata` comes back byte for byte.',
    tag: 'Sessions',
    body: sessionCreateBody,
    reply: session,
    permissions: ['checkout_sessions:write'],
    effect: 'create',
    errors: [
      'expiration_out_of_range',
      'amount_out_of_range',
      'product_not_found',
      'products_missing',
      'product_not_active',
      'products_not_active',
      'account_not_found',
      'account_removed',
      'settlement_token_not_enabled',
      'currency_unsupported',
      'channel_unsupported',
      'field_invalid',
    ],
  }),
  cancelCheckoutSession: route({
    method: 'POST',
    path: '/session/checkout/cancel',
    summary: 'Cancel a session that nobody has signed',
    tag: 'Sessions',
    body: Type.Object({ sessionId: idText }, closed),
    reply: successReply,
    permissions: ['checkout_sessions:write'],
    effect: 'update',
    errors: [
      'session_not_found',
      'session_expired',
      'session_paid',
      'session_cancelled',
      'session_already_signed',
    ],
  }),
  getSession: route({
    method: 'GET',
    path: '/session/:sessionId',
    summary: 'Read a session',
    description: '`transaction` is there once the payment has succeeded.',
    tag: 'Sessions',
    params: Type.Object({ sessionId: idText }),
    reply: sessionView,
    permissions: ['sessions:read', 'checkout_sessions:read'],
    effect: 'query',
    errors: ['session_not_found'],
  }),
  listSessions: sessionList('all', 'List sessions, newest first'),
  listInitializedSessions: sessionList('initialized', 'List sessions that wait for a payment'),
  listPaidSessions: sessionList('paid', 'List sessions that are paid'),
  listSettlingSessions: sessionList('settling', 'List sessions that are being settled'),
  listCompletedSessions: sessionList('completed', 'List sessions that are completed'),
  listCancelledSessions: sessionList('cancelled', 'List sessions that were cancelled'),
  listExpiredSessions: sessionList('expired', 'List sessions that expired'),
  listSettlementPendingSessions: sessionList(
    'settlement/pending',
    'List sessions whose settlement is delayed',
  ),
} as const;

const webhookRoutes = {
  createWebhook: route({
    method: 'POST',
    path: '/webhook/create',
    summary: 'Register a webhook',
    description: '`key` verifies the notifications (Standard Webhooks).',
    tag: 'Webhooks',
    body: webhookCreateBody,
    reply: webhook,
    permissions: ['webhooks:write'],
    effect: 'create',
    errors: ['webhook_limit', 'webhook_url_not_allowed', 'event_type_unknown', 'field_invalid'],
  }),
  updateWebhook: route({
    method: 'POST',
    path: '/webhook/update',
    summary: 'Replace a webhook',
    description: 'Full replacement: the description is reset when left out.',
    tag: 'Webhooks',
    body: webhookUpdateBody,
    reply: successReply,
    permissions: ['webhooks:write'],
    effect: 'update',
    errors: ['webhook_not_found', 'webhook_url_not_allowed', 'event_type_unknown'],
  }),
  disableWebhook: route({
    method: 'POST',
    path: '/webhook/disable',
    summary: 'Stop the notifications of a webhook',
    tag: 'Webhooks',
    body: webhookIdBody,
    reply: successReply,
    permissions: ['webhooks:write'],
    effect: 'update',
    errors: ['webhook_not_found'],
  }),
  enableWebhook: route({
    method: 'POST',
    path: '/webhook/enable',
    summary: 'Start the notifications of a webhook',
    description: 'From inactive and from paused.',
    tag: 'Webhooks',
    body: webhookEnableBody,
    reply: successReply,
    permissions: ['webhooks:write'],
    effect: 'update',
    errors: ['webhook_not_found'],
  }),
  refreshWebhookKey: route({
    method: 'POST',
    path: '/webhook/key/refresh',
    summary: 'Make a new signing key',
    description: 'The old key is invalid at once unless overlapSeconds is given.',
    tag: 'Webhooks',
    body: webhookKeyRefreshBody,
    reply: successReply,
    permissions: ['webhooks:write'],
    effect: 'update',
    errors: ['webhook_not_found'],
  }),
  removeWebhook: route({
    method: 'POST',
    path: '/webhook/remove',
    summary: 'Delete a webhook for good',
    tag: 'Webhooks',
    body: webhookIdBody,
    reply: successReply,
    permissions: ['webhooks:write'],
    effect: 'update',
    errors: ['webhook_not_found'],
  }),
  listWebhooks: route({
    method: 'GET',
    path: '/webhook/list',
    summary: 'List all webhooks',
    description: '`key` is masked unless the API key may read webhook secrets.',
    tag: 'Webhooks',
    reply: Type.Object({ webhooks: Type.Array(webhook) }),
    permissions: ['webhooks:read'],
    effect: 'query',
    errors: [],
  }),
  getWebhook: route({
    method: 'GET',
    path: '/webhook/detail/:webhookId',
    summary: 'Read a webhook',
    tag: 'Webhooks',
    params: Type.Object({ webhookId: idText }),
    reply: webhook,
    permissions: ['webhooks:read'],
    effect: 'query',
    errors: ['webhook_not_found'],
  }),
} as const;

const capabilityRoutes = {
  getCapabilities: route({
    method: 'GET',
    path: '/capabilities/all',
    summary: 'List tokens, routes and fees',
    description: 'Public: no API key.',
    tag: 'Capabilities',
    reply: capabilities,
    permissions: [],
    effect: 'query',
    errors: [],
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
    ...sessionRoutes,
    ...webhookRoutes,
    ...capabilityRoutes,
  },
} as const satisfies RouteTable;
