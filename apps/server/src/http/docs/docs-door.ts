import type { FastifyReply } from 'fastify';
import type { Door } from '../server.ts';
import { docsPolicy, renderDocsPage } from './html-page.ts';
import { renderMarkdown } from './markdown.ts';
import { llmsFullText, llmsText, type SiteOptions, servedTarget, sitePages } from './site.ts';

const markdownType = 'text/markdown; charset=utf-8';
const textType = 'text/plain; charset=utf-8';

/**
 * The documentation: every page as HTML without scripts and, at the same path with `.md`, as Markdown; and the indexes
 * for language models. Everything is rendered once, when the door opens.
 */
export function docsDoor(options: SiteOptions): Door {
  const pages = sitePages(options);
  const { origin } = options;
  return (server) => {
    const serve = (path: string, type: string, text: string) => {
      server.get(path, { config: { query: 'any' } }, async (_request, reply) => {
        setHeaders(reply, type);
        return text;
      });
    };
    for (const page of pages) {
      serve(page.path, 'text/html; charset=utf-8', renderDocsPage(page));
      serve(`${page.path}.md`, markdownType, renderMarkdown(page, servedTarget(origin)));
    }
    for (const base of ['', '/aipay']) {
      serve(`${base}/llms.txt`, textType, llmsText(origin, pages));
      serve(`${base}/llms-full.txt`, textType, llmsFullText(origin, pages));
    }
  };
}

function setHeaders(reply: FastifyReply, type: string): void {
  reply.type(type).headers({
    'cache-control': 'public, max-age=300',
    'content-security-policy': docsPolicy,
    // The pages are public, and tools on other origins read them.
    'access-control-allow-origin': '*',
    'cross-origin-resource-policy': 'cross-origin',
  });
}
