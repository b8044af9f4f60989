import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

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

/** Whether something accepts connections on this loopback port now. */
export const isPortAnswering = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: LOOPBACK });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });

const reservePort = (): Promise<{ port: number; release: () => Promise<void> }> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port: 0, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') {
        reject(new Error('The system gave no port number.'));
        return;
      }
      const release = (): Promise<void> => new Promise((done) => server.close(() => done()));
      resolve({ port: address.port, release });
    });
  });

/**
 * Distinct loopback ports that are free at this moment, chosen by the system.
 * All are held until the last one is known, so none is given twice.
 */
export const findFreePorts = async (count: number): Promise<number[]> => {
  const reserved = await Promise.all(Array.from({ length: count }, reservePort));
  await Promise.all(reserved.map(({ release }) => release()));
  return reserved.map(({ port }) => port);
};

/** One free loopback port; see {@link findFreePorts}. */
export const findFreePort = async (): Promise<number> => {
  const [port] = await findFreePorts(1);
  if (port === undefined) throw new Error('The system gave no free port.');
  return port;
};

/** Below the range from which systems lend ports to outgoing connections, so a kept port stays ours. */
const KEPT_PORTS = { first: 21_000, last: 31_000 } as const;
const CHOICE_LIMIT = 200;

/** Distinct free loopback ports that are likely to be free at every later start, too. */
export const choosePortsToKeep = async (count: number): Promise<number[]> => {
  const chosen = new Set<number>();
  for (let attempt = 0; chosen.size < count; attempt += 1) {
    if (attempt === CHOICE_LIMIT) throw new Error('There are not enough free ports.');
    const port = randomInt(KEPT_PORTS.first, KEPT_PORTS.last);
    if (await isPortFree(port)) chosen.add(port);
  }
  return [...chosen];
};
