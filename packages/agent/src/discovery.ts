import { AgentError } from './error.ts';
import { type HttpAnswer, type Outside, request } from './outside.ts';
import { assertHost, type Policy } from './policy.ts';

/** What to pay: a URL, or a link's id with the base URL of the AI protocol. */
export type Target = string | { readonly linkId: string; readonly base: string };

/** The result of discovery. */
export interface Found {
  readonly kind: 'link' | 'session';
  readonly id: string;
  /** Base URL of the AI protocol, without a trailing slash. */
  readonly base: string;
}

const viewPath = /^(.*)\/(payment\/link|session)\/((?:lnk|sess)_[0-9A-Za-z]{1,64})$/;

/**
 * Finds the agent view of a target: the URL is the view itself, or a page that names it by `<link rel="alternate"
 * type="application/json">`. Refuses hosts outside the policy, and everything except https beyond loopback.
 */
export async function discover(outside: Outside, policy: Policy, target: Target): Promise<Found> {
  const text =
    typeof target === 'string' ? target : `${target.base.replace(/\/+$/, '')}/payment/link/${target.linkId}`;
  const url = secureUrl(policy, text);
  const found = foundAt(url);
  if (found !== undefined) return found;
  const page = await readPage(outside, url);
  // A redirect may have led to another host.
  const pageUrl = secureUrl(policy, page.url);
  const alternate = alternateOf(page.text);
  const view =
    alternate === undefined ? undefined : foundAt(secureUrl(policy, new URL(alternate, pageUrl).href));
  if (view === undefined) throw new AgentError('target_invalid', `${url.href} names no view for agents`);
  return view;
}

function secureUrl(policy: Policy, text: string): URL {
  if (!URL.canParse(text)) throw new AgentError('target_invalid', `${text} is no URL`);
  const url = new URL(text);
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw new AgentError('target_invalid', `${text} is not https`);
  if (url.username !== '' || url.password !== '')
    throw new AgentError('target_invalid', 'a URL with credentials is not followed');
  assertHost(policy, url);
  return url;
}

function foundAt(url: URL): Found | undefined {
  const match = viewPath.exec(url.origin + url.pathname);
  if (match === null) return undefined;
  const [, base = '', path, id = ''] = match;
  const kind = path === 'session' ? 'session' : 'link';
  return id.startsWith(kind === 'link' ? 'lnk_' : 'sess_') ? { kind, id, base } : undefined;
}

async function readPage(outside: Outside, url: URL): Promise<HttpAnswer> {
  let page: HttpAnswer;
  try {
    page = await request(outside, url, { headers: { accept: 'text/html' } });
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError('service_unreachable', `${url.href} does not answer`, { cause: error });
  }
  if (page.status >= 500 || page.status === 429)
    throw new AgentError('service_unreachable', `${url.href} answers ${page.status}`);
  if (page.status !== 200) throw new AgentError('target_invalid', `${url.href} answers ${page.status}`);
  return page;
}

/** The URL of the page's agent view, as written in the page. */
export function alternateOf(html: string): string | undefined {
  for (const [tag] of html.matchAll(/<link\b[^<>]{0,2000}>/gi)) {
    const attributes = new Map<string, string>();
    for (const [, name = '', quoted = ''] of tag.matchAll(/([a-z]+)\s*=\s*"([^"]*)"/gi))
      attributes.set(name.toLowerCase(), quoted.replaceAll('&amp;', '&'));
    const isAlternate = attributes.get('rel')?.toLowerCase().split(/\s+/).includes('alternate') === true;
    if (isAlternate && attributes.get('type') === 'application/json') return attributes.get('href');
  }
  return undefined;
}
