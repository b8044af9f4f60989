import type { Usd } from './amount.ts';
import { refuseUnknown } from './argument.ts';
import { type CallOptions, checkCallOptions, type Send } from './client.ts';
import { wrongArgument } from './error.ts';
import { filterOf, type List, openList } from './list.ts';
import { type SessionMethods, sessionMethodsOf } from './methods.gen.ts';
import type {
  Account,
  Operations,
  Session,
  SessionCreateRequest,
  SessionFilter,
  SessionView,
  Success,
} from './wire.gen.ts';

/** Something without a product of its own. */
export interface NamedItem {
  /** What the payer reads; at most 100 characters. */
  readonly name: string;
  /** Of one unit, at least a cent: `usd('4.50')`. */
  readonly price: Usd;
  /** 1 when absent. */
  readonly quantity?: number | undefined;
  readonly description?: string | undefined;
  /** An https address; the service downloads the image. */
  readonly imageUrl?: string | undefined;
  readonly attributes?: readonly { readonly name: string; readonly value: string }[] | undefined;
}

/** A product of the merchant. */
export interface ProductItem {
  readonly productId: string;
  /** Of one unit, at least a cent; the first of the product's commonPrices when absent. */
  readonly price?: Usd | undefined;
  /** 1 when absent. */
  readonly quantity?: number | undefined;
}

const namedMembers = [
  ...(['name', 'price', 'quantity', 'description', 'imageUrl', 'attributes'] as const),
] satisfies readonly (keyof NamedItem)[];
const productMembers = ['productId', 'price', 'quantity'] as const satisfies readonly (keyof ProductItem)[];

/** An item as the API takes it. */
type WireItem = SessionCreateRequest['lineItems'][number];

/** A session to create. */
export interface CheckoutSessionRequest extends Omit<SessionCreateRequest, 'accountId' | 'lineItems'> {
  /** The account that is settled to; when absent, the only one that takes `settlementToken`. */
  readonly accountId?: string | undefined;
  readonly lineItems: readonly (NamedItem | ProductItem | WireItem)[];
}

export interface CheckoutSessions {
  /**
   * Creates a session. Send the payer to its `paymentUrl`. Refused with `account_not_found`, `products_missing`,
   * `settlement_token_not_enabled`, `amount_out_of_range`, `expiration_out_of_range` and the like.
   *
   * @example
   * const session = await florin.checkout.sessions.create({
   *   settlementToken: 'base::usdc',
   *   lineItems: [{ name: 'Flat white', price: usd('4.50') }],
   *   successUrl: 'https://shop.example.com/thanks',
   *   metadata: { order: 'A-1042' },
   * }, { idempotencyKey: 'A-1042' });
   */
  create(request: CheckoutSessionRequest, options?: CallOptions): Promise<Session>;
  /**
   * Cancels a session that waits for its payment and that no payer holds an order of (`signedOnce` is 0). Refused with
   * `session_already_signed`, `session_paid`, `session_expired`, `session_not_found`, and a repeat with `session_cancelled`: a
   * program that tries again takes that for done.
   */
  cancel(sessionId: string, options?: CallOptions): Promise<Success>;
}

export interface Sessions extends SessionMethods {
  /** Sessions, newest first: all of them, or those that the filter selects. */
  list(filter?: SessionFilter, options?: CallOptions): List<SessionView>;
}

const listsByStatus = {
  initialized: 'listInitializedSessions',
  paid: 'listPaidSessions',
  settling: 'listSettlingSessions',
  completed: 'listCompletedSessions',
  cancelled: 'listCancelledSessions',
  expired: 'listExpiredSessions',
  settlement_pending: 'listSettlementPendingSessions',
} as const satisfies Readonly<Record<Session['status'], keyof Operations>>;

export function sessionsOf(send: Send): Sessions {
  return {
    ...sessionMethodsOf(send),
    list: (given, options) => {
      const { status, ...filter } = filterOf(given);
      if (status !== undefined && !Object.hasOwn(listsByStatus, status))
        throw wrongArgument('status', `there is no status ${status}`);
      const id = status === undefined ? 'listSessions' : listsByStatus[status];
      return openList(send, id, { items: 'sessions', filter }, options);
    },
  };
}

