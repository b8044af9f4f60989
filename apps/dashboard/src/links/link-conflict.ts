import type { Account } from '@florin/protocol/account.ts';
import type { DraftPart } from '../ui/conflict.tsx';
import { type LinkDraft, lateTexts, type ProductChoice } from './link-draft.ts';

/** How a draft of a link reads beside another one. */
export function linkParts(
  products: readonly ProductChoice[],
  accounts: readonly Account[],
  tokenName: (tokenId: string) => string,
): readonly DraftPart<LinkDraft>[] {
  const productName = (id: string) => products.find(({ productId }) => productId === id)?.name ?? id;
  const walletName = (id: string) => accounts.find(({ accountId }) => accountId === id)?.accountName ?? id;
  return [
    { name: 'Name', fields: ['linkName'], textOf: ({ linkName }) => linkName.trim() },
    {
      name: 'Products',
      fields: ['items', 'shownProductId'],
      textOf: ({ items, shownProductId }) =>
        [
          ...items.map(
            ({ productId, quantity, price }) => `${productName(productId)}, ${quantity} × ${price}`,
          ),
          productName(shownProductId),
        ]
          .join('\n')
          .trim(),
    },
    {
      name: 'Wallet and token',
      fields: ['accountId', 'settlementToken'],
      textOf: ({ accountId, settlementToken }) => `${walletName(accountId)}, ${tokenName(settlementToken)}`,
    },
    { name: 'Payments in all', fields: ['maxPayments'], textOf: ({ maxPayments }) => maxPayments.trim() },
    { name: 'Ends on', fields: ['activeUntil'], textOf: ({ activeUntil }) => activeUntil.replace('T', ' ') },
    {
      name: 'The fee',
      fields: ['feeModel'],
      textOf: ({ feeModel }) => (feeModel === 2 ? 'The payer pays it' : 'You pay it'),
    },
    {
      name: 'Payer’s e-mail',
      fields: ['isEmailRequired'],
      textOf: ({ isEmailRequired }) => (isEmailRequired ? 'Required' : 'Not required'),
    },
    { name: 'Page after payment', fields: ['successUrl'], textOf: ({ successUrl }) => successUrl.trim() },
    {
      name: 'Text after payment',
      fields: ['customSuccessText'],
      textOf: ({ customSuccessText }) => customSuccessText.trim(),
    },
    {
      name: 'Text while disabled',
      fields: ['customDisabledText'],
      textOf: ({ customDisabledText }) => customDisabledText.trim(),
    },
    {
      name: 'Short and late transfers',
      fields: ['latePayment', 'lateHours', 'underpaidPercent', 'underpaidAmount'],
      textOf: ({ latePayment, lateHours, underpaidPercent, underpaidAmount }) =>
        [
          `late: ${lateTexts[latePayment]}`,
          lateHours.trim() && `for ${lateHours} hours`,
          underpaidPercent.trim() && `${underpaidPercent} % may be missing`,
          underpaidAmount.trim() && `$${underpaidAmount} may be missing`,
        ]
          .filter((text) => text !== '')
          .join('\n'),
    },
  ];
}
