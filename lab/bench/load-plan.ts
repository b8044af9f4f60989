/** A counter of {@link counterDigits} digits replaces it in a body, so that all requests differ. */
export const counterMark = '%COUNTER%';
export const counterDigits = 12;

/** The plan of the load generator. */
export interface LoadPlan {
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  /** The paths, which requests use in turn. */
  readonly paths: readonly string[];
  readonly body?: string;
  /**
   * Replaces the single body: a file with one body per line, and the first line to use. The first line follows the
   * last.
   */
  readonly bodies?: { readonly file: string; readonly first: number };
  /** The start of a good answer; `{"code":0,` when absent. */
  readonly successStart?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The prefix of a unique Idempotency-Key for every request. */
  readonly idempotencyPrefix?: string;
  /** Parallel requests, each on its own connection. */
  readonly connections: number;
  readonly seconds: number;
  /** Ends the run early after this many requests. */
  readonly maxRequests: number;
  /**
   * Sends at this rate regardless of the answers, and measures from the time when each request was due. So a slow
   * answer delays no other request. Without it, the next request follows the previous answer.
   */
  readonly perSecond?: number;
  /** Returns `data.sessionId` of this many answers. */
  readonly collectSessionIds?: number;
}

/** The result of a run. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly replyBytes: number;
  readonly requestBytes: number;
  readonly sessionIds: readonly string[];
}