export function checkoutSessionsOf(send: Send): CheckoutSessions {
  /** As read once: accounts change rarely, and the service refuses one that is gone. */
  let accounts: readonly Account[] | undefined;
  let reading: Promise<readonly Account[]> | undefined;
  /** Sales that begin at one time share a read: lists have a low rate. A sale with limits of its own reads alone. */
  const readAccounts = ({ idempotencyKey: _, ...limits }: CallOptions): Promise<readonly Account[]> => {
    if (Object.values(limits).some((each) => each !== undefined)) return send('listAccounts', {}, limits);
    reading ??= send('listAccounts', {}).finally(() => {
      reading = undefined;
    });
    return reading;
  };
  return {
    async create(given, givenOptions) {
      const options: CallOptions = Object(givenOptions);
      const { accountId, lineItems, ...request }: CheckoutSessionRequest = Object(given);
      // Before the accounts are read: what is refused here sends nothing.
      checkCallOptions(givenOptions);
      if (!Array.isArray(lineItems)) throw wrongArgument('lineItems', 'lineItems is an array of items');
      const items = lineItems.map(itemOf);
      if (accountId === undefined) accounts ??= await readAccounts(options);
      const account = accountId ?? onlyAccount(accounts ?? [], request.settlementToken);
      const body = { ...request, accountId: account, lineItems: items };
      try {
        return await send('createCheckoutSession', { body }, options);
      } catch (error) {
        // The account may be gone, and another one there.
        accounts = undefined;
        throw error;
      }
    },
    cancel: (sessionId, options) => send('cancelCheckoutSession', { body: { sessionId } }, options),
  };
}

function onlyAccount(accounts: readonly Account[], settlementToken: string): string {
  const takers = accounts.filter(({ settlementCurrencies }) =>
    settlementCurrencies.includes(settlementToken),
  );
  const [only, ...others] = takers;
  if (only !== undefined && others.length === 0) return only.accountId;
  const what = only === undefined ? 'no account takes' : `${takers.length} accounts take`;
  const taken = accounts.flatMap(({ settlementCurrencies }) => settlementCurrencies);
  const advice =
    only === undefined ? `yours take ${[...new Set(taken)].join(', ') || 'none'}` : 'give accountId';
  throw wrongArgument(
    only === undefined ? 'settlementToken' : 'accountId',
    `${what} ${settlementToken}: ${advice}`,
  );
}

function itemOf(item: NamedItem | ProductItem | WireItem, index: number): WireItem {
  const path = `lineItems[${index}]`;
  if (Object(item) !== item) throw wrongArgument(path, `${path} is no item`);
  // The service checks its members.
  if ('itemType' in item) return item;
  refuseUnknown(item, 'productId' in item ? productMembers : namedMembers, `${path}.`);
  const { price: unitPrice, quantity = 1 } = item;
  // Programs in JavaScript may give dollars, and the service would name a member that they did not write.
  if (!('productId' in item && unitPrice === undefined)) checkPrice(unitPrice, `${path}.price`);
  if ('productId' in item) {
    const { productId } = item;
    return { itemType: 'product', productId, quantity, unitPrice };
  }
  const { name: productName, description: productDescription, imageUrl, attributes } = item;
  const productData = { productName, productDescription, imageUrl, attributes };
  return { itemType: 'one_time', quantity, unitPrice, productData };
}

/** Micro-USD of a cent. A program that gives 450 means cents, and would sell for less than a thousandth of a dollar. */
const leastPrice = 10_000;

function checkPrice(price: number | undefined, param: string): void {
  if (Number.isSafeInteger(price) && Number(price) >= leastPrice) return;
  const what = Number.isSafeInteger(price) ? `is ${price} Micro-USD, less than a cent` : 'is no amount';
  const advice = "write usd('4.50'), or below a cent an item with itemType and unitPrice";
  throw wrongArgument(param, `${param} ${what}: ${advice}`);
}
