import Type, { type Static } from 'typebox';
import { linkDetail } from './link.ts';
import { route } from './route.ts';
import { idText, timestampText } from './schema.ts';

const { properties } = linkDetail;

/** What payers of one version of a link agree to, with the names of its wallet and products at that time. */
const linkTermsView = Type.Object({
  linkType: properties.linkType,
  linkName: properties.linkName,
  accountName: properties.accountName,
  accountAddress: properties.accountAddress,
  settlementToken: properties.settlementToken,
  feeModel: properties.feeModel,
  payerEmailRequired: properties.payerEmailRequired,
  successUrl: properties.successUrl,
  cancelUrl: properties.cancelUrl,
  autoReturn: properties.autoReturn,
  customSuccessText: properties.customSuccessText,
  customDisabledText: properties.customDisabledText,
  exceptionPolicy: properties.exceptionPolicy,
  maxPayments: properties.maxPayments,
  activeUntil: properties.activeUntil,
  lineItems: properties.lineItems,
});
export type LinkTermsView = Static<typeof linkTermsView>;

/** Earlier versions that are kept of one link. */
export const maxLinkVersions = 100;

/** A link's versions, for its page in the dashboard. */
export const linkHistory = Type.Object({
  linkId: Type.String(),
  status: Type.Enum(['active', 'disabled', 'deleted']),
  createAt: timestampText,
  updateAt: timestampText,
  versions: Type.Array(
    Type.Object({ versionCode: Type.String(), beganAt: timestampText, terms: linkTermsView }),
    {
      description: `Newest first: the present one, then at most ${maxLinkVersions} earlier ones, each with its products as they were when a change of the link replaced it`,
    },
  ),
});
export type LinkHistory = Static<typeof linkHistory>;

export const linkHistoryRoutes = {
  getLinkHistory: route({
    method: 'GET',
    path: '/payment/link/history/:linkId',
    summary: 'The versions of a payment link, also of a deleted one',
    tag: 'Payment links',
    params: Type.Object({ linkId: idText }),
    reply: linkHistory,
    permissions: ['payment_links:read'],
    effect: 'query',
    errors: ['link_not_found'],
  }),
} as const;
