import type { AgentLineItem } from '@florin/protocol/agent-view.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';
import { visibleText } from '@florin/protocol/visible-text.ts';

/** The most characters that agents get of each kind of merchant text. */
export const merchantTextLimits = {
  linkName: 100,
  customDisabledText: 500,
  customSuccessText: 500,
  productName: 100,
  productDescription: 1000,
  attributeName: 40,
  attributeValue: 200,
} as const;

/**
 * Merchant text for an agent: one line of visible characters in NFC, at most `maxCharacters` code points. It stays the
 * merchant's data and is never an instruction.
 */
export function merchantText(text: string, maxCharacters: number): string {
  const visible = visibleText(text);
  const characters = [...visible];
  return characters.length <= maxCharacters ? visible : characters.slice(0, maxCharacters).join('');
}

/** Line items as the AI protocol shows them. */
export function agentLineItems(items: readonly LineItem[]): AgentLineItem[] {
  const limits = merchantTextLimits;
  return items.map(({ quantity, unitPrice, productData }) => ({
    quantity,
    productData: {
      productName: merchantText(productData?.productName ?? '', limits.productName),
      productDescription: merchantText(productData?.productDescription ?? '', limits.productDescription),
      imageUrl: productData?.imageUrl ?? '',
      attributes: (productData?.attributes ?? []).map(({ name, value }) => ({
        name: merchantText(name, limits.attributeName),
        value: merchantText(value, limits.attributeValue),
      })),
    },
    unitPriceInUSD: formatUsd(microUsd(unitPrice)),
  }));
}

/** A merchant's names as payers see them. Without a legal name it is the merchant's name. */
export function merchantNames(names: { readonly merchantName: string; readonly legalName: string }): {
  readonly merchant: string;
  readonly legalName: string;
} {
  const merchant = merchantText(names.merchantName, merchantTextLimits.linkName);
  const legalName = merchantText(names.legalName, merchantTextLimits.linkName);
  return { merchant, legalName: legalName === '' ? merchant : legalName };
}
