import type { Clock, Log } from '../context.ts';
import {
  freshHealth,
  type NodeHealth,
  noteAnswer,
  noteFailure,
  noteWrongChain,
  penaltyOf,
} from './node-health.ts';
import { parseSmallQuantity } from './parse.ts';
import { providerOf } from './provider.ts';
import {
  type NodeAnswer,
  type Rpc,
  type RpcCall,
  RpcError,
  type RpcOptions,
  type RpcOutcome,
  RpcUnavailable,
  resultOf,
} from './rpc.ts';
import { type NodeConnection, openNode } from './transport.ts';

export interface HttpRpcOptions {
  readonly chainId: number;
  /** In order of preference; at least one. */
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Limit for one exchange with one node; 10 s by default. */
  readonly timeLimitMs?: number;
  /** Longer answers are cut off and count as failures; 10 MB by default. */
  readonly maxAnswerBytes?: number;
  /** Called after each exchange with a node, for measurements. Not for exchanges that the caller gave up. */
  readonly onExchange?: ((exchange: NodeExchange) => void) | undefined;
}

/** One request to a node. */
export interface NodeExchange {
  /** Host and port. */
  readonly node: string;
  readonly isAnswered: boolean;
  readonly ms: number;
  /** Of the first call, and how many calls the request had. */
  readonly method: string;
  readonly calls: number;
}

/** What one node answers to a question that every node got. */
export interface NodeFinding {
  /** Host and port; a second node of the same host has its place behind it. */
  readonly node: string;
  /** Undefined where the node has a problem. */
  readonly result: unknown;
  /** Why the node is of no use; empty when it answered. */
  readonly problem: string;
}

/** The state of one configured URL. */
export type NodeState = 'verified' | 'wrong_chain' | 'unavailable';

export interface HttpRpc extends Rpc {
  /**
   * Asks every node for its chain id and returns each node's state by host. Called at the start: a `wrong_chain` is a
   * mistake in the configuration.
   */
  verifyChainId(): Promise<readonly { readonly node: string; readonly state: NodeState }[]>;
  askEach(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly NodeAnswer[]>;
  /** What each configured node answers, in their order. For people: it decides nothing, as `askEach` does. */
  inspect(call: RpcCall): Promise<readonly NodeFinding[]>;
  quarantine(node: string, reason: string): void;
  /** Drops all connections; pending requests fail as unavailable. */
  close(): Promise<void>;
}

interface Node {
  readonly connection: NodeConnection;
  readonly place: number;
  readonly health: NodeHealth;
  /** Reset by every failure: another node may have taken over the same address. */
  isVerified: boolean;
}

/** How long a node of another fork gets no requests. */
const quarantineMs = 300_000;
const chainIdCall: RpcCall = { method: 'eth_chainId', params: [] };

/**
 * JSON-RPC over HTTP with failover. Each request goes to the healthiest node, then to the next ones. Among nodes of
 * similar health, the order of the configuration decides. A node must report the right chain id before its first
 * request and again after each failure. A node of another chain never answers a request. Its chain id is checked
 * again with backoff, because a proxy may have routed wrongly only once.
 */
export function openHttpRpc(options: HttpRpcOptions): HttpRpc {
  return rpcOver(options.urls.map(openNode), options);
}

/** The same over open connections, in order of preference, or over their replacements in a test. */
export function rpcOver(
  connections: readonly NodeConnection[],
  options: Omit<HttpRpcOptions, 'urls'>,
): HttpRpc {
  const nodes: readonly Node[] = connections.map((connection, place) => ({
    connection,
    place,
    health: freshHealth(),
    isVerified: false,
  }));
  const rpc = new FailoverRpc(options, nodes);
  return {
    request: async (method, params, callOptions) =>
      resultOf((await rpc.send([{ method, params }], callOptions))[0]),
    batch: (calls, callOptions) => (calls.length === 0 ? Promise.resolve([]) : rpc.send(calls, callOptions)),
    askEach: (calls, callOptions) => rpc.askEach(calls, callOptions),
    inspect: (call) => rpc.inspect(call),
    demote: (reason) => rpc.demote(reason),
    quarantine: (node, reason) => rpc.quarantine(node, reason),
    verifyChainId: () => rpc.verifyAll(),
    async close() {
      await Promise.all(nodes.map((node) => node.connection.close()));
    },
  };
}

class FailoverRpc {
  readonly #options: Omit<HttpRpcOptions, 'urls'>;
  readonly #nodes: readonly Node[];
  readonly #timeLimitMs: number;
  readonly #maxAnswerBytes: number;
  #lastAnswering: Node | undefined;

