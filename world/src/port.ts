import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The only address that the local world listens on. */
export const LOOPBACK = '127.0.0.1';

/** Whether nothing listens on this loopback port. */
export const isPortFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => server.close(() => resolve(true)));
  });

const SEARCH_LIMIT = 100;
const LAST_PORT = 65_535;

/** The first loopback port from `wanted` on that is free and not among `others`. */
export const findNextFreePort = async (wanted: number, others: readonly number[] = []): Promise<number> => {
  const end = Math.min(wanted + SEARCH_LIMIT, LAST_PORT + 1);
  for (let port = wanted; port < end; port += 1)
    if (!others.includes(port) && (await isPortFree(port))) return port;
  throw new Error(`No port from ${wanted} to ${end - 1} is free: choose another with FLORIN_PORT.`);
};

/**
 * Below the ranges from which systems assign ports to connections and to servers that ask for any (Linux from 32,768,
 * gVisor from 16,000). So a port that is unused for a while, as between two starts, is not assigned elsewhere.
 */
const OWN_PORTS = { first: 10_240, end: 16_000 } as const;
const CHOICE_LIMIT = 200;
/** Holds a returned port until this process ends: its user listens later, on the other address. */
const RESERVATION = '127.0.0.2';

/** Reserves a port against other searches; false when another search has it, or a server listens on all addresses. */
export const reservePort = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      // A system with a single loopback address, such as macOS, works without the reservation.
      else if (error.code === 'EADDRNOTAVAIL') resolve(true);
      else reject(error);
    });
    server.listen({ port, host: RESERVATION, exclusive: true }, () => {
      server.unref();
      resolve(true);
    });
  });

/**
 * Distinct loopback ports that are free now, and likely to be free at every later start. No other process gets one of
 * them while this process runs.
 */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const chosen: number[] = [];
  for (let attempt = 0; chosen.length < count; attempt += 1) {
    if (attempt === CHOICE_LIMIT) throw new Error('There are not enough free ports.');
    const port = randomInt(OWN_PORTS.first, OWN_PORTS.end);
    if ((await isPortFree(port)) && (await reservePort(port))) chosen.push(port);
  }
  return chosen;
};

/** One free loopback port; see {@link findFreePorts}. */
export const findFreePort = async (): Promise<number> => {
  const [port] = await findFreePorts(1);
  if (port === undefined) throw new Error('The system gave no free port.');
  return port;
};
