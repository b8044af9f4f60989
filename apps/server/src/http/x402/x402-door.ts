import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type MicroUsd, parseUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { idText } from '@florin/protocol/schema.ts';
import {
  type X402Payment,
  type X402Required,
  type X402Settlement,
  x402Payment,
} from '@florin/protocol/x402.ts';
import { x402Api } from '@florin/protocol/x402-api.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { getAddress, isAddress } from 'viem';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findLink } from '#links/link-lookup.ts';
import { notActive } from '#links/link-terms.ts';
import { assertNotOwn } from '#merchants/own-address.ts';
import { unixSeconds } from '#outside/clock.ts';
import { assertPayable } from '#sessions/order-preparation.ts';
import { findSession } from '#sessions/session.ts';
import type { X402Context } from '#x402/context.ts';
import { type OfferTerms, type Resource, requirementsFor } from '#x402/offer.ts';
import { acceptPayment, paymentBefore, type X402Result } from '#x402/payment.ts';
import { payloadHashOf } from '#x402/transfer-authorization.ts';
import type { IncomingPayment } from '#x402/waiting.ts';
import { supersetEnvelope } from '../envelope.ts';
import { chargedTo, networkOf, type WalletCallGuard } from '../rate-limit.ts';
import { jsonType } from '../route-handler.ts';
import { compileCheck } from '../schema-check.ts';
import type { Door } from '../server.ts';

export interface X402DoorOptions {
  readonly deps: X402Context;
  /** Base paths of the two resources, such as `/aipay/x402`. */
  readonly basePaths: readonly string[];
  /**
   * Gives a request with a payment a slot and returns the function that frees it; refuses the request while none is
   * free.
   */
  readonly enter: (incoming: IncomingPayment) => () => void;
  /** Limits smart account calls; without it there is no limit. */
  readonly walletCalls?: WalletCallGuard;
}

interface Asked {
  Params: { linkId?: string; sessionId?: string };
  Querystring: { payer?: unknown; amountInUSD?: unknown };
}

type AskedRequest = FastifyRequest<Asked>;

/** x402 version 2: links and sessions as resources that a stock client pays for and gets a receipt of. */
export function x402Door({ deps, basePaths, enter, walletCalls = () => {} }: X402DoorOptions): Door {
  const { payLinkByX402, paySessionByX402 } = x402Api.routes;
  const resources = [
    [payLinkByX402, linkAsked],
    [paySessionByX402, sessionAsked],
  ] as const;
  return (server) => {
    for (const basePath of basePaths) {
      for (const [route, find] of resources) {
        const config = { effect: route.effect, statuses: x402Api.statuses, query: 'any' } as const;
        server.get<Asked>(basePath + route.path, { config }, (request, reply) => {
          const charged = chargedTo(deps, walletCalls, request.ip);
          return answer({ ...charged, enter }, request, reply, () => find(deps, request));
        });
      }
    }
  };
}

/** A request's resource, and its refund address. */
interface AskedResource {
  readonly resource: Resource;
  readonly refundAddress: Hex;
}

const checkId = compileCheck(idText, 'path');

async function linkAsked(deps: X402Context, request: AskedRequest): Promise<AskedResource> {
  const { params, query, headers } = request;
  const { linkId = '' } = params;
  const link = checkId(linkId) === undefined ? await findLink(deps.db, linkId, deps.clock.now()) : undefined;
  if (link === undefined) throw new Refusal('link_not_found', linkId);
  // A client that already paid must get its answer even after the link closed, so only others are checked here.
  if (headers['payment-signature'] === undefined) assertOffered(deps, { kind: 'link', link });
  // A stock client's first request does not name its payer. No other payer can use the offer of a link.
  const refundAddress = payerIn(query.payer) ?? link.account.accountAddress;
  if (link.linkType === 'custom') {
    const chosenTotal = chosenTotalOf(textIn('amountInUSD', query.amountInUSD));
    return { resource: { kind: 'link', link, chosenTotal }, refundAddress };
  }
  if (query.amountInUSD !== undefined)
    throw fieldRefusal('amountInUSD', 'is only for links whose payer chooses the amount');
  return { resource: { kind: 'link', link }, refundAddress };
}

async function sessionAsked(deps: X402Context, { params, query }: AskedRequest): Promise<AskedResource> {
  const { sessionId = '' } = params;
  const session = checkId(sessionId) === undefined ? await findSession(deps.db, sessionId) : undefined;
  if (session === undefined) throw new Refusal('session_not_found', sessionId);
  const refundAddress = payerIn(query.payer);
  if (refundAddress === undefined)
    throw new Refusal('field_invalid', {
      param: 'payer',
      detail:
        'payer is required: add ?payer=<your address>, where the money goes back to when another payer is first',
    });
  return { resource: { kind: 'session', session }, refundAddress };
}

/** The address in the query; undefined when there is none. */
function payerIn(value: unknown): Hex | undefined {
  const payer = textIn('payer', value);
  if (payer === undefined) return undefined;
  if (!isAddress(payer, { strict: true }))
    throw fieldRefusal('payer', 'is no address, or has a wrong checksum');
  return getAddress(payer);
}

/** A query parameter that may appear once. */
function textIn(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value;
  throw fieldRefusal(name, 'is given more than once');
}

function chosenTotalOf(text: string | undefined): MicroUsd {
  if (text === undefined)
    throw new Refusal('field_invalid', {
      param: 'amountInUSD',
      detail:
        'amountInUSD is required: the payer of this link chooses the amount, add ?amountInUSD=<total in US dollars>',
    });
  const total = parseUsd(text);
  if (total === undefined || total === 0n)
    throw fieldRefusal(
      'amountInUSD',
      'must be a decimal number of US dollars above 0, with at most six decimals',
    );
  return total;
}

