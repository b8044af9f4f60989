// Written by scripts/generate-sdk.ts.
import type { CallOptions, Send } from './client.ts';
import { type List, openList } from './list.ts';
import { retrieveProduct } from './product.ts';
import { type Changes, type UpdateOptions, update } from './update.ts';
import type { Account, Branding, BrandingUpdateRequest, Capabilities, Delivery, DeliveryDetail, EventType, ListFilter, PaymentException, PaymentLink, PaymentLinkCreateRequest, PaymentLinkCreated, PaymentLinkDetail, PaymentLinkUpdateRequest, Product, ProductCreateRequest, ProductUpdateRequest, Report, ReportCreateRequest, SessionSearchRequest, SessionView, Success, Webhook, WebhookCreateRequest, WebhookUpdateRequest } from './wire.gen.ts';

export interface Products {
  /** Create a product. The image is downloaded meanwhile, which takes 10 seconds at most. The product is created even when the download fails: then imageUrl is empty, imageReason says why, and imageStatus whether it is retried. Refused with `field_invalid`, `image_store_unavailable`. */
  create(body: ProductCreateRequest, options?: CallOptions): Promise<Product>;
  /** Change a product. What you leave out stays as it is, and `null` resets a member. It reads first, and reads again when another change came between. Answers the result. A new imageUrl is downloaded and replaces the image; the current hosted URL keeps it. The links that show the product get a new version. Refused with `product_not_found`, `product_removed`, `product_changed`, `image_store_unavailable`. */
  update(productId: string, changes: Changes<ProductUpdateRequest>, options?: UpdateOptions): Promise<Product>;
  /** Read a product. Refused with `product_not_found`. */
  retrieve(productId: string, options?: CallOptions): Promise<Product>;
  /** List products, newest first.  Refused with `field_invalid`. */
  list(filter?: ListFilter, options?: CallOptions): List<Product>;
  /** Read several products. In the requested order; unknown ids are left out. Refused with `field_invalid`. */
  listByIds(productIds: readonly string[], options?: CallOptions): Promise<Product[]>;
  /** Archive a product. Every payment link that shows the product is disabled. Open sessions stay payable. Refused with `product_not_found`, `product_removed`. */
  archive(productId: string, options?: CallOptions): Promise<Success>;
  /** Unarchive a product. Links that archiving disabled stay disabled. Refused with `product_not_found`, `product_removed`. */
  unarchive(productId: string, options?: CallOptions): Promise<Success>;
  /** Remove a product that no payment link ever referenced. Always refused after any link, even a disabled or deleted one, has referenced the product. A product that only sessions used can be removed. Refused with `product_not_found`, `product_removed`, `product_used`. */
  remove(productId: string, options?: CallOptions): Promise<Success>;
}

export function productsOf(send: Send): Products {
  return {
    create: (body, options) => send('createProduct', { body }, options),
    update: (productId, changes, options) => update(send, 'updateProduct', productId, changes, options),
    retrieve: (productId, options) => retrieveProduct(send, productId, options),
    list: (filter, options) => openList(send, 'listProducts', { items: 'products', filter }, options),
    listByIds: (productIds, options) => send('listProductsByIds', { body: { productIds } }, options),
    archive: (productId, options) => send('archiveProduct', { body: { productId } }, options),
    unarchive: (productId, options) => send('unarchiveProduct', { body: { productId } }, options),
    remove: (productId, options) => send('removeProduct', { body: { productId } }, options),
  };
}

export interface Accounts {
  /** Read a collection account. Removed accounts answer 100402. Refused with `account_not_found`, `account_removed`. */
  retrieve(accountId: string, options?: CallOptions): Promise<Account>;
  /** List all collection accounts. Newest first; at most 20, so there are no pages. Removed accounts are left out. */
  list(options?: CallOptions): List<Account>;
}

export function accountsOf(send: Send): Accounts {
  return {
    retrieve: (accountId, options) => send('getAccount', { params: { accountId } }, options),
    list: (options) => openList(send, 'listAccounts', { items: '' }, options),
  };
}

