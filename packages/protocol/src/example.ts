import { type ErrorName, errorCatalogue } from './error.ts';
import { errorAdvice } from './error-advice.ts';
import { agentExamples, x402Examples } from './example-agent.ts';
import { eventExamples } from './example-event.ts';
import { initializedSession, paidView, sessionId, sessionRequest } from './example-session.ts';
import type { Json, JsonObject } from './openapi-schema.ts';

/** One request of an operation, and its answer. */
export interface OperationExample {
  /** Values of the path's parameters. */
  readonly params?: Readonly<Record<string, Json>>;
  /** Query parameters. */
  readonly query?: Readonly<Record<string, Json>>;
  readonly body?: Json;
  /** `data` of the answer. */
  readonly data: Json;
  /** The whole body of answers with other statuses that are not errors. */
  readonly steps?: Readonly<Record<string, Json>>;
}

/** The origin in documents that no installation serves. */
export const exampleOrigin = 'https://pay.example.com';

/** Examples by operation id. Documents show them; a test validates each against the schemas of its operation. */
export function operationExamples(origin: string): Readonly<Record<string, OperationExample>> {
  return {
    ...productExamples,
    ...accountExamples,
    ...linkExamples(origin),
    ...brandingExamples(origin),
    ...sessionExamples(origin),
    ...reportExamples(origin),
    ...webhookExamples,
    ...eventExamples(origin),
    ...capabilityExamples,
    ...agentExamples(origin),
    ...x402Examples(origin),
  };
}

const success = { success: true } as const;
const firstPage = { page: 1, size: 20 } as const;

const product = {
  productId: 'prd_eP8Q86wXwfDMjUdHWeDg6D',
  name: 'Green tea',
  description: 'One kilogram of loose leaves',
  imageUrl: '',
  imageStatus: 'none',
  imageReason: '',
  status: 'active',
  commonPrices: [10_000_000],
  attributes: [{ name: 'Origin', value: 'Uji' }],
  createAt: '2026-01-02 02:30:00',
  updateAt: '2026-01-02 02:30:00',
} as const;
const { productId } = product;

const productBody = {
  name: product.name,
  commonPrices: product.commonPrices,
  description: product.description,
  attributes: product.attributes,
} as const;

const productExamples = {
  createProduct: { body: productBody, data: product },
  updateProduct: { body: { productId, ...productBody, commonPrices: [12_000_000] }, data: success },
  listProducts: {
    params: firstPage,
    data: { total: 1, page: '1', size: '20', hasMore: false, nextCursor: '', products: [product] },
  },
  listProductsByIds: { body: { productIds: [productId, 'prd_0000000000000000000000'] }, data: [product] },
  archiveProduct: { body: { productId }, data: success },
  unarchiveProduct: { body: { productId }, data: success },
  removeProduct: { body: { productId }, data: success },
} as const;

const account = {
  accountId: 'acc_LFnR2bDJjNsNu9SwBElfNr',
  accountName: 'Main wallet',
  accountAddress: '0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD',
  accountType: 'EVM::ADDR',
  settlementCurrencies: ['base::usdc', 'ethereum::usdc'],
  version: 'acv_GnGzyme3EkWhl8fiOJTDOa',
  status: 'normal',
  settlementMode: '',
  createAt: '2026-01-02 02:00:00',
  updateAt: '2026-01-02 02:00:00',
} as const;

const accountExamples = {
  getAccount: { params: { accountId: account.accountId }, data: account },
  listAccounts: { data: [account] },
} as const;

const linkId = 'lnk_Gr7n0KlugynWtQSL2Kk02b';

const linkBody = {
  linkType: 'fixed',
  linkName: 'Tea shop',
  accountId: account.accountId,
  settlementToken: 'base::usdc',
  feeModel: 1,
  lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 10_000_000 }],
  successUrl: 'https://shop.example.com/thanks?session={SESSION_ID}',
  customSuccessText: 'Thank you! The tea is on its way.',
} as const;

