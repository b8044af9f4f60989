import { boundsText, chooseLanguage, type Language, parseAmount, problemOfAmount } from '@florin/checkout';
import { Refusal } from '@florin/protocol/error.ts';
import { maxMicroUsd } from '@florin/protocol/money.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant, type ShownMerchant } from '#catalog/branding.ts';
import { findLink } from '#links/link-lookup.ts';
import { reasonForPayers } from '#links/link-terms.ts';
import { unixSeconds } from '#outside/clock.ts';
import { findSession } from '#sessions/session.ts';
import { codePage } from '../compression.ts';
import { networkOf } from '../rate-limit.ts';
import type { Script } from './assets.ts';
import { brandStyle } from './brand-style.ts';
import type { RareScript } from './built-ahead.ts';
import { claimData } from './claim.ts';
import type { CheckoutContext } from './context.ts';
import { showDeposit } from './deposit.ts';
import { amountTextOf, beginBodyOf, depositBodyOf, isSameOriginForm } from './forms.ts';
import { picturePath } from './link-picture.ts';
import type { NoScript } from './no-script.ts';
import {
  type PageFrame,
  pagePolicy,
  type RemoteScripts,
  renderCheckout,
  renderClaim,
  renderNotice,
} from './page.ts';
import { linkPageData, merchantOf, sessionPageData } from './page-data.ts';
import { beginSession } from './payment.ts';
import { wordsOfRefusal } from './refusal-words.ts';
import { linkBounds } from './state.ts';

