import Type, { type Static } from 'typebox';
import type { SessionStatus } from './session.ts';

/** What the AI protocol's two typed messages authorize. */
export type AgentPurpose = 'create_payment_session' | 'prepare_payment';

/** The longest life of a signature, and that of a template's signature, in seconds from now. */
export const authorizationLifeSeconds = { maximum: 3900, template: 900 } as const;

export const agentStages = [
  'link_ready',
  'link_unavailable',
  'session_ready',
  'payment_parameters_required',
  'payment_prepared',
  'payment_detected',
  'payment_succeeded',
  'settling',
  'settlement_pending',
  'settled',
  'session_expired',
  'session_cancelled',
] as const;
export type AgentStage = (typeof agentStages)[number];

export const agentActions = [
  'create_payment_session',
  'prepare_payment',
  'execute_payment_client_side',
  'poll_session',
  'none',
] as const;
export type AgentAction = (typeof agentActions)[number];

/** An agent's next action in one situation. */
export interface AgentMove {
  readonly stage: AgentStage;
  readonly action: AgentAction;
  readonly description: string;
  /** When to read again, for situations that change by themselves. */
  readonly retryAfterSeconds?: number;
}

/**
 * The situations without a stage of their own. order_closing: an order is signed, the time to prepare is over, and the chain
 * has not passed the deadline. payment_lost: the chain took back the final block with the payment. payment_ended: it did not
 * come back by the deadline of its order. payment_in_doubt: the chain is
 * halted, so the service does not know whether it still has the payment. payment_returned and settlement_returned: the payer has
 * the whole payment back, before or after the merchant had it.
 */
export type AgentSituation =
  | AgentStage
  | 'order_closing'
  | 'payment_lost'
  | 'payment_ended'
  | 'payment_in_doubt'
  | 'payment_returned'
  | 'settlement_returned';

/** Stage and next action for every situation of a link or a session. */
export const agentMoves = {
  link_ready: {
    stage: 'link_ready',
    action: 'create_payment_session',
    description: 'Choose a payment token, sign the message and POST it to /payment/session/create.',
  },
  link_unavailable: {
    stage: 'link_unavailable',
    action: 'none',
    description: 'The merchant takes no payment through this link now.',
  },
  session_ready: {
    stage: 'session_ready',
    action: 'prepare_payment',
    description: 'Sign the message and POST it to /payment/prepare to get the transaction.',
  },
  payment_parameters_required: {
    stage: 'payment_parameters_required',
    action: 'prepare_payment',
    description:
      'Choose payer, chain and token, fill them in, sign the message and POST it to /payment/prepare.',
  },
  payment_prepared: {
    stage: 'payment_prepared',
    action: 'execute_payment_client_side',
    description:
      "Send the prerequisites and then the transaction from the payer's wallet, and read the session until it is paid.",
  },
  // Never `create_payment_session` here: a transaction sent just before the deadline may still be mined.
  order_closing: {
    stage: 'payment_prepared',
    action: 'poll_session',
    description:
      'The time to prepare is over, but a transaction already sent may still count. Wait before paying again.',
    retryAfterSeconds: 10,
  },
  payment_detected: {
    stage: 'payment_detected',
    action: 'poll_session',
    description: 'The payment is in a block that is not final yet. Do not pay again.',
    retryAfterSeconds: 5,
  },
  payment_succeeded: {
    stage: 'payment_succeeded',
    action: 'poll_session',
    description: 'The payment is final; settlement follows by itself.',
    retryAfterSeconds: 10,
  },
  settling: {
    stage: 'settling',
    action: 'poll_session',
    description: "The payment is final and on its way to the merchant's wallet.",
    retryAfterSeconds: 10,
  },
  settlement_pending: {
    stage: 'settlement_pending',
    action: 'poll_session',
    description: 'The payment is final; its settlement is delayed and is being retried.',
    retryAfterSeconds: 30,
  },
  // Not `payment_detected`: that stage says that a block has the payment.
  payment_lost: {
    stage: 'settlement_pending',
    action: 'poll_session',
    description:
      'The chain took back the block with the payment, so it is not paid now. Its transaction can come back until the deadline of its order: send the same one again, and make no other payment for this session.',
    retryAfterSeconds: 30,
  },
  payment_ended: {
    stage: 'session_expired',
    action: 'create_payment_session',
    description:
      'The chain took back the block with the payment, and it did not come back by its deadline: the payer has the money, and the session was not paid. Begin again from the payment link.',
  },
  payment_in_doubt: {
    stage: 'settlement_pending',
    action: 'poll_session',
    description:
      'The chain contradicts blocks that were final, so it is not known whether it still has the payment. The operator checks that. Do not pay again.',
    retryAfterSeconds: 30,
  },
  settled: { stage: 'settled', action: 'none', description: "The money is in the merchant's wallet." },
  payment_returned: {
    stage: 'payment_succeeded',
    action: 'none',
    description: 'The payment went back to the payer in full. Nothing else follows.',
  },
  settlement_returned: {
    stage: 'settled',
    action: 'none',
    description: 'The merchant received the payment, and then gave all of it back to the payer.',
  },
  session_expired: {
    stage: 'session_expired',
    action: 'create_payment_session',
    description:
      'The session was not paid in time and can no longer be paid. Begin again from the payment link.',
  },
  session_cancelled: {
    stage: 'session_cancelled',
    action: 'none',
    description: 'The merchant has cancelled the session.',
  },
} as const satisfies Record<AgentSituation, AgentMove>;

