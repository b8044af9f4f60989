import type { IdKind } from '@florin/protocol/id.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { Permission } from '@florin/protocol/permission.ts';
import type { Route } from '@florin/protocol/route.ts';

/** One object of each kind, all of one merchant. */
export interface Things {
  readonly accountId: string;
  readonly productId: string;
  /** No link shows it, so it can be removed. */
  readonly spareProductId: string;
  readonly linkId: string;
  readonly sessionId: string;
  readonly paidSessionId: string;
  readonly refundId: string;
  /** It waits for the merchant's wallet. */
  readonly waitingRefundId: string;
  readonly reportId: string;
  readonly exceptionId: string;
  /** Two late deposits that wait for a decision. */
  readonly lateExceptionId: string;
  readonly otherExceptionId: string;
  readonly webhookId: string;
  readonly spareWebhookId: string;
  readonly deliveryId: string;
  readonly eventId: string;
}

/** The kind of each id. */
export const kinds: Record<keyof Things, IdKind> = {
  accountId: 'account',
  productId: 'product',
  spareProductId: 'product',
  linkId: 'link',
  sessionId: 'session',
  paidSessionId: 'session',
  refundId: 'refund',
  waitingRefundId: 'refund',
  reportId: 'report',
  exceptionId: 'exception',
  lateExceptionId: 'exception',
  otherExceptionId: 'exception',
  webhookId: 'webhook',
  spareWebhookId: 'webhook',
  deliveryId: 'delivery',
  eventId: 'event',
};

/**
 * The permissions that the route must require, stated independently, and a request that succeeds with the caller's
 * own objects.
 */
export interface Row {
  readonly permissions: readonly Permission[];
  /** Values of path parameters. */
  readonly params?: (things: Things) => Record<string, string>;
  readonly body?: (things: Things) => object;
  /** Requests several objects and omits unknown ones instead of refusing. */
  readonly leavesOut?: true;
}

const page = () => ({ page: '1', size: '100' });
/** A line item with one unit of a product. */
export const item = (productId: string) => ({
  itemType: 'product',
  productId,
  quantity: 1,
  unitPrice: 10_000_000,
});
/** A body that creates a link with the shop's product. */
export const linkFields = ({ accountId, productId }: Things) => ({
  linkType: 'fixed',
  linkName: 'Tea',
  accountId,
  settlementToken: 'ethereum::usdc',
  feeModel: 1,
  lineItems: [item(productId)],
});
/** A body that creates a webhook for every event. */
export const webhookFields = {
  webhookName: 'Hook',
  webhookUrl: 'https://shop.example.com/hook',
  subscribedEvents: ['*'],
};

const products = { read: ['products:read'], write: ['products:write'] } as const;
const links = { read: ['payment_links:read'], write: ['payment_links:write'] } as const;
const webhooks = { read: ['webhooks:read'], write: ['webhooks:write'] } as const;
const sessionList: Row = { permissions: ['sessions:read'], params: page };

