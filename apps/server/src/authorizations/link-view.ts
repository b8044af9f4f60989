import { workflowOf } from '@florin/protocol/agent.ts';
import type { LinkView } from '@florin/protocol/agent-view.ts';
import { untrustedTextNotice } from '@florin/protocol/discovery.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { reasonForPayers } from '#links/link-terms.ts';
import type { StoredLink } from '#links/stored-link.ts';
import type { AuthorizationContext } from './context.ts';
import { agentLineItems, merchantText, merchantTextLimits } from './merchant-text.ts';
import { linkTerms, offeredTokens, pricingModelOf } from './offer.ts';
import { requirementOf } from './requirement.ts';

type ViewContext = Pick<AuthorizationContext, 'chains' | 'rates' | 'serviceDomain' | 'clock' | 'random'>;

/** A payment link as agents see it. A disabled link has a view that says so; a deleted one is refused with 100102. */
export function linkView(deps: ViewContext, link: StoredLink): LinkView {
  if (link.status === 'deleted') throw new Refusal('link_archived', link.linkId);
  const terms = linkTerms(link);
  const supportedPaymentTokens = offeredTokens(deps, terms);
  const [first] = supportedPaymentTokens;
  const isOpen = link.status === 'active' && first !== undefined;
  const text = merchantText(link.customDisabledText, merchantTextLimits.customDisabledText);
  const reason = reasonForPayers(link);
  return {
    merchantId: link.merchantId,
    linkId: link.linkId,
    linkVersion: link.versionCode,
    linkName: merchantText(link.linkName, merchantTextLimits.linkName),
    lineItems: agentLineItems(link.items),
    payerEmailRequired: link.payerEmailRequired,
    ...(link.status === 'disabled' ? { customDisabledText: text } : {}),
    ...(reason === undefined ? {} : { disabledReason: reason }),
    untrustedText: untrustedTextNotice,
    aiView: {
      pricingModel: pricingModelOf(deps, terms),
      supportedPaymentTokens,
      ...(isOpen ? { createPaymentSessionRequirement: creationRequirement(deps, link, first) } : {}),
      workflow: workflowOf(isOpen ? 'link_ready' : 'link_unavailable'),
    },
  };
}

function creationRequirement(
  deps: ViewContext,
  link: StoredLink,
  token: LinkView['aiView']['supportedPaymentTokens'][0],
) {
  return requirementOf(deps, 'create_payment_session', {
    chainId: Number(token.chainId),
    known: {
      linkId: link.linkId,
      linkVersion: link.versionCode,
      merchantId: link.merchantId,
      paymentChainId: token.chainId,
      paymentToken: token.tokenAddress,
      // The payer of a custom link chooses the total.
      ...(link.linkType === 'custom' ? {} : { amount: token.amountInToken }),
    },
  });
}
