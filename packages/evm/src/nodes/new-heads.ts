import { Agent, WebSocket } from 'undici';
import type { Clock, Log } from '../context.ts';

/**
 * Notifies a watcher when a node announces a new block. The watcher then reads it over HTTP: announcements are not
 * trusted.
 */
export interface NewHeads {
  /** Resolves at the next message, at once when one came since the last time, and when the signal aborts. */
  wake(signal: AbortSignal): Promise<void>;
  /** Stays connected to every address until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] });

/** Listens for new heads over WebSockets. */
export function newHeads(options: {
  readonly chainId: number;
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}): NewHeads {
  let isNews = false;
  const waiting = new Set<() => void>();
  const note = () => {
    isNews = true;
    for (const wakeUp of waiting) wakeUp();
  };
  return {
    wake(signal) {
      return new Promise<void>((resolve) => {
        const end = () => {
          waiting.delete(end);
          signal.removeEventListener('abort', end);
          isNews = false;
          resolve();
        };
        if (isNews || signal.aborted) return end();
        waiting.add(end);
        signal.addEventListener('abort', end);
      });
    },
    async run(signal) {
      const { urls, ...rest } = options;
      await Promise.all(urls.map((url) => stayConnected({ ...rest, url, signal, onMessage: note })));
    },
  };
}

interface SocketOptions {
  readonly url: string;
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onMessage: () => void;
}

/** A header takes two thousand bytes. A longer message ends the connection before it fills the memory. */
const maxMessageBytes = 100_000;
const firstBackOffMs = 500;
const maxBackOffMs = 60_000;
/** A connection that lasts this long resets its back-off. */
const soundAfterMs = 60_000;
/** After this silence the connection is opened again: every chain makes blocks faster than this. */
const maxSilenceMs = 60_000;
const connectLimitMs = 10_000;

/** Keeps a WebSocket open until the signal aborts. */
async function stayConnected(options: SocketOptions): Promise<void> {
  const { url, chainId, clock, log, signal } = options;
  let failures = 0;
  while (!signal.aborted) {
    const start = clock.monotonicMs();
    const reason = await connect(options);
    if (signal.aborted) return;
    failures = clock.monotonicMs() - start > soundAfterMs ? 0 : failures + 1;
    // The address often contains a key, so only the host is logged. Polling continues without the connection: this is
    // no outage.
    if (failures % 10 === 1) log.warn('rpc.new_heads_lost', { chainId, node: new URL(url).host, reason });
    await clock.sleep(Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(failures, 10)), signal);
  }
}

/** Runs one connection until it ends, and returns the reason. */
async function connect(options: SocketOptions): Promise<string> {
  const { clock, signal } = options;
  const dispatcher = new Agent({
    webSocket: { maxPayloadSize: maxMessageBytes },
    connect: { timeout: connectLimitMs },
  });
  const socket = new WebSocket(options.url, { dispatcher });
  const over = new AbortController();
  let heardAtMs = clock.monotonicMs();
  const ended = new Promise<string>((resolve) => {
    socket.addEventListener('open', () => socket.send(subscribe));
    socket.addEventListener('close', (event) => resolve(`closed with code ${event.code}`));
    socket.addEventListener('error', () => resolve('connection failed'));
  });
  socket.addEventListener('message', () => {
    heardAtMs = clock.monotonicMs();
    options.onMessage();
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
