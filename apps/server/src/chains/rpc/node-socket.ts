import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { type OpenSocket, stayConnected } from './open-socket.ts';
import { parseSmallQuantity } from './parse.ts';
import { type RpcCall, type RpcOutcome, RpcUnavailable, resultOf } from './rpc.ts';
import type { ExchangeLimits, NodeConnection } from './transport.ts';
import { questionOf, readAnswer } from './wire.ts';

/** A node's WebSocket for questions, beside the one that tells of new blocks: a large answer delays none of them. */
export interface NodeSocket {
  /** Whether it is open, of the right chain, not at rest, and nothing is being asked. */
  isReady(): boolean;
  /** One question at a time. */
  exchange: NodeConnection['exchange'];
  /** Gives the connection up, and is not ready for a while: longer each time, unless the time between was long too. */
  rest(reason: string): void;
  close(): Promise<void>;
}

/** Larger answers are asked for over HTTP. Most blocks with all their receipts take less. */
const maxMessageBytes = 4_000_000;
/** How often the node is asked for its chain: a proxy between closes a connection that is quiet for a minute. */
const checkEveryMs = 30_000;
const checkLimitMs = 5_000;
const firstRestMs = 5_000;
const maxRestMs = 3_600_000;
/** Ids go round here, on a connection that lasts so long: a late answer is never taken for another question's. */
const maxId = 99_000_000;
const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] };

interface Question {
  readonly calls: readonly RpcCall[];
  readonly firstId: number;
  readonly maxAnswerBytes: number;
  readonly answer: (outcomes: readonly RpcOutcome[]) => void;
  readonly fail: (error: unknown) => void;
}

export interface NodeSocketOptions {
  readonly url: string;
  readonly chainId: number;
  readonly clock: Clock;
  readonly log: Log;
}

export function openNodeSocket(options: NodeSocketOptions): NodeSocket {
  const ending = new AbortController();
  const socket = new AskedSocket(options);
  const running = stayConnected({
    ...options,
    signal: ending.signal,
    maxMessageBytes,
    lostName: 'rpc.socket_lost',
    opened: (open) => socket.opened(open),
    heard: (data) => socket.heard(data),
    ended: (reason) => socket.ended(reason),
  });
  return {
    isReady: () => socket.isReady(),
    exchange: (calls, limits, signal) => socket.ask(calls, limits, signal),
    rest: (reason) => socket.rest(reason),
    async close() {
      ending.abort();
      socket.ended('closed');
      await running;
    },
  };
}

class AskedSocket {
  readonly #options: NodeSocketOptions;
  #open: OpenSocket | undefined;
  #checking = new AbortController();
  #isVerified = false;
  #question: Question | undefined;
  #nextId = 1;
  #rests = 0;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  #soundAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodeSocketOptions) {
    this.#options = options;
  }

  isReady(): boolean {
    return (
      this.#open !== undefined &&
      this.#isVerified &&
      this.#question === undefined &&
      this.#options.clock.monotonicMs() >= this.#restUntilMs
    );
  }

  ask(
    calls: readonly RpcCall[],
    limits: ExchangeLimits,
    signal: AbortSignal | undefined,
  ): Promise<readonly RpcOutcome[]> {
    return new Promise((resolve, reject) => {
      const socket = this.#open;
      if (socket === undefined || this.#question !== undefined || signal?.aborted === true) {
        return reject(new RpcUnavailable('the WebSocket is not free'));
      }
      const deadline = AbortSignal.timeout(limits.timeLimitMs);
      // What comes too late would come where the next answer is awaited.
      const giveUp = () => this.#giveUp(deadline.aborted ? 'no answer in time' : 'given up by the caller');
      const settled = () => {
        this.#question = undefined;
        deadline.removeEventListener('abort', giveUp);
        signal?.removeEventListener('abort', giveUp);
      };
      const firstId = this.#nextId;
      this.#nextId = firstId > maxId ? 1 : firstId + calls.length;
      this.#question = {
        ...{ calls, firstId, maxAnswerBytes: limits.maxAnswerBytes },
        answer(outcomes) {
          settled();
          resolve(outcomes);
        },
        fail(error) {
          settled();
          reject(error);
        },
      };
      deadline.addEventListener('abort', giveUp);
      signal?.addEventListener('abort', giveUp);
      socket.send(questionOf(calls, firstId));
    });
  }

  rest(reason: string): void {
    const now = this.#options.clock.monotonicMs();
    // A fault is told again by each that comes upon it.
    if (now >= this.#restUntilMs) {
      const { chainId, url, log } = this.#options;
      log.warn('rpc.socket_rests', { chainId, node: new URL(url).host, reason: reason.slice(0, 300) });
      this.#rests = now > this.#soundAtMs ? 0 : this.#rests + 1;
      const restMs = Math.min(maxRestMs, firstRestMs * 2 ** Math.min(this.#rests, 20));
      this.#restUntilMs = now + restMs;
      this.#soundAtMs = this.#restUntilMs + restMs;
    }
    this.#giveUp(reason);
  }

  opened(socket: OpenSocket): void {
    this.#open = socket;
    this.#nextId = 1;
    this.#checking = new AbortController();
    void this.#check(this.#checking.signal);
  }

  heard(data: unknown): void {
    const question = this.#question;
    if (question === undefined) {
      this.rest('an answer to no question');
      return;
    }
    try {
      question.answer(outcomesIn(data, question));
    } catch (error) {
      question.fail(error);
    }
  }

  ended(reason: string): void {
    this.#open = undefined;
    this.#isVerified = false;
    this.#checking.abort();
    this.#question?.fail(new RpcUnavailable(`WebSocket: ${reason}`));
  }

  #giveUp(reason: string): void {
    const socket = this.#open;
    this.ended(reason);
    socket?.end(reason);
  }

  /** Asks for the chain id at once and then now and then, for as long as the connection lasts. */
  async #check(signal: AbortSignal): Promise<void> {
    const { clock, chainId } = this.#options;
    while (!signal.aborted) {
      if (this.#question === undefined) {
        try {
          const limits = { timeLimitMs: checkLimitMs, maxAnswerBytes: 1_000 };
          const [outcome] = await this.ask([chainIdCall], limits, undefined);
          const told = parseSmallQuantity('chain id', resultOf(outcome));
          if (told !== chainId) throw new RpcUnavailable(`answers for chain ${told}`);
          this.#isVerified = true;
        } catch (error) {
          // The node's error objects as well: one that does not tell its chain is not asked.
          if (!signal.aborted) this.rest(error instanceof Error ? error.message : 'unknown');
          return;
        }
      }
      await clock.sleep(checkEveryMs, signal);
    }
  }
}

