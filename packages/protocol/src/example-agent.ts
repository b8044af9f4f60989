import { workflowOf } from './agent.ts';
import { untrustedTextNotice } from './discovery.ts';
import type { Json, JsonObject } from './openapi-schema.ts';
import {
  agentDomainName,
  paymentSessionCreationTypes,
  preparePaymentTypes,
  receiveAuthorizationTypes,
} from './typed-data.ts';

/** One payer, one link, one session: the examples of the AI protocol follow one payment from start to end. */
const payer = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const merchantId = 'mer_Er82wa09L1kcyfSsj75GYM';
const linkId = 'lnk_Gr7n0KlugynWtQSL2Kk02b';
const linkVersion = 'ver_FA9drThD52dKsv9XqaeEyD';
const sessionId = 'sess_zewEJD542Nt9N2AK1ZKlea';
const sessionExpiresAt = 1_767_324_600;
const gateway = '0xC83A020514B73fBBc329f31daF28c9CB002d65e8';
const usdcOnBase = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const pricingModel = { type: 'fixed' };

const token = {
  chainName: 'base',
  chainId: '8453',
  tokenAddress: usdcOnBase,
  name: 'USD Coin',
  symbol: 'USDC',
  decimals: 6,
  amountInToken: '10000000',
  amountInUSD: '10.00',
  status: 'available',
  statusReason: '',
} as const;

const tea = {
  quantity: 1,
  productData: {
    productName: 'Green tea',
    productDescription: 'One kilogram of loose leaves',
    imageUrl: '',
    attributes: [{ name: 'Origin', value: 'Uji' }],
  },
  unitPriceInUSD: '10.00',
} as const;

const creationTemplate = {
  purpose: 'create_payment_session',
  linkId,
  linkVersion,
  merchantId,
  paymentChainId: token.chainId,
  paymentToken: usdcOnBase,
  amount: token.amountInToken,
  authorizationNonce: '0x6f604de04fe984135e3367658c0d3f5c5b54fe0798c7e4f0ad5eda6caf0c76bc',
  authorizationExpiresAt: '1767323700',
} as const;

const preparationMessage = {
  purpose: 'prepare_payment',
  sessionId,
  merchantId,
  paymentChainId: token.chainId,
  paymentToken: usdcOnBase,
  payer,
  payerEmail: '',
  authorizationNonce: '0x43a727f61090c7388028057064ac5aea0e33bc3252f259785dd47357dca14cc6',
  authorizationExpiresAt: '1767323730',
} as const;

const domainFields = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
] as const;

/** What an answer asks the payer to sign. `types` holds the one primary type. */
function requirement(
  origin: string,
  purpose: string,
  types: Readonly<Record<string, Json>>,
  message: JsonObject,
): JsonObject {
  const domain = { name: agentDomainName(new URL(origin).hostname), version: '1', chainId: 8453 };
  return {
    authorizationRequired: true,
    authorizationSpec: {
      type: 'eip712',
      purpose,
      domain,
      types,
      chainIdFrom: 'paymentChainId',
      typedData: {
        types: { EIP712Domain: domainFields, ...types },
        primaryType: Object.keys(types)[0] ?? '',
        domain,
        message,
      },
    },
    messageTemplate: message,
  };
}

/** The workflow as plain JSON, without undefined members. */
function workflow(situation: Parameters<typeof workflowOf>[0], deadline?: number): Json {
  return JSON.parse(JSON.stringify(workflowOf(situation, deadline))) as Json;
}

function readySessionView(origin: string): JsonObject {
  return {
    pricingModel,
    supportedPaymentTokens: [token],
    preparePaymentRequirement: requirement(
      origin,
      'prepare_payment',
      preparePaymentTypes,
      preparationMessage,
    ),
    workflow: workflow('session_ready', sessionExpiresAt),
  };
}

const orderId = '0x6a5f5475aa56be08bad2a2c1e94129b6fc007a431bf76521b7f915b0f20d14a7';
// The selectors of `pay` and `rescue` with the first word of the order; the rest would fill a page.
const firstWord = 'cb40ef3be6ab3c4db35bb40815c9ceaae24848cb983a466a8ce3100fcdf75c86';
const calldata = `0x9699ab66${firstWord}`;
const recoveryCalldata = `0x0e22df77${firstWord}`;
const approval =
  '0x095ea7b3000000000000000000000000c83a020514b73fbbc329f31daf28c9cb002d65e8' +
  '0000000000000000000000000000000000000000000000000000000000989680';

function alternatives(): Json {
  const value = token.amountInToken;
  return [
    {
      method: 'eip3009',
      gasless: true,
      costToPayer: 'nothing',
      typedData: {
        types: {
          EIP712Domain: [...domainFields, { name: 'verifyingContract', type: 'address' }],
          ...receiveAuthorizationTypes,
        },
        primaryType: 'ReceiveWithAuthorization',
        domain: { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: usdcOnBase },
        message: {
          from: payer,
          to: gateway,
          value,
          validAfter: '0',
          validBefore: String(sessionExpiresAt + 1),
          nonce: orderId,
        },
      },
      submit: { method: 'POST', path: '/payment/submit', body: { sessionId, method: 'eip3009', orderId } },
    },
    {
      method: 'eip5792',
      gasless: false,
      costToPayer: 'the gas of one batch',
      calls: [
        { chainId: token.chainId, to: usdcOnBase, data: approval, value: '0' },
        { chainId: token.chainId, to: gateway, data: calldata, value: '0' },
      ],
    },
    {
      method: 'deposit',
      gasless: false,
      costToPayer: 'the gas of a plain transfer',
      address: '0x9b1F4E5aD2A1D0Db5E3bF1bC1bE0aB5bE4e4F6a3',
      amountInToken: value,
      refundAddress: payer,
      recovery: {
        txRequest: { chainId: token.chainId, to: gateway, data: recoveryCalldata, value: '0' },
        after: String(sessionExpiresAt),
      },
    },
  ];
}

