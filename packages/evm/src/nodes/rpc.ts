import type { Hex } from 'viem';

/** One JSON-RPC request without its envelope. */
export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcOptions {
  /** Ends the wait early. The request then fails as unavailable. */
  readonly signal?: AbortSignal;
  /** Limit for the whole exchange with one node; 10 s by default. */
  readonly timeLimitMs?: number;
  /** Longer answers are cut off and count as failures. Absent: the default of the nodes. */
  readonly maxAnswerBytes?: number;
}

/** A node's result or error for one request of a batch. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError };

/**
 * A chain as its nodes report it. Answers are unparsed: read them with the actions, which check every field. Throws
 * `RpcUnavailable` when no node gave a well-formed answer, `RpcError` when one answered with an error.
 */
export interface Rpc {
  request(method: string, params: readonly unknown[], options?: RpcOptions): Promise<unknown>;
  /**
   * Sends all calls to one node together and returns their outcomes in the same order. An error of one call does not
   * affect the others.
   */
  batch(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly RpcOutcome[]>;
  /**
   * Reports that the last answers were well-formed but useless: incomplete, contradictory or stale. Other nodes are
   * then preferred for a while. With a single node this has no lasting effect.
   */
  demote?(reason: string): void;
  /**
   * Asks each node that is not quarantined, and returns the answers that came. Nodes of one provider (`providerOf`)
   * count as one. Absent where there is only one node.
   */
  askEach?(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly NodeAnswer[]>;
  /** Pauses a node for some minutes, because it is on another fork. The quarantine ends by itself. */
  quarantine?(node: string, reason: string): void;
}

/** One node's answer to a question that each node got. */
export interface NodeAnswer {
  /** Its host and port. */
  readonly node: string;
  readonly outcomes: readonly RpcOutcome[];
}

/** Asks all nodes, or the only one. */
export async function pollNodes(
  rpc: Rpc,
  calls: readonly RpcCall[],
  options?: RpcOptions,
): Promise<readonly NodeAnswer[]> {
  if (rpc.askEach !== undefined) return rpc.askEach(calls, options);
  return [{ node: '', outcomes: await rpc.batch(calls, options) }];
}

/** A node understood the request and returned an error object. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  /** The node's data beside the message, such as the return data of a reverted call. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** No node gave a usable answer: unreachable, too slow, too big, malformed, or of another chain. */
export class RpcUnavailable extends Error {
  override readonly name: string = 'RpcUnavailable';
}

/** A node's answer is malformed or contradicts known facts: the node is at fault. */
export class RpcAnswerInvalid extends RpcUnavailable {
  override readonly name: string = 'RpcAnswerInvalid';
}

/** The code of an unknown method (JSON-RPC 2.0, section 5.1). */
export const methodNotFound = -32601;

/** The result of one call of a batch; throws its error. */
export function resultOf(outcome: RpcOutcome | undefined): unknown {
  if (outcome === undefined) throw new RpcAnswerInvalid('a batch came back short');
  if ('error' in outcome) throw outcome.error;
  return outcome.result;
}

/** The 32-byte words among the results of calls. An error gives none, nor does a result of another size. */
export function wordsIn(outcomes: readonly RpcOutcome[]): Hex[] {
  return outcomes.flatMap((outcome) =>
    'result' in outcome && isWord(outcome.result) ? [outcome.result] : [],
  );
}

function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);
}

/** The same nodes; every request ends when the signal aborts. */
export function boundTo(rpc: Rpc, signal: AbortSignal): Rpc {
  const { askEach } = rpc;
  return {
    request: (method, params, options) => rpc.request(method, params, { ...options, signal }),
    batch: (calls, options) => rpc.batch(calls, { ...options, signal }),
    demote: (reason) => rpc.demote?.(reason),
    ...(askEach === undefined
      ? {}
      : { askEach: (calls, options) => askEach.call(rpc, calls, { ...options, signal }) }),
    quarantine: (node, reason) => rpc.quarantine?.(node, reason),
  };
}
