import { timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';

/** Names the cookie apart from those of other programs, because cookies are shared by all ports of a host. */
const COOKIE = 'florin_console';
const LOOPBACK_HEX = '0100007F';
const UID_FIELD = 7;

const toPortHex = (port: number | undefined): string =>
  (port ?? 0).toString(16).toUpperCase().padStart(4, '0');

/** Whether the other end of this loopback connection is a process of our user, or of root, by the kernel's own table. */
const isOfOurUser = ({ socket }: IncomingMessage): boolean => {
  const ends = `${LOOPBACK_HEX}:${toPortHex(socket.remotePort)} ${LOOPBACK_HEX}:${toPortHex(socket.localPort)}`;
  let table: string;
  try {
    table = readFileSync('/proc/net/tcp', 'utf8');
  } catch {
    // Without the table only the token proves anything.
    return false;
  }
  const line = table.split('\n').find((text) => text.includes(ends));
  const uid = Number(line?.trim().split(/\s+/)[UID_FIELD] ?? Number.NaN);
  return uid === 0 || uid === process.getuid?.();
};

const isEqual = (given: string, wanted: string): boolean => {
  const [left, right] = [Buffer.from(given), Buffer.from(wanted)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** Whether a program sends the token of `world.json`. */
export const hasBearer = ({ headers }: IncomingMessage, token: string): boolean =>
  isEqual(headers.authorization ?? '', `Bearer ${token}`);

/** Whether this is the token of `world.json`. */
export const isToken = (given: string, token: string): boolean => isEqual(given, token);

/** The header that lets a browser in later, for a person who has shown the token. */
export const cookieOf = (token: string): string => `${COOKIE}=${token}; Path=/; HttpOnly; SameSite=Strict`;

/** Whether a browser of the person who runs this world asks: by the user of its process, or by the cookie. */
export const isOwnBrowser = (incoming: IncomingMessage, token: string): boolean => {
  const cookies = (incoming.headers.cookie ?? '').split('; ');
  return cookies.some((cookie) => isEqual(cookie, `${COOKIE}=${token}`)) || isOfOurUser(incoming);
};

/**
 * Whether the request names this address: a page of another site whose name leads here does not. Requests that change
 * something also carry a header that no page of another origin can send.
 */
export const isOfThisSite = ({ headers }: IncomingMessage, port: number): boolean =>
  headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`;

export const isFromOwnPage = ({ headers }: IncomingMessage): boolean =>
  headers['x-florin-console'] === '1' && headers['sec-fetch-site'] === 'same-origin';
