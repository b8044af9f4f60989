import { Refusal } from '@florin/protocol/error.ts';
import { chooseLanguage, type Language } from '@florin/web/text/languages.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findLink } from '#links/link.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { unixSeconds } from '#outside/clock.ts';
import { findSession } from '#sessions/session.ts';
import type { Log } from '#telemetry/log.ts';
import type { Door } from '../server.ts';
import { bundleScript, type Script } from './assets.ts';
import { addCheckoutApi } from './checkout-api.ts';
import { addDemoPayer, type DemoPayer } from './demo-payer.ts';
import { type PageFrame, pagePolicy, renderCheckout, renderNotice } from './page.ts';
import { linkPageData, type PageDeps, sessionPageData } from './page-data.ts';
import type { PaymentDeps } from './payment.ts';

export interface CheckoutDoorOptions extends PaymentDeps {
  readonly log: Log;
  /** Base URL of the AI protocol, without a slash at the end. */
  readonly agentApi: string;
  /** Only in local worlds: pays for visitors who have no wallet. */
  readonly demo?: DemoPayer;
}

interface Visit {
  readonly options: CheckoutDoorOptions;
  readonly page: PageDeps;
  readonly script: Script;
}

/**
 * The hosted pages `/link/:linkId` and `/checkout/:sessionId`, their script, and the door behind which the script works. A
 * view writes nothing.
 */
export function checkoutDoor(options: CheckoutDoorOptions): Door {
  return async (server) => {
    const { demo } = options;
    const page = { ...options, ...(demo === undefined ? {} : { demoPayer: demo.address }) };
    const visit: Visit = { options, page, script: await bundleScript() };
    server.get<{ Params: { linkId: string } }>('/link/:linkId', async (request, reply) => {
      const link = await findLink(options.db, request.params.linkId);
      return linkPage(visit, link, request, reply);
    });
    server.get<{ Params: { sessionId: string } }>('/checkout/:sessionId', async (request, reply) => {
      return sessionPage(visit, request.params.sessionId, request, reply);
    });
    server.get<{ Params: { file: string } }>('/checkout/assets/:file', async (request, reply) => {
      // Only the script that runs: an older page works on without, and is whole again when it is loaded anew.
      if (!visit.script.path.endsWith(`/${request.params.file}`)) throw new Refusal('route_unknown');
      reply
        .type('text/javascript; charset=utf-8')
        .header('cache-control', 'public, max-age=31536000, immutable');
      return visit.script.text;
    });
    addCheckoutApi(server, options);
    if (demo !== undefined) addDemoPayer(server, options, demo);
  };
}

function linkPage(
  visit: Visit,
  link: StoredLink | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const { options } = visit;
  if (link === undefined || link.status === 'deleted') return notFound(visit, request, reply);
  const frame = open(visit, request, reply, `${options.agentApi}/payment/link/${link.linkId}`);
  const { texts } = frame.language;
  if (link.status !== 'active') {
    const words = merchantText(link.customDisabledText, merchantTextLimits.customDisabledText);
    const name = merchantText(link.linkName, merchantTextLimits.linkName);
    return renderNotice(frame, texts.disabled, [name, words === '' ? texts.disabledHint : words]);
  }
  const data = linkPageData(visit.page, link, frame.language);
  return renderCheckout(data, frame, unixSeconds(options.clock.now()));
}

async function sessionPage(
  visit: Visit,
  sessionId: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { options } = visit;
  const session = await findSession(options.db, sessionId);
  if (session === undefined) return notFound(visit, request, reply);
  const frame = open(visit, request, reply, `${options.agentApi}/session/${session.sessionId}`);
  const data = await sessionPageData(visit.page, session, frame.language);
  return renderCheckout(data, frame, unixSeconds(options.clock.now()));
}

function notFound(visit: Visit, request: FastifyRequest, reply: FastifyReply): string {
  const frame = open(visit, request, reply, '');
  reply.code(404);
  const { notFound: title, notFoundHint } = frame.language.texts;
  return renderNotice(frame, title, [notFoundHint]);
}

/** Sets the headers of a page, and what its frame is made of. */
function open(
  { options, script }: Visit,
  request: FastifyRequest,
  reply: FastifyReply,
  agentUrl: string,
): PageFrame {
  const nonce = Buffer.from(options.random.bytes(16)).toString('base64');
  reply
    .type('text/html; charset=utf-8')
    .header('content-security-policy', pagePolicy(nonce))
    .header('cross-origin-opener-policy', 'same-origin-allow-popups')
    .header('vary', 'accept-language');
  return { language: languageOf(request), nonce, script, agentUrl };
}

function languageOf(request: FastifyRequest): Language {
  const { lang } = request.query as { lang?: unknown };
  return chooseLanguage(typeof lang === 'string' ? lang : undefined, request.headers['accept-language']);
}