  constructor(options: Omit<HttpRpcOptions, 'urls'>, nodes: readonly Node[]) {
    this.#options = options;
    this.#nodes = nodes;
    this.#timeLimitMs = options.timeLimitMs ?? 10_000;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? 10_000_000;
  }

  async send(calls: readonly RpcCall[], options: RpcOptions = {}): Promise<readonly RpcOutcome[]> {
    let last: unknown;
    for (const node of this.#inOrder()) {
      try {
        const outcomes = await this.#ask(node, calls, options);
        if (outcomes === undefined) continue;
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

  async askEach(calls: readonly RpcCall[], options: RpcOptions = {}): Promise<readonly NodeAnswer[]> {
    // Only the healthiest node of each provider counts: two nodes of one provider may share a fault.
    const byProvider = new Map(
      this.#inOrder()
        .toReversed()
        .map((node) => [providerOf(`http://${node.connection.name}`), node]),
    );
    const answers = await Promise.all(
      [...byProvider.values()].map(async (node): Promise<NodeAnswer[]> => {
        const { name } = node.connection;
        try {
          const outcomes = await this.#ask(node, calls, options);
          return outcomes === undefined ? [] : [{ node: name, outcomes }];
        } catch (error) {
          if (options.signal?.aborted !== true) this.#noteFailure(node, error);
          return [];
        }
      }),
    );
    if (options.signal?.aborted === true) throw new RpcUnavailable('given up by the caller');
    return answers.flat();
  }

  async inspect(call: RpcCall): Promise<readonly NodeFinding[]> {
    const now = this.#options.clock.monotonicMs();
    const names = this.#nodes.map(({ connection }) => connection.name);
    return Promise.all(
      this.#nodes.map(async (node, place): Promise<NodeFinding> => {
        const name = node.connection.name;
        const found = {
          node: names.indexOf(name) === place ? name : `${name} (${place + 1})`,
          result: undefined,
        };
        const { health } = node;
        if (health.quarantinedUntilMs > now) return { ...found, problem: quarantineReason(health) };
        try {
          const outcomes = await this.#ask(node, [call], {});
          if (outcomes === undefined) return { ...found, problem: quarantineReason(health) };
          return { ...found, result: resultOf(outcomes[0]), problem: '' };
        } catch (error) {
          if (!(error instanceof RpcError)) this.#noteFailure(node, error);
          return { ...found, problem: reasonOf(error) };
        }
      }),
    );
  }

  demote(reason: string): void {
    if (this.#lastAnswering !== undefined) this.#noteFailure(this.#lastAnswering, new Error(reason));
    this.#lastAnswering = undefined;
  }

  quarantine(name: string, reason: string): void {
    for (const node of this.#nodes.filter(({ connection }) => connection.name === name)) {
      node.health.quarantinedUntilMs = this.#options.clock.monotonicMs() + quarantineMs;
      node.isVerified = false;
      this.#options.log.error('rpc.node_quarantined', new Error(reason), {
        chainId: this.#options.chainId,
        node: name,
      });
    }
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

  /** Nodes by health, then those whose back-off ends first. Quarantined nodes are excluded until the quarantine ends. */
  #inOrder(): readonly Node[] {
    const now = this.#options.clock.monotonicMs();
    const nodes = this.#nodes.filter(({ health }) => health.quarantinedUntilMs <= now);
    const heads = nodes.flatMap(({ health }) => (health.head === undefined ? [] : [health.head]));
    const bestHead = heads.reduce<bigint | undefined>(
      (best, head) => (best === undefined || head > best ? head : best),
      undefined,
    );
    const penalty = ({ health, place }: Node) => penaltyOf(health, place, bestHead);
    const waiting = nodes.filter(({ health }) => health.retryAtMs > now);
    return [
      ...nodes
        .filter(({ health }) => health.retryAtMs <= now)
        .toSorted((first, second) => penalty(first) - penalty(second)),
      ...waiting.toSorted((first, second) => first.health.retryAtMs - second.health.retryAtMs),
    ];
  }

