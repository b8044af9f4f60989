import type { AgentLineItem } from '@florin/protocol/agent-view.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { formatUsd, microUsd } from '@florin/protocol/money.ts';

/** The most characters of each kind of merchant text that agents are given. */
export const merchantTextLimits = {
  linkName: 100,
  customDisabledText: 500,
  productName: 100,
  productDescription: 1000,
  attributeName: 40,
  attributeValue: 200,
} as const;

const lineBreaks = /[\t\n\v\f\r\u0085\u2028\u2029]+/gu;
// Control and format characters (bidi overrides, invisible tags, zero-width spaces), but for the two joiners that
// Persian, Indic scripts and emoji are written with.
const hidden = /[\p{Cc}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/gu;
// Variation selectors can carry hidden bytes: one of the sixteen after a visible character is spelling, the rest is not.
const selectors = /[\u{e0100}-\u{e01ef}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]/gu;

/**
 * Merchant text as it may reach an agent: one line of visible characters in NFC, at most `maxCharacters` code points.
 * It stays data that the merchant wrote: what it says is never an instruction.
 */
export function merchantText(text: string, maxCharacters: number): string {
  const visible = text
    .replace(lineBreaks, ' ')
    .replace(selectors, '')
    .replace(hidden, '')
    .normalize('NFC')
    .trim();
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
