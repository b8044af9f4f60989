import { errorCatalogue } from '@florin/protocol/error.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import type { FastifyReply } from 'fastify';
import type { Chains } from '#chains/chain.ts';
import type { Queryable } from '#db/database.ts';
import { findLink } from '#links/link.ts';
import type { StoredLink } from '#links/stored-link.ts';
import { findSession } from '#sessions/session.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import { type Html, html } from '../html.ts';
import type { Door } from '../server.ts';
import { type Page, pagePolicy, renderPage } from './page.ts';

export interface CheckoutDoorOptions {
  readonly db: Queryable;
  readonly chains: Chains;
  readonly origin: string;
  /** Base URL of the AI protocol, without a slash at the end. */
  readonly agentApi: string;
}

/**
 * The hosted pages: what is sold, for how much, and how the payment stands. Server-rendered, without scripts; a view
 * writes nothing.
 */
export function checkoutDoor(options: CheckoutDoorOptions): Door {
  return (server) => {
    server.get<{ Params: { linkId: string } }>('/link/:linkId', async (request, reply) => {
      const link = await findLink(options.db, request.params.linkId);
      if (link === undefined || link.status === 'deleted') return send(reply, notFound('payment link'), 404);
      return send(reply, linkPage(options, link));
    });
    server.get<{ Params: { sessionId: string } }>('/checkout/:sessionId', async (request, reply) => {
      const session = await findSession(options.db, request.params.sessionId);
      if (session === undefined) return send(reply, notFound('checkout session'), 404);
      return send(reply, sessionPage(options, session));
    });
  };
}

function send(reply: FastifyReply, page: Page, status = 200): string {
  reply.code(status).type('text/html; charset=utf-8').header('content-security-policy', pagePolicy);
  return renderPage(page);
}

function notFound(what: string): Page {
  return {
    title: 'Not found',
    body: html`<h1>Not found</h1><p>There is no such ${what}. Please check the address, or ask whoever sent it to you.</p>
<p>${errorCatalogue.route_unknown.text} (${errorCatalogue.route_unknown.code})</p>`,
  };
}

function itemList(items: readonly LineItem[]): Html {
  return html`<ul>${items.map(
    (
      item,
    ) => html`<li><span>${item.productData?.productName ?? 'Item'}${item.quantity > 1 ? ` × ${item.quantity}` : ''}</span>
<span>${item.unitPrice === 0 ? '' : `$${formatUsd(microUsd(BigInt(item.unitPrice) * BigInt(item.quantity)))}`}</span></li>`,
  )}</ul>`;
}

/** How to pay from here: the protocol speaks to wallets and agents, and needs no account. */
function howToPay(url: string): Html {
  return html`<h2>Pay with a wallet or an agent</h2>
<p>The payment protocol answers at this address. Each of its answers says what to sign or send next.</p>
<pre>${url}</pre>`;
}

function linkPage(options: CheckoutDoorOptions, link: StoredLink): Page {
  const url = `${options.agentApi}/payment/link/${link.linkId}`;
  const token = options.chains.token(link.settlementToken);
  const amount = link.linkType === 'custom' ? html`Your choice` : html`$${formatUsd(link.amount)}`;
  const isActive = link.status === 'active';
  return {
    title: link.linkName,
    alternateUrl: url,
    body: html`<h1>${amount}</h1><p>${link.linkName}</p>
${itemList(link.items)}
<h2>Details</h2>
<dl><dt>Paid to</dt><dd>${link.account.accountName}</dd>
<dt>Wallet</dt><dd>${link.account.accountAddress}</dd>
<dt>Settled in</dt><dd>${token === undefined ? link.settlementToken : `${token.symbol} on ${token.chainName}`}</dd>
<dt>Fee</dt><dd>${link.feeModel === 1 ? 'included' : 'added to the price'}</dd></dl>
${isActive ? howToPay(url) : html`<h2>Not available</h2><p>${link.customDisabledText || 'This payment link is disabled.'}</p>`}`,
  };
}

/** What each status means to a payer. */
const statusTexts: Record<StoredSession['status'], string> = {
  initialized: 'Waiting for payment',
  paid: 'Paid',
  settling: 'Paid, on its way to the merchant',
  completed: 'Completed',
  settlement_pending: 'Paid; the transfer to the merchant is delayed and is being repeated',
  expired: 'Expired without payment',
  cancelled: 'Cancelled by the merchant',
};

const openStatuses: readonly StoredSession['status'][] = [
  'initialized',
  'paid',
  'settling',
  'settlement_pending',
];

function sessionPage(options: CheckoutDoorOptions, session: StoredSession): Page {
  const url = `${options.agentApi}/session/${session.sessionId}`;
  const seen = session.status === 'initialized' && session.initiateTx !== '';
  const row = (name: string, value: string) =>
    value === '' ? html`` : html`<dt>${name}</dt><dd>${value}</dd>`;
  const time = (at: Date | undefined) => (at === undefined ? '' : `${formatTimestamp(at)} UTC`);
  return {
    title: `$${formatUsd(session.amount)}`,
    alternateUrl: url,
    ...(openStatuses.includes(session.status) ? { refreshSeconds: 3 } : {}),
    body: html`<h1>$${formatUsd(session.amount)}</h1>
<p><span class="status">${seen ? 'Payment seen, waiting for finality' : statusTexts[session.status]}</span></p>
${itemList(session.items)}
<h2>Details</h2>
<dl>${row('Merchant’s wallet', session.recipient)}${row('Pay until', session.status === 'initialized' ? time(session.expirationTime) : '')}
${row('Paid', time(session.paymentSucceededAt))}${row('Payment', session.initiateTx)}
${row('Completed', time(session.settlementSucceededAt))}${row('Settlement', session.completeTx)}${row('Receipt', session.receiptId)}</dl>
${session.status === 'initialized' && !seen ? howToPay(url) : html`<p>It is safe to close this page.</p>`}`,
  };
}
