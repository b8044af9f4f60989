import { createHash } from 'node:crypto';
import { chooseLanguage } from '@florin/checkout';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { dashboardApi } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Html, html } from '#outside/html.ts';
import { wordsOfRefusal } from './checkout/refusal-words.ts';
import type { Failure } from './envelope.ts';

const style =
  ':root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1rem}';
const styleHash = createHash('sha256').update(style).digest('base64');
const policyWithForms = (target: string) =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action ${target}; frame-ancestors 'none'`;

/** The pages load, run and embed only their own style. */
export const browserPagePolicy = policyWithForms("'none'");
/** The same for a page with a form, which it sends to this service alone. */
export const formPagePolicy = policyWithForms("'self'");

/** Paths below these serve programs, regardless of the request's Accept header. */
const interfaces = [
  merchantApi.basePath,
  checkoutApi.basePath,
  dashboardApi.basePath,
  '/aipay',
  '/api/v1',
  '/x402',
  '/mcp',
];

/** Whether a person reads the answer: the client asks for HTML, outside the interfaces for programs. */
export function isForBrowser({ url, headers }: Pick<FastifyRequest, 'url' | 'headers'>): boolean {
  if (headers.accept?.includes('text/html') !== true) return false;
  return !interfaces.some((base) => url.startsWith(base) && /^([/?#]|$)/.test(url.slice(base.length)));
}

/** A failure as a page, with the content of the envelope. */
export function renderFailurePage({ entry, message }: Failure, requestId: string): string {
  return renderPage(
    entry.text,
    html`<p>${message}</p><p>Code <a href="/docs/errors/${entry.code}">${entry.code}</a>, request ${requestId}</p>
<p><a href="/">To the start</a></p>`,
  );
}

/** The pages of payers, who know neither this service nor English. */
const payerPages = /^\/(link|checkout)\//;

/** The same for a payer whose page failed by no fault of theirs, in their language. Undefined for other pages. */
export function renderPayerFailure(
  { url, query, headers, id }: FastifyRequest,
  { slug, entry, retryAfterSeconds }: Failure,
): string | undefined {
  if (!payerPages.test(url)) return undefined;
  const { lang } = query as { lang?: unknown };
  const language = chooseLanguage(typeof lang === 'string' ? lang : undefined, headers['accept-language']);
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const words = wordsOfRefusal(language, new Refusal(slug, details), '');
  return renderPage(
    language.texts.disabled,
    html`<p>${words}</p><p><small><bdi>${entry.code} · ${id}</bdi></small></p>`,
    language,
  );
}

/** What this installation is, in its own name. */
function renderHome({ origin, displayName }: HomeOptions): string {
  const { host } = new URL(origin);
  const name = displayName ?? host;
  const at = name === host ? '' : html`<p>at ${host}</p>`;
  return renderPage(
    name,
    html`${at}<p>With this service merchants collect stablecoin payments, and their payers and agents pay them.</p>
<p>To pay, open the link that the merchant gave you.</p>
<ul><li><a href="/dashboard">Sign in</a> as a merchant</li><li><a href="/status">Status</a> of the books and the chains</li>
<li><a href="/docs">Documentation</a></li>
<li><a href="/openapi.json">OpenAPI</a> and <a href="/llms.txt">llms.txt</a> for programs</li></ul>`,
  );
}

/** The addresses of the home page. */
export interface HomeOptions {
  readonly origin: string;
  /** Of the installation; the host when absent. */
  readonly displayName?: string | undefined;
  /** The console of the local world, to which its browsers are sent instead. */
  readonly consoleUrl?: string | undefined;
}

/** GET / for browsers: what this service is, and its links. For programs it is an unknown path, but in the local world. */
export function addHomePage(server: FastifyInstance, options: HomeOptions): void {
  const { consoleUrl } = options;
  const home = renderHome(options);
  server.get('/', { config: { query: 'any' } }, async (request, reply) => {
    if (!isForBrowser(request)) {
      if (consoleUrl === undefined) throw new Refusal('route_unknown', 'GET /');
      return reply.type('text/plain; charset=utf-8').send(textOfWorld(options.origin, consoleUrl));
    }
    reply.header('vary', 'accept');
    if (consoleUrl !== undefined) return reply.redirect(consoleUrl);
    reply.type('text/html; charset=utf-8').header('content-security-policy', browserPagePolicy);
    return home;
  });
}

/** What a person at a terminal finds in the local world. */
function textOfWorld(origin: string, consoleUrl: string): string {
  const places = { Console: consoleUrl, Dashboard: `${origin}/dashboard`, Documentation: `${origin}/docs` };
  const lines = Object.entries({ ...places, 'Merchant API': `${origin}${merchantApi.basePath}` });
  return `A local world of Florin.\n${lines.map(([name, url]) => `${name}: ${url}\n`).join('')}`;
}

/** A small page in the service's own style, for browserPagePolicy. */
export function renderPage(
  title: string,
  body: Html,
  { tag, direction }: { readonly tag: string; readonly direction: string } = { tag: 'en', direction: 'ltr' },
): string {
  return html`<!doctype html>
<html lang="${tag}" dir="${direction}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${style}</style></head><body><main><h1>${title}</h1>${body}</main></body></html>`
    .text;
}
