/** The dependencies that a test or a simulation replaces. */
export interface Sleeper {
  /** Waits. */
  sleep(ms: number): Promise<void>;
}

/** A source of bytes for secrets. */
export interface RandomBytes {
  bytes(size: number): Uint8Array;
}
