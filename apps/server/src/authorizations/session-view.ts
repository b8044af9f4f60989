import { type AgentSituation, sessionSituation, workflowOf } from '@florin/protocol/agent.ts';
import type {
  AgentSessionView,
  CreatedSessionView,
  SessionAiView,
  SupportedPaymentToken,
} from '@florin/protocol/agent-view.ts';
import { untrustedTextNotice } from '@florin/protocol/discovery.ts';
import { formatUsd } from '@florin/protocol/money.ts';
import type { SessionDeposit } from '@florin/protocol/session.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { SeenPayment } from '#sessions/progress.ts';
import type { StoredSession } from '#sessions/stored-session.ts';
import type { AuthorizationContext } from './context.ts';
import { agentLineItems } from './merchant-text.ts';
import { offeredTokenOf, offeredTokens, pricingModelOf, sessionTerms } from './offer.ts';
import { requirementOf } from './requirement.ts';

type ViewContext = Pick<
  AuthorizationContext,
  'chains' | 'rates' | 'serviceDomain' | 'clock' | 'random' | 'origin'
>;

/** What the row of a session does not say of its payment. */
export interface PaymentCondition {
  /** A reorg took it back, and it can return through this second, in Unix time. */
  readonly lostUntil: bigint | undefined;
  /** Its chain is halted, and may have lost it. */
  readonly isInDoubt: boolean;
  /** The payer has all of it back. */
  readonly isReturned: boolean;
}

const asStored: PaymentCondition = { lostUntil: undefined, isInDoubt: false, isReturned: false };

/** The situation of a session for an agent, by our clock. */
export function situationOf(
  deps: Pick<ViewContext, 'clock'>,
  session: StoredSession,
  { lostUntil, isInDoubt, isReturned }: PaymentCondition = asStored,
): AgentSituation {
  return sessionSituation({
    status: session.status,
    signedOnce: session.signedOnce,
    isPaymentSeen: session.initiateTx !== '',
    isPaymentLost: lostUntil !== undefined,
    isPaymentInDoubt: isInDoubt,
    isPaymentReturned: isReturned,
    isPastExpiry: session.expirationTime <= deps.clock.now(),
    hasPaymentParameters: session.intendedPayer !== '' && session.intendedToken !== '',
  });
}

/**
 * The hosted page of a session, without the secret in its fragment. That page shows less, and still accepts payments.
 */
export function handoffUrlOf(origin: string, session: StoredSession): string {
  return `${origin}/checkout/${session.sessionId}`;
}

/** The answer to an agent that reads a session. */
export function agentSessionView(
  deps: ViewContext,
  session: StoredSession,
  {
    deposits,
    seen,
    condition,
  }: {
    readonly deposits: readonly SessionDeposit[];
    readonly seen: SeenPayment | undefined;
    readonly condition: PaymentCondition;
  },
): AgentSessionView {
  return {
    sessionId: session.sessionId,
    sessionType: session.sessionType,
    merchantId: session.merchantId,
    status: session.status,
    sessionExpiresAt: unixSeconds(session.expirationTime),
    payerEmailRequired: session.payerEmailRequired,
    amountInUSD: formatUsd(session.amount),
    lineItems: agentLineItems(session.items),
    initiateTx: session.initiateTx,
    completeTx: session.completeTx,
    ...(session.refundedAmount === 0n || condition.isInDoubt
      ? {}
      : { refundedInUSD: formatUsd(session.refundedAmount) }),
    untrustedText: untrustedTextNotice,
    aiView: {
      ...sessionAiView(deps, session, situationOf(deps, session, condition), condition.lostUntil),
      ...(deposits.length === 0 ? {} : { deposits: [...deposits] }),
      ...(seen === undefined || session.status !== 'initialized' || condition.isInDoubt
        ? {}
        : { payment: depthOf(seen) }),
    },
  };
}

function depthOf({ confirmations, confirmationsWanted }: SeenPayment): NonNullable<SessionAiView['payment']> {
  return { confirmations, confirmationsWanted };
}

/** The answer to an agent whose authorization creates a session or created it earlier. */
export function createdSessionView(
  deps: ViewContext,
  session: StoredSession,
  isReplay: boolean,
): CreatedSessionView {
  return {
    sessionId: session.sessionId,
    sessionType: session.sessionType,
    sessionExpiresAt: unixSeconds(session.expirationTime),
    ...(isReplay ? { replayed: true } : {}),
    // The session’s own view says whether the payment of a repeated creation was lost.
    aiView: sessionAiView(deps, session, situationOf(deps, session)),
  };
}

function sessionAiView(
  deps: ViewContext,
  session: StoredSession,
  situation: AgentSituation,
  lostUntil?: bigint,
): SessionAiView {
  const terms = sessionTerms(session);
  const pricingModel = pricingModelOf(deps, terms);
  const deadline = unixSeconds(session.expirationTime);
  if (situation === 'session_ready') {
    const token = offeredTokenOf(deps, terms, session.intendedToken);
    // Undefined only when the operator has since removed the token from the configuration.
    const ready =
      token === undefined
        ? { supportedPaymentTokens: [] }
        : {
            supportedPaymentTokens: [token],
            preparePaymentRequirement: preparation(deps, session, token),
          };
    return {
      pricingModel,
      ...ready,
      workflow: workflowOf(situation, deadline),
    };
  }
  if (situation === 'payment_parameters_required') {
    const tokens = offeredTokens(deps, terms);
    return {
      pricingModel,
      ...(tokens[0] === undefined
        ? {}
        : { completePaymentSessionGuide: completionGuide(deps, session, [tokens[0], ...tokens.slice(1)]) }),
      workflow: workflowOf(situation, deadline),
    };
  }
  const lastSecond = situation === 'payment_lost' ? lostUntil : undefined;
  return { pricingModel, workflow: workflowOf(situation, lastSecond) };
}

function preparation(deps: ViewContext, session: StoredSession, token: SupportedPaymentToken) {
  return requirementOf(deps, 'prepare_payment', {
    chainId: Number(token.chainId),
    known: {
      sessionId: session.sessionId,
      merchantId: session.merchantId,
      payer: session.intendedPayer,
      payerEmail: '',
      paymentChainId: token.chainId,
      paymentToken: token.tokenAddress,
    },
  });
}

/** For sessions that a merchant's server or a hosted page created. Prepare carries the payer's choice. */
function completionGuide(
  deps: ViewContext,
  session: StoredSession,
  tokens: [SupportedPaymentToken, ...SupportedPaymentToken[]],
) {
  return {
    description:
      'Choose who pays, on which chain and with which token; prepare the payment with that choice.',
    requiredFields: ['payer', 'paymentChainId', 'paymentToken'],
    payerEmailRequired: session.payerEmailRequired,
    amountInUSD: formatUsd(session.amount),
    supportedPaymentTokens: tokens,
    preparePaymentRequirement: requirementOf(deps, 'prepare_payment', {
      chainId: Number(tokens[0].chainId),
      known: { sessionId: session.sessionId, merchantId: session.merchantId, payerEmail: '' },
    }),
    handoffUrl: handoffUrlOf(deps.origin, session),
  };
}
