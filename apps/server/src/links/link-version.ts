import { createHash } from 'node:crypto';
import { canonicalJson } from '@florin/protocol/canonical-json.ts';
import { base62Of, idPrefixes } from '@florin/protocol/id.ts';
import { withoutDefaults } from '@florin/protocol/shop-return.ts';
import { unixSeconds } from '#outside/clock.ts';
import type { StoredLink } from './stored-link.ts';

/** The inputs of a link's version. */
export type LinkTerms = Pick<
  StoredLink,
  | 'linkId'
  | 'linkType'
  | 'linkName'
  | 'settlementToken'
  | 'feeModel'
  | 'payerEmailRequired'
  | 'successUrl'
  | 'cancelUrl'
  | 'autoReturn'
  | 'customSuccessText'
  | 'customDisabledText'
  | 'exceptionPolicy'
  | 'maxPayments'
  | 'activeUntil'
  | 'items'
> & { readonly account: Pick<StoredLink['account'], 'accountId' | 'version'> };

/**
 * The version code: `ver_` and 22 base62 characters of the SHA-256 of everything that a payer agrees to. It changes with every
 * real change of the link, of its products or of its account. Statuses and ids of line items are not part of it, so that an
 * identical update, disabling and enabling keep it.
 */
export function linkVersionOf(terms: LinkTerms): string {
  const content = canonicalJson({
    linkId: terms.linkId,
    linkType: terms.linkType,
    linkName: terms.linkName,
    accountId: terms.account.accountId,
    accountVersion: terms.account.version,
    settlementToken: terms.settlementToken,
    feeModel: terms.feeModel,
    payerEmailRequired: terms.payerEmailRequired,
    successUrl: terms.successUrl,
    customSuccessText: terms.customSuccessText,
    customDisabledText: terms.customDisabledText,
    // Defaults and undefined are left out, so that links older than these fields keep their versions.
    ...withoutDefaults(terms),
    exceptionPolicy: terms.exceptionPolicy,
    maxPayments: terms.maxPayments,
    activeUntil: terms.activeUntil === undefined ? undefined : unixSeconds(terms.activeUntil),
    lineItems: terms.items.map(({ itemType, productId, quantity, unitPrice, productData }) => ({
      itemType,
      productId,
      quantity,
      unitPrice,
      productData: productData === undefined ? undefined : { ...productData, status: undefined },
    })),
  });
  return idPrefixes.linkVersion + base62Of(createHash('sha256').update(content).digest());
}
