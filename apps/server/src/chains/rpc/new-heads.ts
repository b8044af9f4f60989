import type { Hex } from '@florin/protocol/order.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { stayConnected } from './open-socket.ts';
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
      const { urls, chainId, clock, log } = options;
      await Promise.all(
        urls.map((url) =>
          stayConnected({
            ...{ url, chainId, clock, log, signal, maxMessageBytes },
            lostName: 'rpc.new_heads_lost',
            opened: (socket) => socket.send(subscribe),
            heard: note,
            // Polling goes on, and the next connection says what there is.
            ended: () => {},
          }),
        ),
      );
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
