/** One JSON-RPC request without its envelope. */
export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface RpcOptions {
  /** Ends the wait early; the request then fails as unavailable. */
  readonly signal?: AbortSignal;
  /** For the whole exchange with one node; 10 s by default. */
  readonly timeLimitMs?: number;
  /** Longer answers are cut off and count as a failure; the default of the nodes when absent. */
  readonly maxAnswerBytes?: number;
}

/** What a node said to one request of a batch. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError };

/**
 * A chain as its nodes tell it. Answers are unparsed: read them with the actions, which check every field.
 * Throws `RpcUnavailable` when no node gave a well-formed answer, `RpcError` when one answered with an error.
 */
export interface Rpc {
  request(method: string, params: readonly unknown[], options?: RpcOptions): Promise<unknown>;
  /**
   * Sends all calls to one node together and gives their outcomes in the same order. An error of one call leaves the
   * others standing.
   */
  batch(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly RpcOutcome[]>;
  /**
   * Reports that the last answers were well-formed but useless: incomplete, contradictory or behind. Other nodes are
   * then preferred for a while. Where there is only one node, this changes nothing for long.
   */
  demote?(reason: string): void;
  /**
   * Asks each node that is not in quarantine, and returns the answers that came. Nodes of one provider (`providerOf`)
   * count as one. Absent where there is one node only.
   */
  survey?(calls: readonly RpcCall[], options?: RpcOptions): Promise<readonly NodeAnswer[]>;
  /** Leaves a node alone for some minutes: it has been found on another fork. It comes back by itself. */
  quarantine?(node: string, reason: string): void;
}

/** What one node said to a survey. */
export interface NodeAnswer {
  /** Its host and port. */
  readonly node: string;
  readonly outcomes: readonly RpcOutcome[];
}

/** Asks all nodes, or the only one. */
export async function surveyOf(rpc: Rpc, calls: readonly RpcCall[]): Promise<readonly NodeAnswer[]> {
  return rpc.survey === undefined ? [{ node: '', outcomes: await rpc.batch(calls) }] : rpc.survey(calls);
}

/** A node understood the request and answered with an error object. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  /** Whatever the node put beside the message; return data of a reverted call, for one. */
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** No node gave an answer that can be used: unreachable, too slow, too big, malformed, or of another chain. */
export class RpcUnavailable extends Error {
  override readonly name: string = 'RpcUnavailable';
}

/** A node's answer came, and is malformed or contradicts what is known: the node is at fault. */
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

/** The same nodes, with every request given up when the signal aborts. */
export function boundTo(rpc: Rpc, signal: AbortSignal): Rpc {
  const { survey } = rpc;
  return {
    request: (method, params, options) => rpc.request(method, params, { ...options, signal }),
    batch: (calls, options) => rpc.batch(calls, { ...options, signal }),
    demote: (reason) => rpc.demote?.(reason),
    ...(survey === undefined
      ? {}
      : { survey: (calls, options) => survey.call(rpc, calls, { ...options, signal }) }),
    quarantine: (node, reason) => rpc.quarantine?.(node, reason),
  };
}