/** One request for a page, with the dependencies that answer it. */
export interface PageRequest {
  readonly options: CheckoutContext;
  readonly script: Script;
  readonly rareScript: (name: RareScript) => Promise<Script>;
  /** Only in local worlds. */
  readonly demoScript?: Script | undefined;
  /** Only where the operator chose WalletConnect. */
  readonly remote?: RemoteScripts | undefined;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

const hintOf = { limit_reached: 'limitReachedHint', ended: 'endedHint', other: 'disabledHint' } as const;

/** Answers with the page of a link. */
export async function linkPage(
  pageRequest: PageRequest,
  linkId: string,
  answer: NoScript = {},
): Promise<Buffer> {
  const { options } = pageRequest;
  const link = await findLink(options.db, linkId, options.clock.now());
  if (link === undefined || link.status === 'deleted') return notFound(pageRequest);
  const front = await findShownMerchant(options.db, link.merchantId);
  const frame = await frameOf(pageRequest, `${options.agentApi}/payment/link/${link.linkId}`, front);
  const { texts } = frame.language;
  if (link.status !== 'active') {
    const words = merchantText(link.customDisabledText, merchantTextLimits.customDisabledText);
    const name = merchantText(link.linkName, merchantTextLimits.linkName);
    const notice = {
      title: texts.disabled,
      texts: [name, words === '' ? texts[hintOf[reasonForPayers(link) ?? 'other']] : words],
      front: merchantOf(front),
    };
    return send(pageRequest, frame, renderNotice(frame, notice));
  }
  const data = { ...linkPageData(options, { link, front }, frame.language), shop: frame.shop };
  const { remote, rareScript } = pageRequest;
  const custom = frame.shop === undefined ? 'custom' : 'embeddedCustom';
  const script = link.linkType === 'custom' ? await rareScript(custom) : frame.script;
  const pictured = { ...frame, remote, script, pictureUrl: options.origin + picturePath(link, front) };
  return send(
    pageRequest,
    pictured,
    renderCheckout(data, pictured, unixSeconds(options.clock.now()), answer),
  );
}

/** Answers with the page of a session. */
export async function sessionPage(
  pageRequest: PageRequest,
  sessionId: string,
  answer: NoScript = {},
): Promise<Buffer> {
  const { options } = pageRequest;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(pageRequest);
  const front = await findShownMerchant(options.db, session.merchantId);
  const own = await frameOf(pageRequest, `${options.agentApi}/session/${session.sessionId}`, front);
  const frame = { ...own, remote: pageRequest.remote };
  const page = await sessionPageData(options, { session, front, order: answer.order }, frame.language);
  const data = { ...page, shop: frame.shop };
  return send(pageRequest, frame, renderCheckout(data, frame, unixSeconds(options.clock.now()), answer));
}

/** Answers with the page about a session's money to return. */
export async function claimPage(pageRequest: PageRequest, sessionId: string): Promise<Buffer> {
  const { options } = pageRequest;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(pageRequest);
  const front = await findShownMerchant(options.db, session.merchantId);
  const frame = await frameOf(pageRequest, `${options.agentApi}/session/${session.sessionId}`, front);
  const { title } = await sessionPageData(options, { session, front }, frame.language);
  const data = await claimData(options, session, { language: frame.language, title, query: frame.query });
  return send(pageRequest, frame, renderClaim(data, frame));
}

/**
 * Begins a session from the form of a link's page and redirects to the session's page with its secret in the fragment,
 * as the script does. A form from another site is redirected to the link's page, so that its sender sees it first.
 */
export async function beginByForm(pageRequest: PageRequest, linkId: string): Promise<Buffer> {
  const { options, request, reply } = pageRequest;
  const link = await findLink(options.db, linkId, options.clock.now());
  if (link === undefined || link.status === 'deleted') return notFound(pageRequest);
  if (!isSameOriginForm(request, options.origin)) return redirect(reply, `/link/${link.linkId}`);
  const { tag: locale, texts } = languageOf(request);
  const amountText = amountTextOf(request);
  try {
    // Parsed in the page's language, as the script does.
    const typed = link.linkType === 'custom' ? parseAmount(locale, amountText) : undefined;
    const problem = typed === undefined ? '' : problemOfAmount({ locale, texts }, typed);
    if (problem !== '')
      return linkPage(pageRequest, linkId, { problem, field: 'amount', amount: amountText });
    const amount = typed?.kind === 'amount' ? typed.amount : undefined;
    if (amount !== undefined && amount > maxMicroUsd)
      throw new Refusal('amount_out_of_range', { param: 'amount' });
    const begun = await beginSession(options, beginBodyOf(request, { linkId: link.linkId, amount }));
    const { pathname, hash } = new URL(begun.paymentUrl);
    return redirect(reply, `${pathname}${queryOf(request)}${hash}`);
  } catch (error) {
    const isOutside = error instanceof Refusal && error.slug === 'amount_out_of_range';
    const bounds = isOutside ? boundsText({ locale, texts }, linkBounds(options, link)) : '';
    const told = problemOf(request, error);
    const problem = [told.problem, bounds].join(' ').trim();
    return linkPage(pageRequest, linkId, { ...told, problem, amount: amountText });
  }
}

/** Prepares a plain transfer from the form of a session's page, and shows the deposit address. */
export async function depositByForm(pageRequest: PageRequest, sessionId: string): Promise<Buffer> {
  const { options, request, reply } = pageRequest;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(pageRequest);
  if (!isSameOriginForm(request, options.origin)) return redirect(reply, `/checkout/${session.sessionId}`);
  try {
    const body = depositBodyOf(request, session.sessionId);
    // A form has no secret: the fragment stays in the browser.
    const { orderId: order } = await showDeposit(options, body, {
      clientCode: undefined,
      network: networkOf(request.ip),
      language: languageOf(request).tag,
    });
    return sessionPage(pageRequest, sessionId, { order, asked: body });
  } catch (error) {
    return sessionPage(pageRequest, sessionId, problemOf(request, error, session.intendedPayer));
  }
}

/** A reload of that form's page by its address alone, which shows no address of its own. */
export function leaveForm({ request, reply }: PageRequest, sessionId: string): Buffer {
  return redirect(reply, `/checkout/${encodeURIComponent(sessionId)}${queryOf(request)}`);
}

/** The refusal in the reader's language, and its field. Rethrows errors that are not refusals. */
function problemOf(request: FastifyRequest, error: unknown, payer = ''): NoScript {
  if (!(error instanceof Refusal)) throw error;
  return { problem: wordsOfRefusal(languageOf(request), error, payer), field: error.details.param };
}

/** Redirects after a form to a GET, so that a reload does not submit again. */
function redirect(reply: FastifyReply, location: string): Buffer {
  reply.code(303).header('location', location);
  return Buffer.alloc(0);
}

async function notFound(pageRequest: PageRequest): Promise<Buffer> {
  const frame = await frameOf(pageRequest, '');
  pageRequest.reply.code(404);
  const { notFound: title, notFoundHint } = frame.language.texts;
  return send(pageRequest, frame, renderNotice(frame, { title, texts: [notFoundHint] }));
}

async function frameOf(
  { options, script, rareScript, demoScript, request }: PageRequest,
  agentUrl: string,
  front?: ShownMerchant,
): Promise<PageFrame> {
  const shop = front === undefined ? undefined : shopOf(request, front);
  return {
    language: languageOf(request),
    nonce: Buffer.from(options.random.bytes(16)).toString('base64'),
    script: shop === undefined ? script : await rareScript('embedded'),
    shop,
    demo:
      options.demo === undefined || demoScript === undefined
        ? undefined
        : { address: options.demo.address, script: demoScript },
    agentUrl,
    query: queryOf(request),
    brand: front === undefined ? '' : brandStyle(front),
  };
}

/**
 * The origin of the shop's page that opened or frames this one, where the merchant lists it. A page elsewhere may name a
 * listed origin, too. It hears nothing by that: the browser gives messages to that origin alone.
 */
function shopOf(request: FastifyRequest, { embedOrigins }: ShownMerchant): string | undefined {
  const { shop } = request.query as { shop?: unknown };
  return embedOrigins.find((origin) => origin === shop);
}

/** A framed page is as high as its content, and its language is the shop's choice. */
const framedStyle = '.page { min-height: 0; } .lang { display: none; }';

/** Answers with a session's page for a frame in the page of a shop that the merchant lists. Others are refused (200206). */
export async function framedPage(pageRequest: PageRequest, sessionId: string): Promise<Buffer> {
  const { options, request } = pageRequest;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(pageRequest);
  const front = await findShownMerchant(options.db, session.merchantId);
  const shop = shopOf(request, front);
  if (shop === undefined)
    throw new Refusal(
      'origin_forbidden',
      'only origins in the embedOrigins of the merchant may frame this page',
    );
  const own = await frameOf(pageRequest, `${options.agentApi}/session/${session.sessionId}`, front);
  const frame = { ...own, brand: `${own.brand} ${framedStyle}`.trim() };
  const { texts, ...data } = await sessionPageData(options, { session, front }, frame.language);
  // No frame asks a wallet for anything, so wallets have a window of their own.
  const framed = { ...data, shop, texts: { ...texts, browserWallet: texts.walletWindow } };
  const text = renderCheckout(framed, frame, unixSeconds(options.clock.now()));
  return send(pageRequest, frame, text, [shop]);
}

async function send(
  { request, reply }: PageRequest,
  frame: PageFrame,
  text: string,
  ancestors: readonly string[] = [],
): Promise<Buffer> {
  const { coding, bytes } = await codePage(text, request.headers['accept-encoding']);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', pagePolicy(frame, ancestors))
    // Only a page that keeps its opener can tell it what became of the payment.
    .header(
      'cross-origin-opener-policy',
      frame.shop === undefined ? 'same-origin-allow-popups' : 'unsafe-none',
    )
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

/** Keeps the chosen language from page to page. */
function queryOf(request: FastifyRequest): string {
  return chosenLanguageOf(request) === undefined ? '' : `?lang=${languageOf(request).tag}`;
}
