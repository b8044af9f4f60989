import { checkLimits, refuseUnknown } from './argument.ts';
import { openClient } from './client.ts';
import { wrongArgument } from './error.ts';
import { type Events, eventsOf } from './events.ts';
import {
  type Accounts,
  accountsOf,
  type BrandingMethods,
  brandingMethodsOf,
  type CapabilityMethods,
  capabilityMethodsOf,
  type Deliveries,
  deliveriesOf,
  type Exceptions,
  exceptionsOf,
  type Links,
  linksOf,
  type Products,
  productsOf,
  type Reports,
  reportsOf,
  type WebhookMethods,
  webhookMethodsOf,
} from './methods.gen.ts';
import { realOutside, type SdkOutside } from './outside.ts';
import { type Refunds, refundsOf } from './refunds.ts';
import { type CheckoutSessions, checkoutSessionsOf, type Sessions, sessionsOf } from './sessions.ts';
import { unwrap } from './signature.ts';

export type { Usd } from './amount.ts';
export type { CallOptions } from './client.ts';
export type { ErrorSlug, OwnErrorSlug } from './error.ts';
export { FlorinError } from './error.ts';
export type { EventFilter, Events } from './events.ts';
export type { ItemPage, List } from './list.ts';
export type { GivenMetadata, SessionMetadata, Shop } from './metadata.ts';
export type * from './methods.gen.ts';
export { formatUsd, microUsd, usd } from './money.ts';
export type { SendRefundOptions, SentRefund } from './refund-sending.ts';
export type { Refunds, SendableRefund } from './refunds.ts';
export type {
  CheckoutSessionRequest,
  CheckoutSessions,
  NamedItem,
  ProductItem,
  Sessions,
} from './sessions.ts';
export type { UnwrapOptions, WebhookHeaders, WebhookSecret } from './signature.ts';
export { unwrap } from './signature.ts';
export { toDate } from './time.ts';
export type { EthersWallet, RefundWallet, ViemWallet } from './wallet.ts';
export type * from './wire.gen.ts';
export { errorCodes, eventTypes } from './wire.gen.ts';

export interface FlorinOptions {
  /** Where the installation is: `https://pay.example.com`. Refused when undefined, as a variable that is not set is. */
  readonly baseUrl: string | undefined;
  /** How often a call is repeated that may succeed later; 2 when absent. */
  readonly maxRetries?: number | undefined;
  /** The longest wait for one answer, in milliseconds; 30 seconds when absent. */
  readonly timeoutMs?: number | undefined;
  /** In place of the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * Sends the key over plain http to another machine too, where a private network is trusted. Without it only this machine may
   * be reached by http.
   */
  readonly allowInsecureHttp?: boolean | undefined;
}

/** A webhook's methods: those of the API, its deliveries, and the verification of what it receives. */
export interface Webhooks extends WebhookMethods {
  readonly deliveries: Deliveries;
  readonly unwrap: typeof unwrap;
}

const defaults = { maxRetries: 2, timeoutMs: 30_000 } as const;
const optionNames = [
  'baseUrl',
  'maxRetries',
  'timeoutMs',
  'fetch',
  'allowInsecureHttp',
] as const satisfies readonly (keyof FlorinOptions)[];
const apiPath = '/payment/v1';

/**
 * The merchant API of one installation.
 *
 * @example const florin = new Florin(process.env.FLORIN_KEY, { baseUrl: 'https://pay.example.com' });
 */
export class Florin {
  readonly accounts: Accounts;
  readonly branding: BrandingMethods;
  readonly capabilities: CapabilityMethods;
  readonly checkout: { readonly sessions: CheckoutSessions };
  readonly events: Events;
  readonly exceptions: Exceptions;
  readonly links: Links;
  readonly products: Products;
  readonly refunds: Refunds;
  readonly reports: Reports;
  readonly sessions: Sessions;
  readonly webhooks: Webhooks;

  constructor(key: string | undefined, options: FlorinOptions, outside: SdkOutside = realOutside) {
    // Programs in JavaScript may leave them out.
    refuseUnknown(options, optionNames);
    const {
      baseUrl,
      maxRetries = defaults.maxRetries,
      timeoutMs = defaults.timeoutMs,
      fetch = outside.fetch,
      allowInsecureHttp = false,
    }: Partial<FlorinOptions> = Object(options);
    checkLimits({ maxRetries, timeoutMs });
    const own = { ...outside, fetch };
    const api = apiOf(baseUrl, { allowInsecureHttp });
    const send = openClient({ api, key: keyOf(key), maxRetries, timeoutMs }, own);
    this.accounts = accountsOf(send);
    this.branding = brandingMethodsOf(send);
    this.capabilities = capabilityMethodsOf(send);
    this.checkout = { sessions: checkoutSessionsOf(send) };
    this.events = eventsOf(send);
    this.exceptions = exceptionsOf(send);
    this.links = linksOf(send);
    this.products = productsOf(send);
    this.refunds = refundsOf(send, own);
    this.reports = reportsOf(send);
    this.sessions = sessionsOf(send);
    this.webhooks = { ...webhookMethodsOf(send), deliveries: deliveriesOf(send), unwrap };
  }
}

/** @alias */
export default Florin;

/** The key, which never stands in an error. */
function keyOf(key: string | undefined): string {
  if (key !== undefined && /^[sr]k_[\w-]+$/.test(key)) return key;
  const what = key === undefined || key === '' ? 'the API key is missing' : 'this is no API key';
  throw wrongArgument('key', `${what}: it begins with sk_live_ or rk_live_`);
}

/** The base of the API: below an origin, or as it is where the address names it already. */
function apiOf(
  baseUrl: string | undefined,
  { allowInsecureHttp }: { readonly allowInsecureHttp: boolean },
): string {
  const url = baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw wrongArgument(
      'baseUrl',
      `baseUrl is the address of the installation, such as https://pay.example.com, and not ${JSON.stringify(baseUrl)}`,
    );
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && allowInsecureHttp !== true)
    throw wrongArgument(
      'baseUrl',
      `http would show the key to everyone on the way to ${url.host}: give https://${url.host}, or allowInsecureHttp in a private network`,
    );
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${path.endsWith(apiPath) ? path : `${path}${apiPath}`}`;
}

/** Whether a host, as URL spells it, is this machine. */
function isLoopback(hostname: string): boolean {
  return /^(127(\.\d{1,3}){3}|localhost|\[::1\])$/.test(hostname);
}
