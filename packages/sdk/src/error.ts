import { errorCodes } from './wire.gen.ts';

/** Every error of the service that this version of the SDK knows. */
export type ErrorSlug = keyof typeof errorCodes;

/** What the SDK itself refuses, and whether the same call may succeed later. */
const ownErrors = {
  /** An option or an argument that cannot be right. */
  argument_invalid: false,
  /** No answer: the connection failed or was closed. */
  connection_failed: true,
  /** No answer within timeoutMs. */
  timed_out: true,
  /** The caller has aborted. */
  aborted: false,
  /** An answer that is not the service's. */
  answer_invalid: false,
  /** A notification without the three headers of Standard Webhooks. */
  webhook_unsigned: false,
  /** No signature fits the body and a secret. */
  webhook_signature_wrong: false,
  /** Sent longer ago, or later, than the tolerance allows. */
  webhook_too_old: false,
  /** Signed, but not an event. */
  webhook_malformed: false,
  /** The refund needs no signature any more. */
  refund_over: false,
  /** The chain shows a refund of this payment that is not final. */
  refund_under_way: true,
  /** The wallet's node does not show an earlier refund yet. */
  node_behind: true,
  /** The account has a transaction in no block: it may be this refund. */
  account_busy: true,
  /** The account holds less than requiredBalance. */
  balance_short: false,
  /** The wallet's account is not the one that the payment was settled to, or that you named. */
  account_wrong: false,
  /** The wallet is on another chain. */
  wallet_elsewhere: false,
  /** The wallet or its node refused. */
  wallet_refused: false,
  /** The transaction is in no block yet. */
  transaction_unseen: true,
  /** The transaction failed on chain and moved nothing. */
  transaction_failed: false,
} as const satisfies Readonly<Record<string, boolean>>;

/** The slugs of what the SDK itself refuses; `code` is 0 then. */
export type OwnErrorSlug = keyof typeof ownErrors;

/** What is known of an error besides its slug and its message. */
export interface ErrorFacts {
  readonly code?: number;
  readonly unknownSlug?: string;
  readonly param?: string;
  readonly retryable?: boolean;
  readonly remedy?: string;
  readonly docUrl?: string;
  readonly requestId?: string;
  readonly httpStatus?: number;
  readonly data?: unknown;
  readonly cause?: unknown;
}

/**
 * Everything that this SDK throws. `slug` says what happened, and `retryable` whether the same call may succeed later.
 *
 * @example
 * if (error instanceof FlorinError && error.slug === 'session_not_found') …
 */
export class FlorinError extends Error {
  /** `unknown` where the service is newer than this version of the SDK: then see `unknownSlug` and `code`. */
  readonly slug: ErrorSlug | OwnErrorSlug | 'unknown';
  /** Empty unless `slug` is `unknown`. */
  readonly unknownSlug: string;
  /** The service's code; 0 for what the SDK itself refuses. */
  readonly code: number;
  /** Path of the field that the error is about, else empty. */
  readonly param: string;
  readonly retryable: boolean;
  /** What to do about it, as a sentence; empty for what the SDK itself refuses. */
  readonly remedy: string;
  /** The page about this code; empty for what the SDK itself refuses. */
  readonly docUrl: string;
  /** Names the request in the service's logs; empty without an answer. */
  readonly requestId: string;
  /** 0 without an answer. */
  readonly httpStatus: number;
  /** Help that a program can use, such as the present quote; else null. */
  readonly data: unknown;

  constructor(slug: FlorinError['slug'], message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'FlorinError';
    this.slug = slug;
    this.unknownSlug = facts.unknownSlug ?? '';
    this.code = facts.code ?? 0;
    this.param = facts.param ?? '';
    this.retryable = facts.retryable ?? (slug in ownErrors && ownErrors[slug as OwnErrorSlug]);
    this.remedy = facts.remedy ?? '';
    this.docUrl = facts.docUrl ?? '';
    this.requestId = facts.requestId ?? '';
    this.httpStatus = facts.httpStatus ?? 0;
    this.data = facts.data ?? null;
  }
}

/** Whether this version of the SDK knows an error of the service. */
export function isErrorSlug(slug: string): slug is ErrorSlug {
  return Object.hasOwn(errorCodes, slug);
}

/** The refusal of an argument or an option that cannot be right. `param` is its path. */
export function wrongArgument(param: string, message: string): FlorinError {
  return new FlorinError('argument_invalid', message, { param });
}
