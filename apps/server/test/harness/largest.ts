import { maxLineItemsBytes } from '@florin/protocol/line-item.ts';
import { metadataLimits } from '@florin/protocol/session.ts';

/** Bodies with every field at its limit, in the characters that take the most bytes. */

/** Takes six bytes in JSON, and one character of a limit. */
const control = '\u0001';
/** Takes four bytes in UTF-8, and one character of a limit. */
const wide = '\u{1f600}';

/** Ten attributes at their limits; names differ. */
const attributes = Array.from({ length: 10 }, (_, index) => ({
  name: `${index}${wide.repeat(39)}`,
  value: control.repeat(200),
}));

/** A product of some 21 kB. */
export const largestProduct = {
  name: wide.repeat(100),
  description: control.repeat(1_000),
  commonPrices: [1, 2, 3, 4, 10_000_000_000_000],
  attributes,
};

/** Metadata of the maximum size, with escapes; it is stored unchanged. */
const largestMetadata = () => {
  const text = JSON.stringify({ note: '' });
  return { note: wide.repeat(Math.floor((metadataLimits.bytes - text.length) / 4)) };
};

/** A session whose line items are some hundred bytes below their limit, with metadata at its limit. */
export function largestSession(accountId: string) {
  const item = (controls: number) => ({
    itemType: 'one_time',
    quantity: 10_000,
    unitPrice: 1_000,
    productData: {
      productName: wide.repeat(100),
      productDescription: control.repeat(controls),
    },
  });
  const lineItems = [...Array(9).fill(item(1_000)), item(900)];
  if (Buffer.byteLength(JSON.stringify(lineItems)) > maxLineItemsBytes)
    throw new Error('the items are too large');
  return {
    accountId,
    settlementToken: 'ethereum::usdc',
    lineItems,
    successUrl: `https://shop.example.com/${'x'.repeat(975)}`,
    cancelUrl: `https://shop.example.com/${'x'.repeat(975)}`,
    customSuccessText: control.repeat(500),
    metadata: largestMetadata(),
  };
}

/** A link with as many large products as fit into 64 KiB, and its texts at their limits. */
export function largestLink(accountId: string, productId: string) {
  return {
    linkType: 'fixed',
    linkName: wide.repeat(100),
    accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    // A fourth one would exceed the limit of the line items.
    lineItems: Array(3).fill({ itemType: 'product', productId, quantity: 1, unitPrice: 1_000_000 }),
    successUrl: `https://shop.example.com/${'x'.repeat(975)}`,
    cancelUrl: `https://shop.example.com/${'x'.repeat(975)}`,
    customSuccessText: control.repeat(500),
    customDisabledText: control.repeat(500),
    maxPayments: 1_000_000,
    activeUntil: 9_999_999_999,
  };
}

export const largestWebhook = {
  webhookName: wide.repeat(100),
  webhookDescription: control.repeat(1_000),
  webhookUrl: `https://hooks.example.com/${'x'.repeat(974)}`,
  subscribedEvents: ['*'],
};