function outcomesIn(data: unknown, { calls, firstId, maxAnswerBytes }: Question): readonly RpcOutcome[] {
  if (typeof data !== 'string') throw new RpcUnavailable('malformed answer: no text');
  const bytes = Buffer.from(data);
  if (bytes.length > maxAnswerBytes) throw new RpcUnavailable(`answer over ${maxAnswerBytes} bytes`);
  const outcomes = readAnswer(bytes, calls, firstId, 'WebSocket');
  // Some nodes take no batches here. By HTTP they may.
  if (outcomes.every((outcome) => 'error' in outcome)) throw new RpcUnavailable('every call refused');
  return outcomes;
}

/** An answer over an open connection is there in milliseconds; where it is not, HTTP is asked in good time. */
const socketLimitMs = 1_000;

/** One node with both: what is urgent goes over the WebSocket where that is ready, and whatever fails there over HTTP. */
export function besideHttp(http: NodeConnection, socket: NodeSocket, clock: Clock): NodeConnection {
  return {
    name: http.name,
    async exchange(calls, limits, signal) {
      if (limits.isUrgent !== true || !socket.isReady()) return http.exchange(calls, limits, signal);
      const start = clock.monotonicMs();
      try {
        const timeLimitMs = Math.min(socketLimitMs, Math.ceil(limits.timeLimitMs / 2));
        return await socket.exchange(calls, { ...limits, timeLimitMs }, signal);
      } catch (error) {
        if (signal?.aborted === true || !(error instanceof RpcUnavailable)) throw error;
        socket.rest(error.message);
        const spentMs = Math.ceil(clock.monotonicMs() - start);
        return http.exchange(
          calls,
          { ...limits, timeLimitMs: Math.max(1, limits.timeLimitMs - spentMs) },
          signal,
        );
      }
    },
    rest: (reason) => socket.rest(reason),
    async close() {
      await Promise.all([http.close(), socket.close()]);
    },
  };
}

/**
 * Which WebSocket address is that of the node with this HTTP address: the one at the same host and port, or where ports
 * differ the one of that host name, if either has only one there. Undefined where that leaves a doubt, and where it would
 * be asked in the clear what HTTP asks encrypted.
 */
export function socketUrlOf(
  url: string,
  urls: readonly string[],
  wsUrls: readonly string[],
): string | undefined {
  const { host, hostname, protocol } = new URL(url);
  const safe = wsUrls.filter((wsUrl) => protocol === 'http:' || new URL(wsUrl).protocol === 'wss:');
  const same = safe.find((wsUrl) => new URL(wsUrl).host === host);
  if (same !== undefined) return same;
  const named = (all: readonly string[]) => all.filter((other) => new URL(other).hostname === hostname);
  const [only, ...others] = named(safe);
  return others.length === 0 && named(urls).length === 1 ? only : undefined;
}
