/** Replaced in a body by a counter of {@link counterDigits} digits, so that no two requests are alike. */
export const counterMark = '%COUNTER%';
export const counterDigits = 12;

/** What the load generator is told. */
export interface LoadPlan {
  readonly origin: string;
  readonly method: 'GET' | 'POST';
  /** Asked for in turn. */
  readonly paths: readonly string[];
  readonly body?: string;
  /** Instead of one body: a file with a body on each line, and where in it to begin; after the last comes the first. */
  readonly bodies?: { readonly file: string; readonly first: number };
  /** What a good answer begins with; `{"code":0,` when absent. */
  readonly successStart?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sends an Idempotency-Key that starts so, another one with every request. */
  readonly idempotencyPrefix?: string;
  /** Requests under way at once, each on a connection of its own. */
  readonly connections: number;
  readonly seconds: number;
  /** Ends the run early when so many were sent. */
  readonly maxRequests: number;
  /**
   * Sends at this pace whatever the answers take, and measures from the time at which each request was due: a slow
   * answer delays none of the others. Without it the next request leaves when the one before is answered.
   */
  readonly perSecond?: number;
  /** Returns `data.sessionId` of so many answers. */
  readonly collectSessionIds?: number;
}

/** What came of it. */
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
