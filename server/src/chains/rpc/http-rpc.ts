import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { parseSmallQuantity } from './parse.ts';
import { type Rpc, type RpcCall, type RpcOptions, type RpcOutcome, RpcUnavailable, resultOf } from './rpc.ts';
import { type NodeConnection, openNode } from './transport.ts';

export interface HttpRpcOptions {
  readonly chainId: number;
  /** In order of preference; at least one. */
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** For one exchange with one node; 10 s by default. */
  readonly timeLimitMs?: number;
  /** Longer answers are cut off and count as a failure; 10 MB by default. */
  readonly maxAnswerBytes?: number;
}

/** How one configured URL stands. */
export type NodeState = 'verified' | 'wrong_chain' | 'unavailable';

export interface HttpRpc extends Rpc {
  /**
   * Asks every node for its chain id and gives each one's state by host. For the start: a `wrong_chain` is a mistake in
   * the configuration.
   */
  verifyChainId(): Promise<readonly { readonly node: string; readonly state: NodeState }[]>;
  /** Drops all connections; requests under way fail as unavailable. */
  close(): Promise<void>;
}

interface Node {
  readonly connection: NodeConnection;
  failures: number;
  /** Monotonic time before which the node is asked only when no other is left. */
  retryAtMs: number;
  /** Lost with every failure: behind the same address another node may have come up. */
  isVerified: boolean;
  isWrongChain: boolean;
}

const firstBackOffMs = 500;
const maxBackOffMs = 60_000;
/** How long a node of another chain is left alone. */
const quarantineMs = 300_000;
const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] };

/**
 * JSON-RPC over HTTP with failover: each request goes to the most preferred node in good health, then to the next ones.
 * A node is asked for its chain id before its first request and again after each failure; one of another chain is put
 * in quarantine and never answers a request.
 */
export function openHttpRpc(options: HttpRpcOptions): HttpRpc {
  const nodes: readonly Node[] = options.urls.map((url) => ({
    connection: openNode(url),
    failures: 0,
    retryAtMs: Number.NEGATIVE_INFINITY,
    isVerified: false,
    isWrongChain: false,
  }));
  const rpc = new FailoverRpc(options, nodes);
  return {
    request: async (method, params, callOptions) =>
      resultOf((await rpc.send([{ method, params }], callOptions))[0]),
    batch: (calls, callOptions) => (calls.length === 0 ? Promise.resolve([]) : rpc.send(calls, callOptions)),
    demote: (reason) => rpc.demote(reason),
    verifyChainId: () => rpc.verifyAll(),
    async close() {
      await Promise.all(nodes.map((node) => node.connection.close()));
    },
  };
}

class FailoverRpc {
  readonly #options: HttpRpcOptions;
  readonly #nodes: readonly Node[];
  readonly #timeLimitMs: number;
  readonly #maxAnswerBytes: number;
  #lastAnswering: Node | undefined;

  constructor(options: HttpRpcOptions, nodes: readonly Node[]) {
    this.#options = options;
    this.#nodes = nodes;
    this.#timeLimitMs = options.timeLimitMs ?? 10_000;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? 10_000_000;
  }

  async send(calls: readonly RpcCall[], options: RpcOptions = {}): Promise<readonly RpcOutcome[]> {
    let last: unknown;
    for (const node of this.#inOrder()) {
      try {
        if (!node.isVerified && !(await this.#verify(node, options))) continue;
        const outcomes = await this.#exchange(node, calls, options);
        node.failures = 0;
        this.#lastAnswering = node;
        return outcomes;
      } catch (error) {
        if (options.signal?.aborted === true)
          throw new RpcUnavailable('given up by the caller', { cause: error });
        this.#noteFailure(node, error);
        last = error;
      }
    }
    throw new RpcUnavailable(`no node of chain ${this.#options.chainId} answered`, { cause: last });
  }

  demote(reason: string): void {
    if (this.#lastAnswering !== undefined) this.#noteFailure(this.#lastAnswering, new Error(reason));
    this.#lastAnswering = undefined;
  }

  async verifyAll(): Promise<readonly { node: string; state: NodeState }[]> {
    return Promise.all(
      this.#nodes.map(async (node) => {
        try {
          const isOurs = await this.#verify(node, {});
          return {
            node: node.connection.name,
            state: isOurs ? ('verified' as const) : ('wrong_chain' as const),
          };
        } catch (error) {
          this.#noteFailure(node, error);
          return { node: node.connection.name, state: 'unavailable' as const };
        }
      }),
    );
  }

  /** Nodes in good health by preference, then those whose back-off ends first. Quarantined ones only when it is over. */
  #inOrder(): readonly Node[] {
    const now = this.#options.clock.monotonicMs();
    const healthy = this.#nodes.filter((node) => node.retryAtMs <= now);
    const waiting = this.#nodes.filter((node) => node.retryAtMs > now && !node.isWrongChain);
    return [...healthy, ...waiting.toSorted((first, second) => first.retryAtMs - second.retryAtMs)];
  }

  async #verify(node: Node, options: RpcOptions): Promise<boolean> {
    const outcomes = await this.#exchange(node, [chainIdCall], options);
    const chainId = parseSmallQuantity('chain id', resultOf(outcomes[0]));
    node.isWrongChain = chainId !== this.#options.chainId;
    node.isVerified = !node.isWrongChain;
    if (node.isWrongChain) {
      node.retryAtMs = this.#options.clock.monotonicMs() + quarantineMs;
      this.#options.log.error('rpc.wrong_chain', new Error(`the node answers for chain ${chainId}`), {
        chainId: this.#options.chainId,
        node: node.connection.name,
      });
    }
    return node.isVerified;
  }

  async #exchange(
    node: Node,
    calls: readonly RpcCall[],
    options: RpcOptions,
  ): Promise<readonly RpcOutcome[]> {
    const limits = {
      timeLimitMs: options.timeLimitMs ?? this.#timeLimitMs,
      maxAnswerBytes: this.#maxAnswerBytes,
    };
    return node.connection.exchange(calls, limits, options.signal);
  }

  #noteFailure(node: Node, error: unknown): void {
    const backOffMs = Math.min(maxBackOffMs, firstBackOffMs * 2 ** Math.min(node.failures, 10));
    node.failures += 1;
    node.isVerified = false;
    node.retryAtMs = this.#options.clock.monotonicMs() + backOffMs;
    // Every tenth one, so that an outage does not fill the log.
    if (node.failures % 10 === 1) {
      this.#options.log.warn('rpc.node_failed', {
        chainId: this.#options.chainId,
        node: node.connection.name,
        failures: node.failures,
        reason: error instanceof Error ? error.message.slice(0, 300) : 'unknown',
      });
    }
  }
}