export interface Links {
  /** Create a payment link. A fixed link sells products at the given prices; a custom link lets the payer choose the amount. Refused with `link_items_mismatch`, `product_not_found`, `products_missing`, `product_not_active`, `products_not_active`, `account_not_found`, `account_removed`, `settlement_token_not_enabled`, `currency_unsupported`, `channel_unsupported`, `amount_out_of_range`, `field_invalid`. */
  create(body: PaymentLinkCreateRequest, options?: CallOptions): Promise<PaymentLinkCreated>;
  /** Change a payment link. What you leave out stays as it is, and `null` resets a member. It reads first, and reads again when another change came between. Answers the result. Line items as in create, or as a read returns them. A disabled link stays disabled; one that has had maxPayments payments is disabled. Refused with `link_not_found`, `link_archived`, `link_version_invalid`, `link_items_mismatch`, `product_not_found`, `products_missing`, `product_not_active`, `products_not_active`, `account_not_found`, `account_removed`, `settlement_token_not_enabled`, `currency_unsupported`, `channel_unsupported`, `amount_out_of_range`, `field_invalid`. */
  update(linkId: string, changes: Changes<PaymentLinkUpdateRequest>, options?: UpdateOptions): Promise<PaymentLinkDetail>;
  /** Read a payment link. With the details of the account and the settlement token. Deleted links answer 100102. Refused with `link_not_found`, `link_archived`. */
  retrieve(linkId: string, options?: CallOptions): Promise<PaymentLinkDetail>;
  /** List payment links, newest first. Line items come without productData. Refused with `field_invalid`. */
  list(filter?: ListFilter, options?: CallOptions): List<PaymentLink>;
  /** Disable a payment link. Its page shows customDisabledText, and it starts no new session; open sessions stay payable. Disabling it again changes nothing. Refused with `link_not_found`, `link_archived`. */
  disable(linkId: string, options?: CallOptions): Promise<Success>;
  /** Enable a payment link. Refused while a product of the link is archived, its account is removed, or its limit is reached. Enabling it again changes nothing. Refused with `link_not_found`, `link_archived`, `link_not_active`, `product_not_active`, `account_removed`, `settlement_token_not_enabled`. */
  enable(linkId: string, options?: CallOptions): Promise<Success>;
}

export function linksOf(send: Send): Links {
  return {
    create: (body, options) => send('createLink', { body }, options),
    update: (linkId, changes, options) => update(send, 'updateLink', linkId, changes, options),
    retrieve: (linkId, options) => send('getLink', { params: { linkId } }, options),
    list: (filter, options) => openList(send, 'listLinks', { items: 'links', filter }, options),
    disable: (linkId, options) => send('disableLink', { body: { linkId } }, options),
    enable: (linkId, options) => send('enableLink', { body: { linkId } }, options),
  };
}

export interface BrandingMethods {
  /** Read the branding of the hosted pages. Before the first update pages have their default look, without a logo or links. */
  retrieve(options?: CallOptions): Promise<Branding>;
  /** Change the branding of the hosted pages. What you leave out stays as it is, and `null` resets a member. It reads first, and reads again when another change came between. Answers the result. The images are downloaded during the request, which takes 10 seconds at most, and hosted like images of products; a current hosted URL keeps its image. When a download fails, the update is refused and nothing changes. Refused with `field_invalid`, `image_store_unavailable`, `branding_changed`. */
  update(changes: Changes<BrandingUpdateRequest>, options?: UpdateOptions): Promise<Branding>;
}

export function brandingMethodsOf(send: Send): BrandingMethods {
  return {
    retrieve: (options) => send('getBranding', {}, options),
    update: (changes, options) => update(send, 'updateBranding', '', changes, options),
  };
}

export interface Exceptions {
  /** List exceptions, newest first. Second payments; deposits too small, too large, too late or in another token; payments that went back. Each is also the event session.exception. Refused with `field_invalid`. */
  list(filter?: ListFilter, options?: CallOptions): List<PaymentException>;
  /** Accept a late or short deposit as the payment. For exceptions of kind `late` and `underpaid`, until their `decideBy`. A short deposit is accepted only if the operator adds the missing amount. The session becomes `paid` (`late: true` after its end) once the chain shows the payment. The first decision stands; repeating it changes nothing. Refused with `exception_not_found`, `exception_decided`, `exception_not_acceptable`. */
  accept(exceptionId: string, options?: CallOptions): Promise<Success>;
  /** Return a late or short deposit. For exceptions of kind `late` and `underpaid` that wait for a decision. The contract releases a deposit once it cannot be collected, so it goes back after the time for late deposits. The first decision stands; repeating it changes nothing. Refused with `exception_not_found`, `exception_decided`, `exception_not_acceptable`. */
  refund(exceptionId: string, options?: CallOptions): Promise<Success>;
  /** Mark an exception as resolved. Moves no money. Most exceptions become resolved by themselves, once the chain shows the money back with its payer. Refused until `decideBy` while it waits for your decision. Refused with `exception_not_found`, `exception_undecided`. */
  resolve(exceptionId: string, options?: CallOptions): Promise<Success>;
}

