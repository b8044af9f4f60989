/** Time as a parameter: a simulation passes a virtual clock. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a clock that never jumps. Only differences have a meaning. */
  monotonicMs(): number;
  /** Waits; ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Where events are reported. Fields never hold the address of a node: it may contain a key. */
export interface Log {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, error: unknown, fields?: Record<string, unknown>): void;
}