/** Every route of the merchant API, in an order in which each request can succeed. */
export const rows: Record<keyof typeof merchantApi.routes, Row> = {
  getCapabilities: { permissions: [] },
  createProduct: { permissions: products.write, body: () => ({ name: 'Tea', commonPrices: [1] }) },
  listProducts: { permissions: products.read, params: page },
  listProductsByIds: {
    permissions: products.read,
    body: ({ productId }) => ({ productIds: [productId] }),
    leavesOut: true,
  },
  updateProduct: {
    permissions: products.write,
    body: ({ productId }) => ({ productId, name: 'Tea', commonPrices: [1] }),
  },
  getAccount: { permissions: ['accounts:read'], params: ({ accountId }) => ({ accountId }) },
  listAccounts: { permissions: ['accounts:read'] },
  createLink: { permissions: links.write, body: linkFields },
  updateLink: {
    permissions: links.write,
    body: (things) => ({ linkId: things.linkId, ...linkFields(things) }),
  },
  getLink: { permissions: links.read, params: ({ linkId }) => ({ linkId }) },
  listLinks: { permissions: links.read, params: page },
  disableLink: { permissions: links.write, body: ({ linkId }) => ({ linkId }) },
  enableLink: { permissions: links.write, body: ({ linkId }) => ({ linkId }) },
  getBranding: { permissions: products.read },
  updateBranding: { permissions: products.write, body: () => ({ color: '#0b6b4d' }) },
  createCheckoutSession: {
    permissions: ['checkout_sessions:write'],
    body: ({ accountId, productId }) => ({
      accountId,
      settlementToken: 'ethereum::usdc',
      lineItems: [item(productId)],
    }),
  },
  getSession: {
    permissions: ['sessions:read', 'checkout_sessions:read'],
    params: ({ sessionId }) => ({ sessionId }),
  },
  cancelCheckoutSession: {
    permissions: ['checkout_sessions:write'],
    body: ({ sessionId }) => ({ sessionId }),
  },
  searchSessions: { permissions: ['sessions:read'], body: () => ({}) },
  listSessions: sessionList,
  listInitializedSessions: sessionList,
  listPaidSessions: sessionList,
  listSettlingSessions: sessionList,
  listCompletedSessions: sessionList,
  listCancelledSessions: sessionList,
  listExpiredSessions: sessionList,
  listSettlementPendingSessions: sessionList,
  createRefund: {
    permissions: ['refunds:write'],
    body: ({ paidSessionId }) => ({ sessionId: paidSessionId }),
  },
  cancelRefund: { permissions: ['refunds:write'], body: ({ waitingRefundId: refundId }) => ({ refundId }) },
  getRefund: { permissions: ['refunds:read'], params: ({ refundId }) => ({ refundId }) },
  listRefunds: { permissions: ['refunds:read'], params: page },
  listExceptions: { permissions: ['sessions:read'], params: page },
  resolveException: {
    permissions: ['refunds:write'],
    body: ({ exceptionId }) => ({ exceptionId }),
  },
  acceptException: {
    permissions: ['refunds:write'],
    body: ({ lateExceptionId: exceptionId }) => ({ exceptionId }),
  },
  refundException: {
    permissions: ['refunds:write'],
    body: ({ otherExceptionId: exceptionId }) => ({ exceptionId }),
  },
  createReport: {
    permissions: ['reports:read'],
    body: () => ({ type: 'payments', from: 0, to: 1, format: 'csv' }),
  },
  getReport: { permissions: ['reports:read'], params: ({ reportId }) => ({ reportId }) },
  createWebhook: { permissions: webhooks.write, body: () => webhookFields },
  updateWebhook: {
    permissions: webhooks.write,
    body: ({ webhookId }) => ({ webhookId, ...webhookFields }),
  },
  disableWebhook: { permissions: webhooks.write, body: ({ webhookId }) => ({ webhookId }) },
  enableWebhook: { permissions: webhooks.write, body: ({ webhookId }) => ({ webhookId }) },
  refreshWebhookKey: { permissions: webhooks.write, body: ({ webhookId }) => ({ webhookId }) },
  listWebhooks: { permissions: webhooks.read },
  getWebhook: { permissions: webhooks.read, params: ({ webhookId }) => ({ webhookId }) },
  testWebhook: { permissions: webhooks.write, body: ({ webhookId }) => ({ webhookId }) },
  listDeliveries: {
    permissions: webhooks.read,
    params: ({ webhookId }) => ({ webhookId, ...page() }),
  },
  getDelivery: { permissions: webhooks.read, params: ({ deliveryId }) => ({ deliveryId }) },
  resendDeliveries: { permissions: webhooks.write, body: ({ eventId }) => ({ eventId }) },
  resendDelivery: { permissions: webhooks.write, body: ({ deliveryId }) => ({ deliveryId }) },
  listEvents: { permissions: ['events:read'], params: page },
  getEvent: { permissions: ['events:read'], params: ({ eventId }) => ({ eventId }) },
  archiveProduct: {
    permissions: products.write,
    body: ({ spareProductId: productId }) => ({ productId }),
  },
  unarchiveProduct: {
    permissions: products.write,
    body: ({ spareProductId: productId }) => ({ productId }),
  },
  removeProduct: {
    permissions: products.write,
    body: ({ spareProductId: productId }) => ({ productId }),
  },
  removeWebhook: {
    permissions: webhooks.write,
    body: ({ spareWebhookId: webhookId }) => ({ webhookId }),
  },
};

const routes: Record<string, Route> = merchantApi.routes;
/** Every row with its route, in the order of the rows. */
export const entries = Object.entries(rows).map(([name, row]) => {
  const route = routes[name];
  if (route === undefined) throw new Error(`there is no route ${name}`);
  return { name, row, route };
});

/** A request in its final form. */
export interface Request {
  readonly method: Route['method'];
  readonly path: string;
  readonly body: object | undefined;
}

/** The request of a row, with the caller's own objects or another merchant's. */
export function requestOf({ row, route }: (typeof entries)[number], things: Things): Request {
  const params = row.params?.(things) ?? {};
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${route.path}: the row gives no ${name}`);
    return value;
  });
  return {
    method: route.method,
    path,
    body: route.method === 'GET' ? undefined : (row.body?.(things) ?? {}),
  };
}
