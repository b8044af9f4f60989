import type { Database } from '@florin/pg';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { merchantText, merchantTextLimits } from '#authorizations/merchant-text.ts';
import { findShownMerchant } from '#catalog/branding.ts';
import {
  endWeeklySummary,
  type SummaryReader,
  type UnsubscribeLinks,
  unsubscribePath,
} from '#mail/unsubscribe.ts';
import { type Html, html } from '#outside/html.ts';
import { formPagePolicy, renderPage } from '../browser-page.ts';
import type { Door } from '../server.ts';

interface UnsubscribeDoorContext {
  /** In the scope of the system: the link alone names the member. */
  readonly db: Database;
  readonly links: UnsubscribeLinks;
  readonly dashboardOrigin: string;
}

type LinkRequest = FastifyRequest<{ Params: SummaryReader & { readonly code: string } }>;

/** Far more than a mailbox sends: `List-Unsubscribe=One-Click`. */
const maxBodyBytes = 4_096;
/** RFC 8058 lets mailboxes send either. */
const bodyTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/**
 * The links of weekly summaries. A GET changes nothing, because programs that check e-mails follow links. A POST ends the
 * summary, whether the page's button or the mailbox sends it; what its body says does not matter.
 */
export function unsubscribeDoor({ db, links, dashboardOrigin }: UnsubscribeDoorContext): Door {
  const choices = html`<a href="${dashboardOrigin}/dashboard/my-account#notifications">My account</a>`;
  return (server) => {
    server.addContentTypeParser(
      bodyTypes,
      { parseAs: 'string', bodyLimit: maxBodyBytes },
      (_request, _text, done) => done(null, undefined),
    );
    const route = {
      url: `${unsubscribePath}/:merchantId/:userId/:code`,
      config: { query: 'any' },
    } as const;

    server.route({
      ...route,
      method: 'GET',
      handler: async (request: LinkRequest, reply) => {
        if (!isGenuine(links, request)) return sayUnknown(reply, choices);
        const merchant = await nameOf(db, request);
        return answer(reply, 'Stop the weekly summary?', [
          html`<p>Press the button to stop the weekly summary of ${merchant}. Nothing has changed yet.</p>`,
          html`<form method="post"><button>Stop the weekly summary</button></form>`,
        ]);
      },
    });

    server.route({
      ...route,
      method: 'POST',
      handler: async (request: LinkRequest, reply) => {
        if (!isGenuine(links, request)) return sayUnknown(reply, choices);
        await endWeeklySummary(db, request.params);
        const merchant = await nameOf(db, request);
        return answer(reply, 'The weekly summary is stopped', [
          html`<p>You no longer get the weekly summary of ${merchant} by e-mail. Your other e-mails stay as they are.</p>`,
          html`<p>You can choose it again in ${choices}.</p>`,
        ]);
      },
    });
  };
}

function isGenuine(links: UnsubscribeLinks, { params: { merchantId, userId, code } }: LinkRequest): boolean {
  return links.isGenuine({ merchantId, userId }, code);
}

async function nameOf(db: Database, { params: { merchantId } }: LinkRequest): Promise<string> {
  const { merchantName } = await findShownMerchant(db, merchantId);
  return merchantText(merchantName, merchantTextLimits.linkName);
}

function sayUnknown(reply: FastifyReply, choices: Html): string {
  return answer(reply.code(404), 'This link does not work', [
    html`<p>It is incomplete, or was made with a key that this installation no longer has. Nothing was changed.</p>`,
    html`<p>You can choose your e-mails in ${choices}.</p>`,
  ]);
}

function answer(reply: FastifyReply, title: string, body: readonly Html[]): string {
  reply.type('text/html; charset=utf-8').headers({
    'content-security-policy': formPagePolicy,
    'x-robots-tag': 'noindex',
  });
  return renderPage(title, html`${body}`);
}
