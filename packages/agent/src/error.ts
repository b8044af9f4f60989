/** Why a payment failed, and what to do; each remedy is an instruction to the caller. */
const reasons = {
  argument_invalid: 'Correct the option that the message names. Nothing was asked or signed.',
  target_invalid:
    'Give the URL of a link or session page, of its view for agents, or a link id and a base URL.',
  account_refused: 'Give the account that the message describes.',
  policy_refused:
    'Nothing was signed. Change the policy only if the person who set it agrees, and decimals only to those of the token’s contract.',
  amount_refused: 'Nothing was signed. Raise maxAmount only if the person who set it agrees.',
  link_unavailable: 'The merchant takes no payment through this link now. Ask the merchant.',
  email_required: 'Call again with payerEmail: the merchant asks for it.',
  balance_short:
    'Fund the account with the token, and with coin for gas where the message says so; call again.',
  node_needed: 'Give rpcUrls a node of this chain: the payment cannot be made by a signature alone.',
  service_unreachable: 'Call again with the same idempotencyKey: it resumes, and never pays twice.',
  service_refused:
    'The message is the service’s own. Correct what it names, and call again with the same idempotencyKey.',
  answer_refused:
    'The service asked for something else than what was agreed. Nothing was signed for it. Do not pay here.',
  node_unreachable: 'Call again with the same idempotencyKey once the node answers.',
  simulation_failed:
    'Nothing was sent, because it would fail. Read the message; call again with the same idempotencyKey.',
  wallet_refused: 'The wallet did not sign. Call again with the same idempotencyKey to try again.',
  earlier_unknown:
    'This idempotencyKey was used for a payment with other details, or longer ago than can be found without a store. ' +
    'Look at what became of that payment before paying under a new key.',
  session_expired: 'The session was not paid and can no longer be. Call again with a new idempotencyKey.',
  session_cancelled: 'The merchant has cancelled the session. Ask the merchant.',
  payment_pending:
    'The payment is under way. Call again with the same idempotencyKey; do not pay in another way.',
  payment_failed: 'The payment moved no money. Call again with the same idempotencyKey.',
  aborted: 'Call again with the same idempotencyKey: it resumes, and never pays twice.',
} as const;

/** One way in which a payment can fail. */
export type AgentErrorReason = keyof typeof reasons;

const retryable: ReadonlySet<AgentErrorReason> = new Set([
  'service_unreachable',
  'node_unreachable',
  'payment_pending',
  'payment_failed',
  'aborted',
]);

/** A payment that failed or is incomplete. `remedy` says what to do; `code` is the service's, where it refused. */
export class AgentError extends Error {
  readonly reason: AgentErrorReason;
  readonly remedy: string;
  /** Whether the same call may succeed later. */
  readonly isRetryable: boolean;
  readonly code: number | undefined;

  constructor(reason: AgentErrorReason, message: string, options: { cause?: unknown; code?: number } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'AgentError';
    this.reason = reason;
    this.remedy = reasons[reason];
    this.isRetryable = retryable.has(reason);
    this.code = options.code;
  }
}
