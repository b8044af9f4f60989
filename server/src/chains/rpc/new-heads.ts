import type { Hex } from '@florin/protocol/order.ts';
import { Agent, WebSocket } from 'undici';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { parseBloom, parseHash, parseRecord } from './parse.ts';
import { RpcAnswerInvalid } from './rpc.ts';

/** What a node says of a block of which it tells that it is new. Good for asking about it, and for nothing else. */
export interface HeadHint {
  readonly hash: Hex;
  readonly logsBloom: Hex;
}

/** Wakes a watcher when a node says that there is a new block. Nothing that the node says is believed. */
export interface NewHeads {
  /** Resolves at the next message, at once when one came since the last time, and when the signal aborts. */
  wake(signal: AbortSignal): Promise<void>;
  /** What the last message said of its block; undefined when it was asked for before, or is no such message. */
  hint(): HeadHint | undefined;
  /** Stays connected to every address until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const firstBackOffMs = 500;
const maxBackOffMs = 60_000;
/** A connection that lives this long starts its back-off afresh. */
const soundAfterMs = 60_000;
/** A node that says nothing for so long is connected to anew: no chain takes longer for a block. */
const maxSilenceMs = 60_000;
const connectLimitMs = 10_000;
/** A header takes two thousand. */
const maxMessageBytes = 100_000;
const subscribe = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] });

/** Listens for new heads over WebSockets. */
export function newHeads(options: {
  readonly chainId: number;
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}): NewHeads {
  let isNews = false;
  let newest: unknown;
  const waiting = new Set<() => void>();
  const note = (message: unknown) => {
    isNews = true;
    newest = message;
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
    hint() {
      const message = newest;
      newest = undefined;
      return hintIn(message);
    },
    async run(signal) {
      await Promise.all(options.urls.map((url) => stayConnected(url, { ...options, signal, note })));
    },
  };
}

/** Reads `eth_subscription` of `newHeads` (the Ethereum execution API's only common form of it). */
function hintIn(message: unknown): HeadHint | undefined {
  if (typeof message !== 'string') return undefined;
  try {
    const { params } = parseRecord('message', JSON.parse(message));
    const { result } = parseRecord('params', params);
    const head = parseRecord('head', result);
    return {
      hash: parseHash('head.hash', head['hash']),
      logsBloom: parseBloom('head.logsBloom', head['logsBloom']),
    };
  } catch (error) {
    // The answer to the subscription, or nonsense: it has woken the watcher, and does no more.
    if (error instanceof SyntaxError || error instanceof RpcAnswerInvalid) return undefined;
    throw error;
  }
}

interface Listening {
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly note: (message: unknown) => void;
}

async function stayConnected(url: string, listening: Listening): Promise<void> {
  const { chainId, clock, log, signal } = listening;
  let failures = 0;
  while (!signal.aborted) {
    const start = clock.monotonicMs();
    const reason = await listen(url, listening);
    if (signal.aborted) return;
    failures = clock.monotonicMs() - start > soundAfterMs ? 0 : failures + 1;
    // The address often holds a key: only the host is told. Polling goes on, so that this is no outage.
    if (failures % 10 === 1) log.warn('rpc.new_heads_lost', { chainId, node: new URL(url).host, reason });
    await clock.sleep(Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(failures, 10)), signal);
  }
}

/** One connection from its opening to its end; gives the reason for that. */
async function listen(url: string, { clock, signal, note }: Listening): Promise<string> {
  const dispatcher = new Agent({
    webSocket: { maxPayloadSize: maxMessageBytes },
    connect: { timeout: connectLimitMs },
  });
  const socket = new WebSocket(url, { dispatcher });
  const over = new AbortController();
  const ended = new Promise<string>((resolve) => {
    socket.addEventListener('open', () => socket.send(subscribe));
    socket.addEventListener('close', (event) => resolve(`closed with code ${event.code}`));
    socket.addEventListener('error', () => resolve('connection failed'));
  });
  let heardAtMs = clock.monotonicMs();
  socket.addEventListener('message', ({ data }) => {
    heardAtMs = clock.monotonicMs();
    note(data);
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
