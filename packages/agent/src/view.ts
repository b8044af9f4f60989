import { addressOf, chainIdOf, integerOf, listOf, member, refuseAnswer, textOf } from './json.ts';
import type { StatedOffer } from './policy.ts';

/** The part of a link's agent view that a payer needs. */
export interface LinkView {
  readonly linkId: string;
  readonly linkVersion: string;
  readonly merchantId: string;
  readonly isOpenPrice: boolean;
  readonly isEmailRequired: boolean;
  readonly offers: readonly StatedOffer[];
  /** Undefined while the link accepts no payment. */
  readonly signing: Signing | undefined;
}

/** The inputs of signatures for a service. */
export interface Signing {
  readonly domainName: string;
  /** When the service's own template expires, in Unix seconds by the service's clock. */
  readonly templateExpiresAt: bigint;
}

/** The part of a session's agent view that a payer needs. */
export interface SessionView {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly isEmailRequired: boolean;
  readonly stage: string;
  readonly action: string;
  readonly retryAfterSeconds: number | undefined;
  /** Empty until the payment is seen. */
  readonly txHash: string;
  /** Empty until the settlement is final. */
  readonly settlementTxHash: string;
  readonly offers: readonly StatedOffer[];
  /** Undefined when there is nothing to prepare. */
  readonly signing: Signing | undefined;
}

export function parseLinkView(view: unknown): LinkView {
  const aiView = member(view, 'aiView');
  return {
    linkId: textOf(view, 'linkId'),
    linkVersion: textOf(view, 'linkVersion'),
    merchantId: textOf(view, 'merchantId'),
    isOpenPrice: textOf(aiView, 'pricingModel', 'type') === 'custom',
    isEmailRequired: member(view, 'payerEmailRequired') === true,
    offers: offersOf(member(aiView, 'supportedPaymentTokens')),
    signing: signingOf(member(aiView, 'createPaymentSessionRequirement')),
  };
}

export function parseSessionView(view: unknown): SessionView {
  const aiView = member(view, 'aiView');
  const guide = member(aiView, 'completePaymentSessionGuide');
  const next = member(aiView, 'workflow', 'nextAction');
  const retryAfter = member(next, 'retryAfterSeconds');
  return {
    sessionId: textOf(view, 'sessionId'),
    merchantId: textOf(view, 'merchantId'),
    isEmailRequired: member(view, 'payerEmailRequired') === true,
    stage: textOf(aiView, 'workflow', 'stage'),
    action: textOf(next, 'action'),
    retryAfterSeconds: typeof retryAfter === 'number' && retryAfter > 0 ? retryAfter : undefined,
    txHash: textOf(view, 'initiateTx'),
    settlementTxHash: textOf(view, 'completeTx'),
    offers: offersOf(member(aiView, 'supportedPaymentTokens') ?? member(guide, 'supportedPaymentTokens')),
    signing: signingOf(
      member(aiView, 'preparePaymentRequirement') ?? member(guide, 'preparePaymentRequirement'),
    ),
  };
}

function offersOf(list: unknown): StatedOffer[] {
  return listOf({ list }, 'list').map((offer) => ({
    chainId: chainIdOf(offer, 'chainId'),
    token: addressOf(offer, 'tokenAddress'),
    amount: integerOf(offer, 'amountInToken'),
    isUnavailable: member(offer, 'status') === 'unavailable',
    statedDecimals: decimalsOf(member(offer, 'decimals')),
  }));
}

function decimalsOf(value: unknown): number {
  return typeof value === 'number' ? value : refuseAnswer('a token without its decimals');
}

function signingOf(requirement: unknown): Signing | undefined {
  if (requirement === undefined) return undefined;
  return {
    domainName: textOf(requirement, 'authorizationSpec', 'domain', 'name'),
    templateExpiresAt: integerOf(requirement, 'messageTemplate', 'authorizationExpiresAt'),
  };
}
