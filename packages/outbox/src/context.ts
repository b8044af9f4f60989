/** Time as a parameter. */
export interface Clock {
  now(): Date;
  /** Milliseconds of a steady clock; only differences have a meaning. */
  monotonicMs(): number;
  /** Waits; ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Whole Unix seconds of a time. */
export function unixSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** Randomness as a parameter. */
export interface Random {
  bytes(size: number): Uint8Array;
  /** Uniform in [0, 1); for jitter, never for secrets. */
  fraction(): number;
}

/** Encrypts signing keys for the database. `context` names the row; the same name is needed to open. */
export interface SecretBox {
  seal(random: Random, secret: Uint8Array, context: string): Uint8Array;
  open(sealed: Uint8Array, context: string): Uint8Array;
  /** Whether the newest master key sealed it. */
  isCurrent(sealed: Uint8Array): boolean;
}

/** Takes errors that no caller sees. */
export interface Log {
  error(event: string, error: unknown, fields?: Readonly<Record<string, string>>): void;
}

/** A receiver's response. `bodyText` may be truncated; the log keeps its first 4 KiB. */
export interface Answer {
  readonly status: number;
  readonly bodyText: string;
  readonly retryAfter: string | undefined;
}

/**
 * Posts to a receiver. It must not follow redirects, must end after `timeoutMs`, and must refuse addresses that owners may not
 * reach. `failure` says why there is no response, for the log of attempts. A thrown error is a bug and is logged.
 */
export type Post = (
  url: string,
  request: {
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly timeoutMs: number;
  },
) => Promise<Answer | { readonly failure: string }>;

/** Reasons to refuse a call. */
export type RefusalCode =
  | 'webhook_not_found'
  | 'webhook_changed'
  | 'webhook_limit'
  | 'delivery_not_found'
  | 'event_not_found';

/** What every operation needs. */
export interface OutboxContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: SecretBox;
  /** Makes the error that a refused call throws. `param` names the field that is wrong, where there is one. */
  readonly refusal: (code: RefusalCode, detail: string, param?: string) => Error;
}
