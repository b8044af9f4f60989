import { parseUsd } from '../ui/amount.ts';
import type { PreviewedOrder } from '../ui/page-preview.tsx';
import type { ItemRow, LinkDraft } from './link-draft.ts';
import { quantityOf } from './link-draft.ts';

/** Micro-USD that a preview shows. The service refuses larger prices when the link is saved. */
const maxMicroUsd = 999_999_999_999_999;

/** What the page of a draft shows. Fields that are not filled in, or hold no number, show no price. */
export function previewedOrderOf(draft: LinkDraft, name: string): PreviewedOrder {
  const { linkType, items, shownProductId, feeModel, isEmailRequired, settlementToken } = draft;
  const parts = { title: name, settlementToken, isFeeOnTop: feeModel === 2, isEmailRequired };
  if (linkType === 'custom') {
    const shown = { productId: shownProductId, name: '', quantity: 1, value: '' };
    return { ...parts, amount: '', items: shownProductId === '' ? [] : [shown] };
  }
  const chosen = items.filter(({ productId }) => productId !== '');
  const total = chosen.reduce((sum, row) => sum + itemTotal(row), 0);
  return {
    ...parts,
    amount: String(Math.min(total, maxMicroUsd)),
    items: chosen.map((row) => ({
      productId: row.productId,
      name: '',
      quantity: Math.max(1, quantityOf(row.quantity)),
      value: itemTotal(row) === 0 ? '' : String(itemTotal(row)),
    })),
  };
}

function itemTotal({ quantity, price }: ItemRow): number {
  return Math.min(quantityOf(quantity) * (parseUsd(price) ?? 0), maxMicroUsd);
}
