import { Refusal } from '@florin/protocol/error.ts';
import type { FastifyReply } from 'fastify';
import { findDepositAddresses } from '#orders/deposit-terms.ts';
import type { CheckoutContext } from './context.ts';
import { sessionOf } from './payment.ts';
import { qrCode, qrPath } from './qr.ts';
import { shownDepositOf } from './state.ts';

/**
 * The address of a session's page as a picture of a QR code. It has no secret: the other device can pay without it. Refuses
 * unknown sessions with 100201.
 */
export async function sessionCode(
  deps: CheckoutContext,
  sessionId: string,
  reply: FastifyReply,
): Promise<string> {
  const session = await sessionOf(deps, sessionId);
  return sendCode(`${deps.origin}/checkout/${session.sessionId}`, reply);
}

/**
 * The deposit address of a session's order as a picture of a QR code: alone, which every exchange and wallet reads, or with
 * network and amount (EIP-681). Refuses unknown sessions with 100201, and orders with 404000.
 */
export async function depositCode(
  deps: CheckoutContext,
  { sessionId, orderId, kind }: Record<'sessionId' | 'orderId' | 'kind', string>,
  reply: FastifyReply,
): Promise<string> {
  const session = await sessionOf(deps, sessionId);
  const found = (await findDepositAddresses(deps.db, [orderId])).get(orderId);
  const shown = found?.sessionId === session.sessionId && shownDepositOf(deps, orderId, found).shownDeposit;
  if (!shown) throw new Refusal('route_unknown');
  return sendCode(kind === 'wallet' ? shown.transferUri : shown.address, reply);
}

function sendCode(text: string, reply: FastifyReply): string {
  const { size, path } = qrPath(qrCode(text));
  reply.type('image/svg+xml').header('cache-control', 'private, max-age=86400, immutable');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}"/></svg>`;
}
