import type { LinkTermsView } from '@florin/protocol/link-history.ts';
import { exactTime, formatNumber, formatUsd } from '../ui/format.ts';
import { policyTexts } from './link-draft.ts';

/** One thing that two versions of a link may have in different forms; undefined where a version lacks it. */
export interface VersionChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What differs between two versions, in words, in the order of the form. */
export function versionChanges(
  before: LinkTermsView,
  after: LinkTermsView,
  tokenName: (tokenId: string) => string,
): VersionChange[] {
  const [earlier, later] = [factsOf(before, tokenName), factsOf(after, tokenName)];
  return [...new Set([...later.keys(), ...earlier.keys()])]
    .map((name) => ({ name, before: earlier.get(name), after: later.get(name) }))
    .filter((change) => change.before !== change.after);
}

/** The terms by what people call them. A term that a link does not use is left out. */
function factsOf(terms: LinkTermsView, tokenName: (tokenId: string) => string): Map<string, string> {
  const { exceptionPolicy, maxPayments, activeUntil } = terms;
  const facts: [string, string | undefined][] = [
    ['Name', terms.linkName],
    ...terms.lineItems.items.flatMap((item, index) =>
      itemFacts(item, index + 1, terms.linkType === 'custom'),
    ),
    ['Wallet', `${terms.accountName} (${terms.accountAddress})`],
    ['You receive', tokenName(terms.settlementToken)],
    ['Payments in all', maxPayments === undefined ? undefined : formatNumber(maxPayments)],
    ['Ends on', activeUntil === undefined ? undefined : exactTime(new Date(activeUntil * 1_000))],
    ['The fee', terms.feeModel === 2 ? 'The payer pays it' : 'You pay it'],
    ['Payer’s e-mail', terms.payerEmailRequired === 1 ? 'Required' : 'Not required'],
    ['Page after payment', terms.successUrl],
    ['Go there without a click', terms.autoReturn === 'never' ? 'No' : undefined],
    ['Page for payers who do not pay', terms.cancelUrl],
    ['Text after payment', terms.customSuccessText],
    ['Text while disabled', terms.customDisabledText],
    ...(exceptionPolicy === undefined
      ? []
      : policyTexts(exceptionPolicy).map(([name, text]): [string, string] => [name, text])),
  ];
  return new Map(facts.filter((fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== ''));
}

function itemFacts(
  { quantity, unitPrice, productData }: LinkTermsView['lineItems']['items'][number],
  number: number,
  isPriceOpen: boolean,
): [string, string][] {
  const name = `Product ${number}`;
  const price = isPriceOpen ? 'any amount' : `${quantity} × ${formatUsd(unitPrice)}`;
  const attributes = productData?.attributes.map((each) => `${each.name}: ${each.value}`).join('\n') ?? '';
  return [
    [name, `${productData?.productName ?? ''}, ${price}`],
    [`${name}, description`, productData?.productDescription ?? ''],
    [`${name}, attributes`, attributes],
    [`${name}, image`, productData?.imageUrl ?? ''],
  ];
}
