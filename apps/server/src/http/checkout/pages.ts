import { chooseLanguage, type Language, parseAmount, problemOfAmount } from '@florin/checkout';
import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { type Front, findFront } from '#catalog/branding.ts';
import { findLink } from '#links/link.ts';
import { unixSeconds } from '#outside/clock.ts';
import { findSession } from '#sessions/session.ts';
import { networkOf } from '../rate-limit.ts';
import type { Script } from './assets.ts';
import { brandColorsOf } from './brand-colors.ts';
import { claimData } from './claim.ts';
import { codePage } from './compression.ts';
import { amountTextOf, beginBodyOf, depositBodyOf, isOwnForm, wordsOfRefusal } from './forms.ts';
import { boundsText, type NoScript } from './no-script.ts';
import { brandStyle, type PageFrame, pagePolicy, renderCheckout, renderClaim, renderNotice } from './page.ts';
import { linkPageData, logoOf, type PageDeps, sessionPageData } from './page-data.ts';
import { beginSession, type PaymentDeps, prepareForPayer } from './payment.ts';
import { linkBounds } from './state.ts';

/** One request for a page, and what it is answered from. */
export interface Visit {
  readonly options: PaymentDeps & { readonly agentApi: string };
  readonly page: PageDeps;
  readonly script: Script;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Answers with the page of a link. */
export async function linkPage(visit: Visit, linkId: string, answer: NoScript = {}): Promise<Buffer> {
  const { options } = visit;
  const link = await findLink(options.db, linkId);
  if (link === undefined || link.status === 'deleted') return notFound(visit);
  const front = await findFront(options.db, link.merchantId);
  const frame = frameOf(visit, `${options.agentApi}/payment/link/${link.linkId}`, front);
  const { texts } = frame.language;
  if (link.status !== 'active') {
    const words = merchantText(link.customDisabledText, merchantTextLimits.customDisabledText);
    const name = merchantText(link.linkName, merchantTextLimits.linkName);
    const notice = {
      title: texts.disabled,
      texts: [name, words === '' ? texts.disabledHint : words],
      logo: logoOf(front.logoUrl),
    };
    return send(visit, frame, renderNotice(frame, notice));
  }
  const data = linkPageData(visit.page, { link, front }, frame.language);
  return send(visit, frame, renderCheckout(data, frame, unixSeconds(options.clock.now()), answer));
}

/** Answers with the page of a session. */
export async function sessionPage(visit: Visit, sessionId: string, answer: NoScript = {}): Promise<Buffer> {
  const { options } = visit;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(visit);
  const front = await findFront(options.db, session.merchantId);
  const frame = frameOf(visit, `${options.agentApi}/session/${session.sessionId}`, front);
  const data = await sessionPageData(visit.page, { session, front }, frame.language);
  return send(visit, frame, renderCheckout(data, frame, unixSeconds(options.clock.now()), answer));
}

/** Answers with the page about a session's money that has to go back. */
export async function claimPage(visit: Visit, sessionId: string): Promise<Buffer> {
  const { options, page } = visit;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(visit);
  const front = await findFront(options.db, session.merchantId);
  const frame = frameOf(visit, `${options.agentApi}/session/${session.sessionId}`, front);
  const { title } = await sessionPageData(page, { session, front }, frame.language);
  const data = await claimData(options, session, { language: frame.language, title, query: frame.query });
  return send(visit, frame, renderClaim(data, frame));
}

/**
 * Begins a session from the form of a link's page, and leads to the session's page, its secret in the fragment, as the
 * script does it. A form from elsewhere is led to the link's page, where its sender can look first.
 */
export async function beginByForm(visit: Visit, linkId: string): Promise<Buffer> {
  const { options, request, reply } = visit;
  const link = await findLink(options.db, linkId);
  if (link === undefined || link.status === 'deleted') return notFound(visit);
  if (!isOwnForm(request, options.origin)) return lead(reply, `/link/${link.linkId}`);
  const { tag: locale, texts } = languageOf(request);
  const amountText = amountTextOf(request);
  try {
    // In the page's language, as the script reads it.
    const typed = link.linkType === 'custom' ? parseAmount(locale, amountText) : undefined;
    const problem = typed === undefined ? '' : problemOfAmount({ locale, texts }, typed);
    if (problem !== '') return linkPage(visit, linkId, { problem, amount: amountText });
    const amount = typed?.kind === 'amount' ? typed.amount : undefined;
    const begun = await beginSession(options, beginBodyOf(request, { linkId: link.linkId, amount }));
    const { pathname, hash } = new URL(begun.paymentUrl);
    return lead(reply, `${pathname}${queryOf(request)}${hash}`);
  } catch (error) {
    const isOutside = error instanceof Refusal && error.slug === 'amount_out_of_range';
    const bounds = isOutside ? boundsText(locale, linkBounds(visit.page, link)) : '';
    const problem = [problemOf(request, error), bounds].join(' ').trim();
    return linkPage(visit, linkId, { problem, amount: amountText });
  }
}

/** Prepares a plain transfer from the form of a session's page, and shows where to send. */
export async function depositByForm(visit: Visit, sessionId: string): Promise<Buffer> {
  const { options, request, reply } = visit;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(visit);
  if (!isOwnForm(request, options.origin)) return lead(reply, `/checkout/${session.sessionId}`);
  try {
    const body = depositBodyOf(request, session.sessionId);
    const { deposit: address, amountInToken } = await prepareForPayer(options, body, {
      clientCode: undefined,
      network: networkOf(request.ip),
    });
    if (address === undefined) throw new Refusal('payment_token_unsupported', body.tokenId);
    return sessionPage(visit, sessionId, { deposit: { tokenId: body.tokenId, address, amountInToken } });
  } catch (error) {
    return sessionPage(visit, sessionId, { problem: problemOf(request, error) });
  }
}

/** What was refused, in the reader's language; anything else is no answer to a form. */
function problemOf(request: FastifyRequest, error: unknown): string {
  if (error instanceof Refusal) return wordsOfRefusal(languageOf(request).texts, error);
  throw error;
}

/** After a form: the page is asked for by GET, so that loading it again sends nothing again. */
function lead(reply: FastifyReply, location: string): Buffer {
  reply.code(303).header('location', location);
  return Buffer.alloc(0);
}

async function notFound(visit: Visit): Promise<Buffer> {
  const frame = frameOf(visit, '');
  visit.reply.code(404);
  const { notFound: title, notFoundHint } = frame.language.texts;
  return send(visit, frame, renderNotice(frame, { title, texts: [notFoundHint] }));
}

function frameOf({ options, script, request }: Visit, agentUrl: string, front?: Front): PageFrame {
  return {
    language: languageOf(request),
    nonce: Buffer.from(options.random.bytes(16)).toString('base64'),
    script,
    agentUrl,
    query: queryOf(request),
    ...(front === undefined || front.color === '' ? {} : { brand: brandStyle(brandColorsOf(front.color)) }),
  };
}

async function send({ request, reply }: Visit, frame: PageFrame, text: string): Promise<Buffer> {
  const { coding, bytes } = await codePage(text, request.headers['accept-encoding']);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', pagePolicy(frame))
    .header('cross-origin-opener-policy', 'same-origin-allow-popups')
    .header('vary', 'accept-language, accept-encoding');
  return bytes;
}

function chosenLanguageOf(request: FastifyRequest): string | undefined {
  const { lang } = request.query as { lang?: unknown };
  return typeof lang === 'string' ? lang : undefined;
}

function languageOf(request: FastifyRequest): Language {
  return chooseLanguage(chosenLanguageOf(request), request.headers['accept-language']);
}

/** A chosen language goes with the reader from page to page. */
function queryOf(request: FastifyRequest): string {
  return chosenLanguageOf(request) === undefined ? '' : `?lang=${languageOf(request).tag}`;
}
