import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Log } from '#telemetry/log.ts';

const header = 'x-forwarded-for';

/**
 * Takes from X-Forwarded-For what is left of an entry that is no address, with that entry: `request.ip` is then the address
 * that a trusted proxy saw, or the peer's own, and never a text that a client made up.
 */
export function keepReadableAddresses({ raw }: FastifyRequest): void {
  const given = raw.headers[header];
  if (given === undefined) return;
  const entries = [given].flat().join(',').split(',');
  const trimmed = entries.map((entry) => entry.trim());
  const readable = trimmed.slice(trimmed.findLastIndex((entry) => isIP(entry) === 0) + 1);
  if (readable.length > 0) raw.headers[header] = readable.join(', ');
  else delete raw.headers[header];
}

/**
 * Tells the log once of a peer that is not trusted and names a client: behind a proxy that `http.trustedProxies` lacks, all
 * clients count as one for rate limits, key restrictions and the audit log.
 */
export function untrustedPeerWarning(log: Log): (request: FastifyRequest) => void {
  let isTold = false;
  return ({ ip, raw }) => {
    const peer = raw.socket.remoteAddress;
    if (isTold || raw.headers[header] === undefined || ip !== peer) return;
    isTold = true;
    log.warn('http.proxy_not_trusted', { peer, setting: 'http.trustedProxies' });
  };
}
