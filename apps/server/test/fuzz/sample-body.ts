import type { operations } from './operation.ts';

type OperationId = (typeof operations)[number]['id'];

const product = {
  name: 'Tea',
  commonPrices: [2_000_000],
  description: 'Green',
  imageUrl: '',
  attributes: [{ name: 'Size', value: 'L' }],
};

const link = {
  linkType: 'fixed',
  linkName: 'Tea shop',
  accountId: '@@account:2@@',
  settlementToken: 'ethereum::usdc',
  feeModel: 1,
  lineItems: [{ itemType: 'product', productId: '@@product:2@@', quantity: 1, unitPrice: 3_000_000 }],
  payerEmailRequired: 0,
  successUrl: 'https://shop.example.com/thanks',
  cancelUrl: 'https://shop.example.com/cart',
  autoReturn: 'never',
  customSuccessText: 'Thanks',
  customDisabledText: 'Back at noon',
  maxPayments: 1_000_000,
  activeUntil: 9_999_999_999,
};

const session = {
  accountId: '@@account:2@@',
  settlementToken: 'ethereum::usdc',
  lineItems: [
    { itemType: 'product', productId: '@@product:2@@', quantity: 1 },
    {
      itemType: 'one_time',
      productId: '',
      quantity: 1,
      unitPrice: 4_000_000,
      productData: {
        productName: 'Cake',
        productDescription: 'Sweet',
        imageUrl: '',
        attributes: [{ name: 'Taste', value: 'Lemon' }],
      },
    },
  ],
  successUrl: 'https://shop.example.com/thanks',
  cancelUrl: 'https://shop.example.com/cart',
  autoReturn: 'never',
  customSuccessText: 'Thanks',
  metadata: { orderNumber: 'A-1' },
};

const webhook = {
  webhookName: 'Shop',
  webhookUrl: 'https://hooks.example.com/florin',
  subscribedEvents: ['session.paid'],
  webhookDescription: 'Tells the shop',
};

const productId = '@@product:2@@';
const linkId = '@@link:2@@';
const webhookId = '@@webhook:2@@';

/** A body with every text field of the operation, by operation id. Ids are filled in when it is sent. */
export const sampleBodies: Readonly<Record<OperationId, Readonly<Record<string, unknown>>>> = {
  createProduct: product,
  updateProduct: { productId, ...product },
  listProductsByIds: { productIds: [productId] },
  archiveProduct: { productId },
  unarchiveProduct: { productId },
  removeProduct: { productId },
  createLink: link,
  updateLink: { linkId, ...link },
  disableLink: { linkId },
  enableLink: { linkId },
  createCheckoutSession: session,
  searchSessions: {
    accountId: '@@account:2@@',
    linkId,
    productId,
    payer: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    payerEmail: 'ada@example.com',
    paidToken: 'ethereum::usdc',
    txHash: '0x01',
    metadata: { orderNumber: 'A-1' },
    text: 'tea',
    after: 'none',
  },
  createReport: { type: 'payments', from: 0, to: 1, accountId: '@@account:2@@', format: 'csv' },
  cancelCheckoutSession: { sessionId: '@@session:2@@' },
  createRefund: { sessionId: '@@session:2@@', reason: 'Cold tea' },
  cancelRefund: { refundId: '@@refund:2@@' },
  createWebhook: webhook,
  updateWebhook: { webhookId, ...webhook },
  disableWebhook: { webhookId },
  resolveException: { exceptionId: '@@exception:2@@' },
  acceptException: { exceptionId: '@@exception:2@@' },
  refundException: { exceptionId: '@@exception:2@@' },
  updateBranding: {
    ...{ logoUrl: '', darkLogoUrl: '', iconUrl: '', color: '#0b6b4d', background: '#ffffff', font: 'serif' },
    ...{
      legalName: 'Tea Ltd',
      supportUrl: 'https://shop.example/help',
      termsUrl: 'https://shop.example/terms',
    },
    ...{ refundUrl: 'https://shop.example/refunds', privacyUrl: 'https://shop.example/privacy' },
    embedOrigins: ['https://shop.example'],
  },
  enableWebhook: { webhookId },
  refreshWebhookKey: { webhookId },
  removeWebhook: { webhookId },
  testWebhook: { webhookId },
  resendDelivery: { deliveryId: '@@delivery:2@@' },
  resendDeliveries: { webhookId, eventId: '@@event:2@@', after: '@@delivery:2@@' },
};

/** The places of texts in a body, as lists of keys, own properties only. */
export function textPlacesOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value === 'string') return [[...path]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => textPlacesOf(member, [...path, key]));
}

/** A copy of the body with another text at one place. */
export function withText(body: unknown, place: readonly string[], text: string): unknown {
  const [key, ...rest] = place;
  if (key === undefined) return text;
  const copy: unknown = Array.isArray(body) ? [...body] : { ...(body as object) };
  Object.assign(copy as object, { [key]: withText(Reflect.get(copy as object, key), rest, text) });
  return copy;
}