  /** Undefined when the node is of another chain. */
  async #ask(
    node: Node,
    calls: readonly RpcCall[],
    options: RpcOptions,
  ): Promise<readonly RpcOutcome[] | undefined> {
    if (!node.isVerified && !(await this.#verify(node, options))) return undefined;
    const start = this.#options.clock.monotonicMs();
    const outcomes = await this.#exchange(node, calls, options);
    noteAnswer(node.health, this.#options.clock.monotonicMs() - start);
    for (const [index, outcome] of outcomes.entries()) noteHead(node.health, calls[index], outcome);
    return outcomes;
  }

  async #verify(node: Node, options: RpcOptions): Promise<boolean> {
    const outcomes = await this.#exchange(node, [chainIdCall], options);
    const chainId = parseSmallQuantity('chain id', resultOf(outcomes[0]));
    node.isVerified = chainId === this.#options.chainId;
    if (node.isVerified) {
      node.health.wrongChains = 0;
    } else {
      noteWrongChain(node.health, this.#options.clock.monotonicMs());
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
      maxAnswerBytes: options.maxAnswerBytes ?? this.#maxAnswerBytes,
    };
    const { clock, onExchange } = this.#options;
    const start = clock.monotonicMs();
    const tell = (isAnswered: boolean) =>
      onExchange?.({
        ...{ node: node.connection.name, isAnswered, ms: clock.monotonicMs() - start },
        ...{ method: calls[0]?.method ?? '', calls: calls.length },
      });
    try {
      const outcomes = await node.connection.exchange(calls, limits, options.signal);
      tell(true);
      return outcomes;
    } catch (error) {
      if (options.signal?.aborted !== true) tell(false);
      throw error;
    }
  }

  #noteFailure(node: Node, error: unknown): void {
    noteFailure(node.health, this.#options.clock.monotonicMs());
    node.isVerified = false;
    const reason = reasonOf(error);
    // Only every tenth failure is logged, so that an outage does not fill the log.
    if (node.health.failures % 10 === 1) {
      this.#options.log.warn('rpc.node_failed', {
        chainId: this.#options.chainId,
        node: node.connection.name,
        failures: node.health.failures,
        reason,
      });
    }
  }
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message.slice(0, 300) : '';
  return message === '' ? 'unknown' : message;
}

function quarantineReason({ wrongChains }: NodeHealth): string {
  return wrongChains > 0 ? 'answers for another chain' : 'paused for some minutes: it was on another fork';
}

/** Records the highest block that a node has reported. */
function noteHead(health: NodeHealth, call: RpcCall | undefined, outcome: RpcOutcome): void {
  if (call?.method !== 'eth_getBlockByNumber' || call.params[0] !== 'latest' || 'error' in outcome) return;
  const { result } = outcome;
  const number =
    typeof result === 'object' && result !== null && 'number' in result ? result.number : undefined;
  if (typeof number === 'string' && /^0x[0-9a-f]{1,16}$/.test(number)) health.head = BigInt(number);
}