function linkExamples(origin: string) {
  const item = { lineItemId: 'li_JVKX57V18j0KbXOPits9tL', ...linkBody.lineItems[0] } as const;
  const productData = {
    productName: product.name,
    productDescription: product.description,
    imageUrl: '',
    attributes: product.attributes,
  } as const;
  const base = {
    linkId,
    linkType: 'fixed',
    linkName: linkBody.linkName,
    accountId: account.accountId,
    settlementToken: linkBody.settlementToken,
    feeModel: 1,
    amount: 10_000_000,
    payerEmailRequired: 0,
    successUrl: linkBody.successUrl,
    customSuccessText: linkBody.customSuccessText,
    customDisabledText: '',
    linkUrl: `${origin}/link/${linkId}`,
    status: 'active',
    versionCode: 'ver_FA9drThD52dKsv9XqaeEyD',
    createAt: '2026-01-02 02:40:00',
    updateAt: '2026-01-02 02:40:00',
  } as const;
  const items = [{ ...item, productData }] as const;
  return {
    createLink: {
      body: linkBody,
      data: { ...base, lineItems: { items, lineItems: { items }, amount: base.amount } },
    },
    updateLink: { body: { linkId, ...linkBody, feeModel: 2 }, data: success },
    getLink: {
      params: { linkId },
      data: {
        ...base,
        lineItems: { items: [{ ...item, productData: { ...productData, status: 'active' } }] },
        accountName: account.accountName,
        accountAddress: account.accountAddress,
        settlementTokenInfo: {
          tokenId: 'base::usdc',
          contractAddress: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          name: 'USD Coin',
          symbol: 'USDC',
          decimals: 6,
          chainId: '8453',
        },
      },
    },
    listLinks: {
      params: firstPage,
      data: {
        total: 1,
        page: '1',
        size: '20',
        hasMore: false,
        nextCursor: '',
        links: [{ ...base, lineItems: { items: [item] } }],
      },
    },
    disableLink: { body: { linkId }, data: success },
    enableLink: { body: { linkId }, data: success },
  } as const;
}

function brandingExamples(origin: string) {
  const site = 'https://shop.example.com';
  const look = {
    color: '#0b6b4d',
    background: '#f2efe6',
    cornerRadius: 8,
    font: 'humanist',
    legalName: 'Example Shop GmbH',
    supportUrl: `${site}/help`,
    termsUrl: `${site}/terms`,
    refundUrl: `${site}/refunds`,
    privacyUrl: `${site}/privacy`,
  };
  const logoUrl = `${origin}/images/4hXqJmL2pT9vRc7WzKsB1n-1280.webp`;
  const iconUrl = `${origin}/images/9cTbQwF6yN3kHd8MxVuA5e-1280.webp`;
  const images = { logoUrl, darkLogoUrl: '', iconUrl };
  const embedOrigins = [site];
  return {
    getBranding: { data: { ...images, ...look, embedOrigins, updateAt: '2026-01-02 02:45:00' } },
    updateBranding: {
      body: { logoUrl: `${site}/logo.png`, iconUrl: `${site}/icon.png`, ...look, embedOrigins },
      data: success,
    },
  } as const;
}

function sessionExamples(origin: string) {
  const waiting = { session: initializedSession(origin) };
  const list = (...sessions: readonly Json[]) => ({
    params: firstPage,
    data: { total: sessions.length, ...firstPage, hasMore: false, nextCursor: '', sessions },
  });
  return {
    createCheckoutSession: { body: sessionRequest, data: waiting.session },
    cancelCheckoutSession: { body: { sessionId }, data: success },
    getSession: { params: { sessionId }, data: paidView(origin, 'completed') },
    searchSessions: {
      body: { status: 'completed', metadata: { orderNumber: 'A-1042' } },
      data: { sessions: [paidView(origin, 'completed')], nextCursor: '', hasMore: false },
    },
    listSessions: list(waiting),
    listInitializedSessions: list(waiting),
    listPaidSessions: list(paidView(origin, 'paid')),
    listSettlingSessions: list(paidView(origin, 'settling')),
    listCompletedSessions: list(paidView(origin, 'completed')),
    listCancelledSessions: list({ session: { ...waiting.session, status: 'cancelled' } }),
    listExpiredSessions: list({ session: { ...waiting.session, status: 'expired' } }),
    listSettlementPendingSessions: list(paidView(origin, 'settlement_pending')),
  } as const;
}