function preparedView(origin: string): JsonObject {
  return {
    sessionId,
    calldata,
    executionChainId: token.chainId,
    executorContract: gateway,
    aiView: {
      pricingModel,
      paymentExecutionGuide: {
        authorizationRequired: false,
        executionRequest: {
          purpose: 'execute_payment_guide',
          sessionId,
          txRequest: { chainId: token.chainId, to: gateway, data: calldata, value: '0' },
          userReview: {
            description:
              `Pay 10 USDC (no fee on top) on base (chain 8453) for 1 x "Green tea". The gateway ${gateway} takes it ` +
              "and the merchant's wallet 0x681b8B6fA72E99ae00FBB3b3894426884ac3c4fD receives it. This cannot be undone.",
            irreversible: true,
          },
        },
        prerequisites: [
          {
            purpose: 'approve_exact_amount',
            description: `Allow the gateway ${gateway} to take exactly 10 USDC.`,
            txRequest: { chainId: token.chainId, to: usdcOnBase, data: approval, value: '0' },
          },
        ],
        alternatives: alternatives(),
        order: { orderId, deadline: String(sessionExpiresAt) },
        handoff: { paymentUrl: `${origin}/checkout/${sessionId}` },
      },
      workflow: workflow('payment_prepared', sessionExpiresAt),
    },
  };
}

const signature =
  '0xb67d6d9710b270a932a81c45d30d8e19242c9296b655138f57b5e54522af35a6' +
  '62935c7e18b8ecf6d9af72eea4d8b50e8262b6a79a69282d5f143a9c5bbbc93b1c';

const receipt = {
  sessionId,
  status: 'initialized',
  txHash: '0x5f3d2c1b0a99887766554433221100ffeeddccbbaa99887766554433221100ff',
  network: 'eip155:8453',
  payer,
} as const;
const pendingReceipt = { ...receipt, status: 'settlement_pending' } as const;

/** Examples of the operations of x402. */
export function x402Examples(origin: string) {
  const required = (path: string) => ({
    x402Version: 2,
    error: 'PAYMENT-SIGNATURE header is required',
    resource: {
      url: `${origin}/aipay/x402${path}`,
      description: tea.productData.productName,
      mimeType: 'application/json',
    },
    accepts: [
      {
        scheme: 'exact',
        network: `eip155:${token.chainId}`,
        amount: token.amountInToken,
        asset: token.tokenAddress,
        payTo: '0x9c1Fb1C2A4dAa5cF2E27e4fB2c1b09A5C4D3E2F1',
        maxTimeoutSeconds: 300,
        extra: { name: token.name, version: '2', offer: 'WyJlNWQ0Il0.Yk1hYw' },
      },
    ],
  });
  const steps = (path: string) => ({
    '202': { code: 0, message: 'success', data: pendingReceipt, ...pendingReceipt },
    '402': required(path),
  });
  return {
    payLinkByX402: { params: { linkId }, query: { payer }, data: receipt, steps: steps(`/link/${linkId}`) },
    paySessionByX402: {
      params: { sessionId },
      query: { payer },
      data: receipt,
      steps: steps(`/session/${sessionId}`),
    },
  };
}

/** Examples of the AI protocol's operations. */
export function agentExamples(origin: string) {
  return {
    getPaymentLink: {
      params: { linkId },
      data: {
        merchantId,
        linkId,
        linkVersion,
        linkName: 'Tea shop',
        lineItems: [tea],
        payerEmailRequired: false,
        untrustedText: untrustedTextNotice,
        aiView: {
          pricingModel,
          supportedPaymentTokens: [token],
          createPaymentSessionRequirement: requirement(
            origin,
            'create_payment_session',
            paymentSessionCreationTypes,
            creationTemplate,
          ),
          workflow: workflow('link_ready'),
        },
      },
    },
    createPaymentSession: {
      body: { message: { ...creationTemplate, payer }, signature },
      data: {
        sessionId,
        sessionType: 'ai_checkout',
        sessionExpiresAt,
        aiView: readySessionView(origin),
      },
    },
    getPaymentSession: {
      params: { sessionId },
      data: {
        sessionId,
        sessionType: 'ai_checkout',
        merchantId,
        status: 'initialized',
        sessionExpiresAt,
        payerEmailRequired: false,
        amountInUSD: '10.00',
        lineItems: [tea],
        initiateTx: '',
        completeTx: '',
        untrustedText: untrustedTextNotice,
        aiView: readySessionView(origin),
      },
    },
    preparePayment: {
      body: { message: preparationMessage, signature },
      data: preparedView(origin),
    },
    submitPayment: {
      body: { sessionId, method: 'eip3009', orderId, signature },
      data: {
        sessionId,
        txHash: '0x1d5ae6e2a1cf0f4b1c5d3bf0a0ed9c8f7ae1f2b3c4d5e6f708192a3b4c5d6e7f',
        status: 'submitted',
      },
    },
  } as const;
}
