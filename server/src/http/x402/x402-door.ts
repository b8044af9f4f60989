import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type MicroUsd, parseUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
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
import { findLink } from '#links/link.ts';
import { unixSeconds } from '#outside/clock.ts';
import { assertPayable } from '#sessions/order.ts';
import { findSession } from '#sessions/session.ts';
import { type OfferTerms, type Resource, requirementsFor } from '#x402/offer.ts';
import { type PaymentDeps, type PaymentResult, paymentBefore, takePayment } from '#x402/payment.ts';
import { supersetEnvelope } from '../envelope.ts';
import { chargedTo, networkOf, type WalletCallGuard } from '../rate-limit.ts';
import { jsonType } from '../route-handler.ts';
import { compileCheck } from '../schema-check.ts';
import type { Door } from '../server.ts';

export interface X402DoorOptions {
  readonly deps: PaymentDeps;
  /** Where the two resources answer, such as `/aipay/x402`. */
  readonly basePaths: readonly string[];
  /** Counts what smart accounts cost; absent where nothing is limited. */
  readonly walletCalls?: WalletCallGuard;
}

interface Asked {
  Params: { linkId?: string; sessionId?: string };
  Querystring: { payer?: string; amountInUSD?: string };
}

/** x402 version 2: links and sessions as resources that a stock client pays for and gets a receipt of. */
export function x402Door({ deps, basePaths, walletCalls }: X402DoorOptions): Door {
  const charged = (request: FastifyRequest<Asked>) => chargedTo(deps, walletCalls, request.ip);
  return (server) => {
    for (const basePath of basePaths) {
      const { payLinkByX402, paySessionByX402 } = x402Api.routes;
      server.get<Asked>(basePath + payLinkByX402.path, (request, reply) =>
        answer(charged(request), request, reply, () => linkResource(deps, request)),
      );
      server.get<Asked>(basePath + paySessionByX402.path, (request, reply) =>
        answer(charged(request), request, reply, () => sessionResource(deps, request.params.sessionId ?? '')),
      );
    }
  };
}

async function linkResource(
  deps: PaymentDeps,
  { params: { linkId = '' }, query: { amountInUSD }, headers }: FastifyRequest<Asked>,
): Promise<Resource> {
  const link = await findLink(deps.db, linkId);
  if (link === undefined) throw new Refusal('link_not_found', linkId);
  // Who has paid is told so first, whatever the link is by now.
  if (headers['payment-signature'] === undefined) assertOffered({ kind: 'link', link });
  if (link.linkType === 'custom') return { kind: 'link', link, chosenTotal: chosenTotalOf(amountInUSD) };
  if (amountInUSD !== undefined)
    throw fieldRefusal('amountInUSD', 'is only for links whose payer chooses the amount');
  return { kind: 'link', link };
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

async function sessionResource(deps: PaymentDeps, sessionId: string): Promise<Resource> {
  const session = await findSession(deps.db, sessionId);
  if (session === undefined) throw new Refusal('session_not_found', sessionId);
  return { kind: 'session', session };
}

/** Refuses what x402 sells nothing of, now or at all. */
function assertOffered(resource: Resource): void {
  if (resource.kind === 'link') {
    const { linkId, status } = resource.link;
    if (status === 'deleted') throw new Refusal('link_archived', linkId);
    if (status !== 'active') throw new Refusal('link_not_active', linkId);
  }
  const { payerEmailRequired } = resource.kind === 'link' ? resource.link : resource.session;
  if (payerEmailRequired) throw withoutEmail();
}

async function answer(
  deps: PaymentDeps,
  request: FastifyRequest<Asked>,
  reply: FastifyReply,
  find: () => Promise<Resource>,
): Promise<FastifyReply> {
  const resource = await find();
  const header = request.headers['payment-signature'];
  reply.headers({
    'access-control-expose-headers': 'PAYMENT-REQUIRED, PAYMENT-RESPONSE',
    'cache-control': 'no-store',
  });
  const payment = typeof header === 'string' ? paymentIn(header) : undefined;
  const before = payment === undefined ? undefined : await paymentBefore(deps, resource, payment);
  if (before?.kind === 'taken') return writeReceipt(reply, before);
  assertOffered(resource);
  const result: PaymentResult =
    payment === undefined
      ? { kind: 'refused', reason: 'PAYMENT-SIGNATURE header is required' }
      : await takePayment(deps, resource, { payment, network: networkOf(request.ip) });
  return result.kind === 'refused'
    ? requirePayment(deps, request, reply, resource, result.reason)
    : writeReceipt(reply, result);
}

/** An offer is made only of what can be paid now; each one has a deposit address of its own. */
async function requirePayment(
  deps: PaymentDeps,
  request: FastifyRequest<Asked>,
  reply: FastifyReply,
  resource: Resource,
  error: string,
): Promise<FastifyReply> {
  if (resource.kind === 'session') assertPayable(resource.session, deps.clock.now());
  const accepts = await requirementsFor(deps, resource, termsFor(deps, resource, request.query.payer));
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

function termsFor(deps: PaymentDeps, resource: Resource, payer: string | undefined): OfferTerms {
  const issuedAt = unixSeconds(deps.clock.now());
  const refundAddress = refundAddressOf(resource, payer);
  if (resource.kind === 'session') return { seed: '', issuedAt, version: '', refundAddress };
  const seed = Buffer.from(deps.random.bytes(32)).toString('hex');
  return { seed, issuedAt, version: resource.link.versionCode, refundAddress };
}

/**
 * Where money goes back to. The first request of a stock client says nothing of its payer, and the address to pay to has
 * to be known before: for a link, whose session nobody else can pay, it is then the merchant; for a session, which others
 * may pay at the same time, the payer has to be named.
 */
function refundAddressOf(resource: Resource, payer: string | undefined): Hex {
  if (payer !== undefined) {
    if (!isAddress(payer, { strict: true }))
      throw fieldRefusal('payer', 'is no address, or has a wrong checksum');
    return getAddress(payer);
  }
  if (resource.kind === 'link') return resource.link.account.accountAddress;
  throw new Refusal('field_invalid', {
    param: 'payer',
    detail:
      'payer is required: add ?payer=<your address>, where the money goes back to when somebody else pays first',
  });
}

const checkPayment = compileCheck(x402Payment, 'PAYMENT-SIGNATURE');
/** Characters of a header that is looked at; Node's own limit is 16 KiB for all of them. */
const maxHeaderLength = 12_288;

/** The payment in a header; a malformed one is a field like any other. */
function paymentIn(header: string): X402Payment {
  const malformed = fieldRefusal('PAYMENT-SIGNATURE', 'is not base64 of JSON');
  if (header.length > maxHeaderLength) throw malformed;
  const value = jsonIn(header);
  if (value === undefined) throw malformed;
  const refusal = checkPayment(value);
  if (refusal !== undefined) throw refusal;
  // The check above is what makes this true.
  return value as X402Payment;
}

function jsonIn(header: string): unknown {
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    // Whatever is wrong with it, there is one thing to say.
    return undefined;
  }
}

function writeReceipt(reply: FastifyReply, taken: Extract<PaymentResult, { kind: 'taken' }>): FastifyReply {
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