export function exceptionsOf(send: Send): Exceptions {
  return {
    list: (filter, options) => openList(send, 'listExceptions', { items: 'exceptions', filter }, options),
    accept: (exceptionId, options) => send('acceptException', { body: { exceptionId } }, options),
    refund: (exceptionId, options) => send('refundException', { body: { exceptionId } }, options),
    resolve: (exceptionId, options) => send('resolveException', { body: { exceptionId } }, options),
  };
}

export interface Reports {
  /** Order a report. The answer is pending. Read the report until it is ready; then `url` is its file for 24 hours. `payments` has sessions by when their payment was final, `settlements` and `fees` by when the money was in your wallet, `refunds` by when the money was back. Values are Micro-USD in JSON and US dollars in CSV. A payment that becomes final after the report was made is not in it, even if its block is older. A second payment of a session and its return are in no report: its exceptions have them. At most ten reports are pending. Refused with `field_invalid`, `account_not_found`, `rate_limited`. */
  create(body: ReportCreateRequest, options?: CallOptions): Promise<{
    reportId: string;
    status: 'pending' | 'ready' | 'failed';
  }>;
  /** Read a report. Progress, sums, and the address of the file. A report is forgotten after 24 hours. Refused with `report_not_found`. */
  retrieve(reportId: string, options?: CallOptions): Promise<Report>;
}

export function reportsOf(send: Send): Reports {
  return {
    create: (body, options) => send('createReport', { body }, options),
    retrieve: (reportId, options) => send('getReport', { params: { reportId } }, options),
  };
}

