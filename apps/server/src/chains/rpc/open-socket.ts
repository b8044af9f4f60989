import { Agent, WebSocket } from 'undici';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';

/** One connection while it lasts. */
export interface OpenSocket {
  send(text: string): void;
  /** Gives it up; another one is opened in a while. */
  end(reason: string): void;
}

export interface SocketOptions {
  readonly url: string;
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** A longer message ends the connection before it is held. */
  readonly maxMessageBytes: number;
  /** By what name the log tells that the connection was lost. */
  readonly lostName: string;
  opened(socket: OpenSocket): void;
  heard(data: unknown): void;
  ended(reason: string): void;
}

const firstBackOffMs = 500;
const maxBackOffMs = 60_000;
/** A connection that lives this long starts its back-off afresh. */
const soundAfterMs = 60_000;
/** A node that says nothing for so long is connected to anew: no chain takes longer for a block. */
const maxSilenceMs = 60_000;
const connectLimitMs = 10_000;

/** Keeps a WebSocket open until the signal aborts. */
export async function stayConnected(options: SocketOptions): Promise<void> {
  const { url, chainId, clock, log, signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    const start = clock.monotonicMs();
    const reason = await connect(options);
    options.ended(reason);
    if (signal.aborted) return;
    failures = clock.monotonicMs() - start > soundAfterMs ? 0 : failures + 1;
    // The address often holds a key: only the host is told. All goes on without the connection, so that this is no outage.
    if (failures % 10 === 1) log.warn(options.lostName, { chainId, node: new URL(url).host, reason });
    await clock.sleep(Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(failures, 10)), signal);
  }
}

/** One connection from its opening to its end; gives the reason for that. */
async function connect(options: SocketOptions): Promise<string> {
  const { clock, signal } = options;
  const dispatcher = new Agent({
    webSocket: { maxPayloadSize: options.maxMessageBytes },
    connect: { timeout: connectLimitMs },
  });
  const socket = new WebSocket(options.url, { dispatcher });
  const over = new AbortController();
  let heardAtMs = clock.monotonicMs();
  const ended = new Promise<string>((resolve) => {
    socket.addEventListener('open', () => {
      options.opened({
        send: (text) => socket.send(text),
        end(reason) {
          over.abort();
          resolve(reason);
        },
      });
    });
    socket.addEventListener('close', (event) => resolve(`closed with code ${event.code}`));
    socket.addEventListener('error', () => resolve('connection failed'));
  });
  socket.addEventListener('message', ({ data }) => {
    heardAtMs = clock.monotonicMs();
    if (!over.signal.aborted) options.heard(data);
  });
  const silence = watchSilence(clock, AbortSignal.any([signal, over.signal]), () => {
    const limitMs = socket.readyState === WebSocket.CONNECTING ? connectLimitMs : maxSilenceMs;
    return limitMs - (clock.monotonicMs() - heardAtMs);
  });
  const reason = await Promise.race([ended, silence]);
  over.abort();
  socket.close();
  await dispatcher.destroy();
  return reason;
}

async function watchSilence(clock: Clock, signal: AbortSignal, leftMs: () => number): Promise<string> {
  while (!signal.aborted && leftMs() > 0) {
    await clock.sleep(Math.min(leftMs(), connectLimitMs), signal);
  }
  return 'silent for too long';
}