function withoutEmail(): Refusal {
  const detail = 'x402 has no place for an e-mail address: use the AI protocol or the hosted page';
  return new Refusal('payer_email_required', detail);
}

/** Refuses resources that x402 does not sell, now or ever. */
function assertOffered({ clock }: Pick<X402Context, 'clock'>, resource: Resource): void {
  if (resource.kind === 'link') {
    const { linkId, status } = resource.link;
    if (status === 'deleted') throw new Refusal('link_archived', linkId);
    if (status !== 'active') throw notActive(resource.link);
  }
  if (resource.kind === 'session') assertPayable(resource.session, clock.now());
  const { payerEmailRequired } = resource.kind === 'link' ? resource.link : resource.session;
  if (payerEmailRequired) throw withoutEmail();
}

async function answer(
  deps: X402Context & Pick<X402DoorOptions, 'enter'>,
  request: AskedRequest,
  reply: FastifyReply,
  find: () => Promise<AskedResource>,
): Promise<FastifyReply> {
  reply.headers({
    'access-control-expose-headers': 'PAYMENT-REQUIRED, PAYMENT-RESPONSE, Retry-After',
    'cache-control': 'no-store',
  });
  const asked = await find();
  const header = request.headers['payment-signature'];
  if (typeof header !== 'string') {
    assertOffered(deps, asked.resource);
    return requirePayment(deps, request, reply, asked, 'PAYMENT-SIGNATURE header is required');
  }
  const payment = paymentIn(header);
  const network = networkOf(request.ip);
  const leave = deps.enter({ network, payment: payloadHashOf(payment) });
  try {
    const result = await pay(deps, asked.resource, { payment, network });
    return result.kind === 'refused'
      ? await requirePayment(deps, request, reply, asked, result.reason)
      : writeReceipt(reply, result);
  } finally {
    leave();
  }
}

async function pay(
  deps: X402Context,
  resource: Resource,
  request: { readonly payment: X402Payment; readonly network: string },
): Promise<X402Result> {
  const before = await paymentBefore(deps, resource, request.payment);
  if (before !== undefined) return before;
  assertOffered(deps, resource);
  return acceptPayment(deps, resource, request);
}

/** Offers only what can be paid now; each offer has its own deposit address. */
async function requirePayment(
  deps: X402Context,
  request: AskedRequest,
  reply: FastifyReply,
  { resource, refundAddress }: AskedResource,
  error: string,
): Promise<FastifyReply> {
  await assertNotOwn(deps.db, deps.chains, refundAddress);
  const accepts = await requirementsFor(deps, resource, termsFor(deps, resource, refundAddress));
  if (accepts.length === 0 && resource.kind === 'link' && resource.chosenTotal !== undefined)
    throw new Refusal('amount_out_of_range', {
      param: 'amountInUSD',
      detail: 'no token is taken for this total',
    });
  if (accepts.length === 0)
    throw new Refusal('method_not_available', 'no token of this payment takes EIP-3009 authorizations');
  const items = resource.kind === 'link' ? resource.link.items : resource.session.items;
  const name = items[0]?.productData?.productName ?? '';
  const required: X402Required = {
    x402Version: 2,
    error,
    resource: {
      url: `${deps.origin}${request.url}`,
      description: merchantText(name, merchantTextLimits.productName),
      mimeType: 'application/json',
    },
    accepts,
  };
  return reply
    .code(402)
    .header('payment-required', base64(required))
    .type(jsonType)
    .send(JSON.stringify(required));
}

function termsFor(deps: X402Context, resource: Resource, refundAddress: Hex): OfferTerms {
  const issuedAt = unixSeconds(deps.clock.now());
  if (resource.kind === 'session') return { seed: '', issuedAt, version: '', refundAddress };
  const seed = Buffer.from(deps.random.bytes(32)).toString('hex');
  return { seed, issuedAt, version: resource.link.versionCode, refundAddress };
}

const checkPayment = compileCheck(x402Payment, 'PAYMENT-SIGNATURE');
/** The longest header that is parsed, in characters. Node's own limit is 16 KiB for all headers. */
const maxHeaderLength = 12_288;

/** The payment in a header; refused like any malformed field. */
function paymentIn(header: string): X402Payment {
  const malformed = fieldRefusal('PAYMENT-SIGNATURE', 'is not base64 of JSON');
  if (header.length > maxHeaderLength) throw malformed;
  const value = jsonIn(header);
  if (value === undefined) throw malformed;
  const refusal = checkPayment(value);
  if (refusal !== undefined) throw refusal;
  // The check above guarantees this type.
  return value as X402Payment;
}

function jsonIn(header: string): unknown {
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    // All malformed headers get one answer.
    return undefined;
  }
}

function writeReceipt(reply: FastifyReply, taken: Extract<X402Result, { kind: 'taken' }>): FastifyReply {
  const { receipt, isSeen } = taken;
  const { txHash: transaction, network, payer } = receipt;
  const settlement: X402Settlement = {
    success: isSeen,
    transaction,
    network,
    payer,
    ...(isSeen ? {} : { errorReason: 'settlement_pending' }),
  };
  return reply
    .code(isSeen ? 200 : 202)
    .header('payment-response', base64(settlement))
    .type(jsonType)
    .send(supersetEnvelope.success(receipt));
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64');
}