export interface WebhookMethods {
  /** Register a webhook. `key` verifies the notifications (Standard Webhooks). Refused with `webhook_limit`, `webhook_url_not_allowed`, `event_type_unknown`, `field_invalid`. */
  create(body: WebhookCreateRequest, options?: CallOptions): Promise<Webhook>;
  /** Change a webhook. What you leave out stays as it is, and `null` resets a member. It reads first, and reads again when another change came between. Answers the result. Refused with `webhook_not_found`, `webhook_url_not_allowed`, `event_type_unknown`, `webhook_changed`. */
  update(webhookId: string, changes: Changes<WebhookUpdateRequest>, options?: UpdateOptions): Promise<Webhook>;
  /** Read a webhook. `key` is masked unless the API key may read webhook secrets. Refused with `webhook_not_found`. */
  retrieve(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** List all webhooks. `key` is masked unless the API key may read webhook secrets. */
  list(options?: CallOptions): List<Webhook>;
  /** Stop the notifications of a webhook. Events raised meanwhile are logged as skipped, and can be replayed when it is enabled again. Refused with `webhook_not_found`. */
  disable(webhookId: string, options?: CallOptions): Promise<Success>;
  /** Start the notifications of a webhook. Enables an inactive or paused webhook. Refused with `webhook_not_found`. */
  enable(webhookId: string, more?: {
    /** Unix seconds: also resends what was skipped or failed since then. */
    replaySince?: number | undefined;
  }, options?: CallOptions): Promise<Success>;
  /** Make a new signing key. The old key is invalid at once unless overlapSeconds is given. The answer has no key: read the new one with GET /webhook/detail/:webhookId. Refused with `webhook_not_found`. */
  refreshKey(webhookId: string, more?: {
    /** How long the old key also signs; with the default 0 it is invalid at once. */
    overlapSeconds?: number | undefined;
  }, options?: CallOptions): Promise<Success>;
  /** Delete a webhook for good. Its deliveries end with it. To use it again later, disable it instead. Refused with `webhook_not_found`. */
  remove(webhookId: string, options?: CallOptions): Promise<Success>;
  /** Send a test event to one webhook. Sends webhook.test to this webhook alone, regardless of its subscriptions; while it is not active the delivery is skipped. Tests do not wait for one another. With eventType it sends an example event of that type instead, with `fixture: true` and ids that exist nowhere. Check for it before you deliver goods. Refused with `webhook_not_found`. */
  test(webhookId: string, more?: {
    /** Sends an example event of this type, marked with fixture; webhook.test by default. */
    eventType?: EventType | undefined;
  }, options?: CallOptions): Promise<{
    eventId: string;
    deliveryId: string;
  }>;
}

export function webhookMethodsOf(send: Send): WebhookMethods {
  return {
    create: (body, options) => send('createWebhook', { body }, options),
    update: (webhookId, changes, options) => update(send, 'updateWebhook', webhookId, changes, options),
    retrieve: (webhookId, options) => send('getWebhook', { params: { webhookId } }, options),
    list: (options) => openList(send, 'listWebhooks', { items: 'webhooks' }, options),
    disable: (webhookId, options) => send('disableWebhook', { body: { webhookId } }, options),
    enable: (webhookId, more, options) => send('enableWebhook', { body: { ...more, webhookId } }, options),
    refreshKey: (webhookId, more, options) => send('refreshWebhookKey', { body: { ...more, webhookId } }, options),
    remove: (webhookId, options) => send('removeWebhook', { body: { webhookId } }, options),
    test: (webhookId, more, options) => send('testWebhook', { body: { ...more, webhookId } }, options),
  };
}

export interface Deliveries {
  /** List the deliveries of a webhook, newest first. What was sent, how often, and the answers. Refused with `webhook_not_found`, `field_invalid`. */
  list(webhookId: string, filter?: ListFilter, options?: CallOptions): List<Delivery>;
  /** Read a delivery with its requests and answers. Every attempt with its request, its answer, how long it took, and what differs from the previous attempt. Signatures are left out. Refused with `delivery_not_found`. */
  retrieve(deliveryId: string, options?: CallOptions): Promise<DeliveryDetail>;
  /** Resend a finished delivery, or send a waiting one at once. Sends the same webhook-id and body, signed anew, on a new schedule. A delivery that waits for its next attempt is sent at once. One that is under way, or waits for an earlier event of its object, stays as it is; while the webhook is not active it waits until the webhook is enabled. Refused with `delivery_not_found`. */
  resend(deliveryId: string, options?: CallOptions): Promise<Success>;
  /** Resend an event, or a webhook’s deliveries in a period. With eventId it resends that event to every webhook, or to webhookId alone. Otherwise it resends the deliveries of webhookId from since to until that have failed, were skipped, or wait for their next attempt; statuses chooses others. At most 500 in one call, oldest first. While hasMore, call again with after set to the last of the answer. Each is sent as POST /webhook/delivery/resend does it; how fast follows from how the receiver answers. Refused with `webhook_not_found`, `event_not_found`, `delivery_not_found`, `field_invalid`. */
  resendAll(body: {
    webhookId?: string | undefined;
    eventId?: string | undefined;
    /** Unix seconds: deliveries of events raised then or later. */
    since?: number | undefined;
    /** Unix seconds: deliveries of events raised before then. */
    until?: number | undefined;
    /** failed, skipped and pending by default; all with an eventId. pending: those that wait for their next attempt. */
    statuses?: readonly ('succeeded' | 'failed' | 'skipped' | 'pending')[] | undefined;
    /** `last` of the previous answer. */
    after?: string | undefined;
  }, options?: CallOptions): Promise<{
    success: true;
    resent: number;
    hasMore: boolean;
    /** The last delivery that was examined; empty when there was none. */
    last: string;
  }>;
}

export function deliveriesOf(send: Send): Deliveries {
  return {
    list: (webhookId, filter, options) => openList(send, 'listDeliveries', { items: 'deliveries', params: { webhookId }, filter }, options),
    retrieve: (deliveryId, options) => send('getDelivery', { params: { deliveryId } }, options),
    resend: (deliveryId, options) => send('resendDelivery', { body: { deliveryId } }, options),
    resendAll: (body, options) => send('resendDeliveries', { body }, options),
  };
}

export interface CapabilityMethods {
  /** List tokens, routes and fees. Public: no API key. */
  retrieve(options?: CallOptions): Promise<Capabilities>;
}

export function capabilityMethodsOf(send: Send): CapabilityMethods {
  return {
    retrieve: (options) => send('getCapabilities', {}, options),
  };
}

export interface SessionMethods {
  /** Read a session. `transaction` is there once the payment has succeeded. Refused with `session_not_found`. */
  retrieve(sessionId: string, options?: CallOptions): Promise<SessionView>;
  /** Search sessions. Sessions that meet every member of the body, newest first. New sessions and changes can be found after two seconds at most. One search looks at 5,000 sessions: where few of them meet a condition that many other sessions share, the answer is short and `hasMore` is true. Go on with `nextCursor`. Refused with `field_invalid`. */
  search(filter?: SessionSearchRequest, options?: CallOptions): List<SessionView>;
}

export function sessionMethodsOf(send: Send): SessionMethods {
  return {
    retrieve: (sessionId, options) => send('getSession', { params: { sessionId } }, options),
    search: (filter, options) => openList(send, 'searchSessions', { items: 'sessions', body: filter }, options),
  };
}
