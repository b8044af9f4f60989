import type { FastifyReply } from 'fastify';
import type { CheckoutContext } from './context.ts';
import { sessionOf } from './payment.ts';
import { qrCode, qrPath } from './qr.ts';

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
  const { size, path } = qrPath(qrCode(`${deps.origin}/checkout/${session.sessionId}`));
  reply.type('image/svg+xml').header('cache-control', 'private, max-age=86400, immutable');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}"/></svg>`;
}