/** Whether the payer signs a message for the action. */
export function isSigned(action: AgentAction): boolean {
  return action === 'create_payment_session' || action === 'prepare_payment';
}

/** The facts that decide a session's situation. */
export interface AgentSessionState {
  readonly status: SessionStatus;
  readonly signedOnce: boolean;
  /** A pay transaction is in a canonical block. */
  readonly isPaymentSeen: boolean;
  /** A reorg below finality took back the payment. */
  readonly isPaymentLost: boolean;
  /** The chain of the payment, or of a part of it, is halted and may have lost it. */
  readonly isPaymentInDoubt: boolean;
  /** The payer has all of it back. */
  readonly isPaymentReturned: boolean;
  /** Our clock has reached the session's expiry. */
  readonly isPastExpiry: boolean;
  /** Payer and token were chosen when the session was created. */
  readonly hasPaymentParameters: boolean;
}

/** The situation that an agent finds when it reads a session. */
export function sessionSituation(state: AgentSessionState): AgentSituation {
  if (state.isPaymentInDoubt) return 'payment_in_doubt';
  if (state.isPaymentReturned)
    return state.status === 'completed' ? 'settlement_returned' : 'payment_returned';
  switch (state.status) {
    case 'initialized':
      if (state.isPaymentSeen) return 'payment_detected';
      if (state.isPastExpiry) return state.signedOnce ? 'order_closing' : 'session_expired';
      return state.hasPaymentParameters ? 'session_ready' : 'payment_parameters_required';
    case 'paid':
      return 'payment_succeeded';
    case 'settling':
      return 'settling';
    case 'settlement_pending':
      return state.isPaymentLost ? 'payment_lost' : 'settlement_pending';
    case 'completed':
      return 'settled';
    case 'expired':
      return state.isPaymentLost ? 'payment_ended' : 'session_expired';
    case 'cancelled':
      return 'session_cancelled';
  }
}

export const workflow = Type.Object({
  stage: Type.Enum(agentStages),
  nextAction: Type.Object({
    action: Type.Enum(agentActions),
    authorizationRequired: Type.Boolean(),
    description: Type.String(),
    retryAfterSeconds: Type.Optional(Type.Integer()),
    /** Unix seconds as a decimal string: the action is valid through this second. */
    deadline: Type.Optional(Type.String()),
  }),
});
export type Workflow = Static<typeof workflow>;

/** The workflow of a situation, with the last second of its action. */
export function workflowOf(situation: AgentSituation, deadlineSeconds?: number | bigint): Workflow {
  const { stage, action, description, ...rest }: AgentMove = agentMoves[situation];
  return {
    stage,
    nextAction: {
      action,
      authorizationRequired: isSigned(action),
      description,
      ...(rest.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: rest.retryAfterSeconds }),
      ...(deadlineSeconds === undefined ? {} : { deadline: deadlineSeconds.toString() }),
    },
  };
}