function reportExamples(origin: string) {
  const reportId = 'rpt_5KxQ2mWc8RtZ0vYp3NhLbA';
  const order = { type: 'settlements', format: 'csv', from: 1_767_225_600, to: 1_767_312_000 } as const;
  return {
    createReport: { body: order, data: { reportId, status: 'pending' } },
    getReport: {
      params: { reportId },
      data: {
        reportId,
        ...order,
        accountId: '',
        status: 'ready',
        progress: 100,
        reason: '',
        url: `${origin}/reports/${reportId}/4hXqJmL2pT9vRc7WzKsB1n`,
        expiresAt: 1_767_402_000,
        rows: 1,
        totals: { totalValue: '10000000', feeValue: '20000', netValue: '9980000' },
        createAt: '2026-01-02 01:00:00',
      },
    },
  } as const;
}

const webhook = {
  webhookId: 'wkid_1iujKnMMYEjNQPik00dzen',
  webhookName: 'Orders',
  webhookDescription: '',
  webhookUrl: 'https://shop.example.com/webhooks/florin',
  status: 'active',
  subscribedEvents: ['session.*'],
  key: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  createAt: '2026-01-02 02:10:00',
  updateAt: '2026-01-02 02:10:00',
} as const;
const { webhookId } = webhook;

const webhookBody = {
  webhookName: webhook.webhookName,
  webhookUrl: webhook.webhookUrl,
  subscribedEvents: webhook.subscribedEvents,
} as const;

const webhookExamples = {
  createWebhook: { body: webhookBody, data: webhook },
  updateWebhook: {
    body: { webhookId, ...webhookBody, subscribedEvents: ['session.paid', 'session.completed'] },
    data: success,
  },
  disableWebhook: { body: { webhookId }, data: success },
  enableWebhook: { body: { webhookId, replaySince: 1_767_315_600 }, data: success },
  refreshWebhookKey: { body: { webhookId, overlapSeconds: 3600 }, data: success },
  removeWebhook: { body: { webhookId }, data: success },
  listWebhooks: { data: { webhooks: [webhook] } },
  getWebhook: { params: { webhookId }, data: webhook },
} as const;

const sameToken = {
  tokenId: 'base::usdc',
  crosschain: false,
  feeRatePPM: 2000,
  minPaymentValue: 2,
  maxPaymentValue: 10_000_000_000_000,
  etaSeconds: 2400,
  finality: 'finalized',
  methods: ['transaction', 'eip5792', 'eip3009', 'permit2', 'deposit', 'x402'],
  status: 'available',
  statusReason: '',
} as const;

const capabilityExamples = {
  getCapabilities: {
    data: {
      supportedTokens: [
        { tokenId: 'base::usdc', symbol: 'USDC', chainId: '8453', decimals: 6 },
        { tokenId: 'ethereum::usdc', symbol: 'USDC', chainId: '1', decimals: 6 },
      ],
      paymentCapabilities: {
        'base::usdc': [
          sameToken,
          {
            ...sameToken,
            tokenId: 'ethereum::usdc',
            crosschain: true,
            feeRatePPM: 6000,
            maxPaymentValue: 250_000_000_000,
            etaSeconds: 3100,
          },
        ],
      },
    },
  },
} as const;

/** A failed answer with the given error. */
export function failureExample(origin: string, slug: ErrorName): JsonObject {
  const { code, text, retryable } = errorCatalogue[slug];
  return {
    code,
    message: text,
    data: null,
    error: {
      slug,
      param: slug === 'field_invalid' ? 'lineItems[0].unitPrice' : '',
      retryable,
      remedy: errorAdvice[slug].remedy,
      docUrl: `${origin}/docs/errors/${code}`,
      requestId: 'req_3mQ8tXa0LrC7vJzN5kPwYb',
    },
  };
}
