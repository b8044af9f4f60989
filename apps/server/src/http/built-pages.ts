import type { FastifyReply, FastifyRequest } from 'fastify';
import fresh from 'fresh';
import { html } from '#outside/html.ts';
import { browserPagePolicy, isForBrowser, renderPage } from './browser-page.ts';
import type { BuiltSite, SiteFile } from './built-site.ts';
import { chooseCoding } from './compression.ts';

/** Pages that were built ahead, and that a door serves as files. */
export interface BuiltPages {
  /** The path below which they are, such as `/docs`. */
  readonly path: string;
  /** As sentences name them, such as `documentation`. */
  readonly name: string;
  /** How long a build takes. */
  readonly takes: string;
  /** The command that builds them. */
  readonly command: string;
  /** Caches may keep them, and tools on other origins read them. */
  readonly isPublic: boolean;
}

/** Sends a file of the pages, or says that the reader has it. */
export async function sendBuilt(
  { path, isPublic }: BuiltPages,
  request: FastifyRequest,
  reply: FastifyReply,
  { site, file }: { readonly site: BuiltSite; readonly file: SiteFile },
): Promise<Buffer | undefined> {
  // An asset's name contains a hash of its content.
  const isAsset = request.url.startsWith(`${path}/assets/`);
  reply.type(file.type).headers({
    'cache-control': isAsset
      ? 'public, max-age=31536000, immutable'
      : isPublic
        ? 'public, no-cache'
        : 'no-cache',
    etag: file.etag,
    vary: 'accept, accept-encoding',
    'content-security-policy': site.policy,
  });
  if (isPublic)
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' });
  if (fresh(request.headers, { etag: file.etag })) {
    reply.code(304).send();
    return undefined;
  }
  const coding = chooseCoding(request.headers['accept-encoding']);
  if (coding !== 'identity') reply.header('content-encoding', coding);
  return file.bytesIn(coding);
}

/** The answer before the first build is complete. Browsers reload by themselves. */
export function sayUnbuilt(
  { name, takes, command }: BuiltPages,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const text = `The ${name} is being built. This takes ${takes} after the first start.`;
  const advice = `If it does not appear, run \`${command}\` in the checkout.`;
  reply.code(503).headers({ 'retry-after': '3', 'cache-control': 'no-store' });
  if (!isForBrowser(request)) {
    reply.type('text/plain; charset=utf-8');
    return `${text} ${advice}\n`;
  }
  reply
    .type('text/html; charset=utf-8')
    .headers({ refresh: '1', 'content-security-policy': browserPagePolicy });
  return renderPage(`The ${name} is being built`, html`<p>${text}</p><p>${advice}</p>`);
}
