import {
  address,
  anyObject,
  boolean,
  decimal,
  digits,
  emptyText,
  filledText,
  id,
  integer,
  matching,
  oneOf,
  type Shape,
  type ShapeFields,
  text,
  timestamp,
  timestampOrNull,
  tokenId,
  url,
} from './shape.ts';

/** The resources of the specification, field by field. Interfaces may add members, but never remove one. */
const attributes: Shape = [{ name: text, value: text }];

export const product: ShapeFields = {
  productId: id('prd_'),
  name: filledText,
  description: text,
  imageUrl: text,
  status: oneOf('active', 'archived'),
  commonPrices: [integer],
  attributes,
};

const productData: ShapeFields = { productName: text, productDescription: text, imageUrl: text, attributes };

const lineItemBase: ShapeFields = {
  lineItemId: id('li_'),
  itemType: oneOf('product', 'one_time', 'user_priced'),
  productId: text,
  quantity: integer,
  unitPrice: integer,
};
export const lineItem: ShapeFields = { ...lineItemBase, productData };

export const account: ShapeFields = {
  accountId: id('acc_'),
  accountName: text,
  accountAddress: address,
  accountType: oneOf('EVM::ADDR'),
  settlementCurrencies: [tokenId],
  version: filledText,
  status: oneOf('normal'),
  createAt: timestamp,
  updateAt: timestamp,
};

const linkBase: ShapeFields = {
  linkId: filledText,
  linkType: oneOf('fixed', 'custom'),
  linkName: filledText,
  accountId: id('acc_'),
  settlementToken: tokenId,
  feeModel: oneOf(1, 2),
  amount: integer,
  payerEmailRequired: oneOf(0, 1),
  successUrl: text,
  customSuccessText: text,
  customDisabledText: text,
  linkUrl: url,
  status: filledText,
  versionCode: filledText,
};

export const createdLink: ShapeFields = {
  ...linkBase,
  lineItems: { lineItems: { items: [lineItem] }, amount: integer },
};

export const listedLink: ShapeFields = {
  ...linkBase,
  lineItems: { items: [lineItemBase] },
  createAt: timestamp,
  updateAt: timestamp,
};

export const linkDetail: ShapeFields = {
  ...linkBase,
  createAt: timestamp,
  updateAt: timestamp,
  lineItems: { items: [{ ...lineItemBase, productData: { ...productData, status: text } }] },
  accountName: text,
  accountAddress: address,
  settlementTokenInfo: {
    tokenId,
    contractAddress: address,
    name: text,
    symbol: text,
    decimals: integer,
    chainId: digits,
  },
};

const sessionStatus = oneOf(
  'initialized',
  'paid',
  'settling',
  'completed',
  'settlement_pending',
  'expired',
  'cancelled',
);

export const session: ShapeFields = {
  sessionId: id('sess_'),
  sessionType: text,
  businessId: text,
  businessType: text,
  clientCode: text,
  payer: text,
  payerEmail: text,
  payerEmailRequired: oneOf(0, 1),
  paidToken: text,
  receiptId: text,
  recipient: address,
  settlementToken: tokenId,
  feeModel: oneOf(1, 2),
  amount: integer,
  lineItems: { items: [lineItem] },
  expirationTime: integer,
  successUrl: text,
  paymentUrl: url,
  signedOnce: oneOf(0, 1),
  initiateTx: text,
  completeTx: text,
  paymentSucceededTime: timestampOrNull,
  settlementSucceededTime: timestampOrNull,
  createAt: timestamp,
  status: sessionStatus,
  metadata: anyObject,
};

/** A new checkout session. */
export const newSession: ShapeFields = {
  ...session,
  sessionType: oneOf('chk'),
  businessId: emptyText,
  businessType: emptyText,
  payer: emptyText,
  payerEmail: emptyText,
  paidToken: emptyText,
  signedOnce: oneOf(0),
  initiateTx: emptyText,
  completeTx: emptyText,
  paymentSucceededTime: oneOf(null),
  settlementSucceededTime: oneOf(null),
  status: oneOf('initialized'),
};

const transaction: Shape = {
  orderId: text,
  channelId: text,
  orderType: integer,
  from: address,
  to: address,
  metaData: matching('hex', /^0x[0-9a-fA-F]*$/),
  totalValue: integer,
  paymentValue: integer,
  feeValue: integer,
  netValue: integer,
  sourceTx: text,
  targetTx: text,
  executeTime: text,
  finalizeTime: text,
};

export const sessionView: ShapeFields = { session, 'transaction?': transaction };

export const webhook: ShapeFields = {
  webhookId: id('wkid_'),
  webhookName: filledText,
  webhookDescription: text,
  // A local world also takes http, and the merchant may have such a webhook.
  webhookUrl: url,
  status: oneOf('active', 'inactive', 'paused'),
  subscribedEvents: [filledText],
  key: filledText,
  createAt: timestamp,
  updateAt: timestamp,
};

export const success: ShapeFields = { success: oneOf(true) };

const agentItems: Shape = [{ quantity: integer, productData: anyObject, unitPriceInUSD: decimal }];

/** The specification allows a number or a string. */
const chainNumber = { must: 'a chain id', holds: (value: unknown) => /^\d+$/.test(String(value)) };

/** A list of `{name, type}` in this order, as in EIP-712. */
function typedData(purpose: string, name: string, fields: string): Shape {
  const members = fields.split(', ').map((field) => {
    const [member, type] = field.split(' ');
    return { name: member, type };
  });
  return {
    type: oneOf('eip712'),
    purpose: oneOf(purpose),
    domain: {
      name: matching('aipay. and the domain', /^aipay\../),
      version: oneOf('1'),
      chainId: chainNumber,
    },
    types: { [name]: { must: JSON.stringify(members), holds: (value) => sameMembers(value, members) } },
  };
}

function sameMembers(
  value: unknown,
  members: readonly { name: string | undefined; type: string | undefined }[],
): boolean {
  if (!Array.isArray(value) || value.length !== members.length) return false;
  return members.every(({ name, type }, index) => value[index].name === name && value[index].type === type);
}

const creation = typedData(
  'create_payment_session',
  'PaymentSessionCreationAuthorization',
  'purpose string, linkId string, linkVersion string, merchantId string, payer address, paymentChainId uint256, ' +
    'paymentToken address, amount uint256, authorizationNonce bytes32, authorizationExpiresAt uint256',
);

export const preparation = typedData(
  'prepare_payment',
  'PreparePaymentAuthorization',
  'purpose string, sessionId string, merchantId string, paymentChainId uint256, paymentToken address, payer address, ' +
    'payerEmail string, authorizationNonce bytes32, authorizationExpiresAt uint256',
);

export const agentLink: ShapeFields = {
  merchantId: filledText,
  linkId: filledText,
  linkVersion: filledText,
  linkName: filledText,
  lineItems: agentItems,
  aiView: {
    pricingModel: { type: filledText },
    supportedPaymentTokens: [
      {
        chainName: filledText,
        chainId: digits,
        tokenAddress: address,
        name: text,
        symbol: text,
        decimals: integer,
        amountInToken: digits,
        amountInUSD: decimal,
      },
    ],
    createPaymentSessionRequirement: { authorizationRequired: boolean, authorizationSpec: creation },
    workflow: { stage: oneOf('link_ready'), nextAction: { action: oneOf('create_payment_session') } },
  },
};

export const agentSession: ShapeFields = {
  sessionId: id('sess_'),
  sessionType: text,
  lineItems: agentItems,
  aiView: { workflow: { stage: filledText, nextAction: { action: filledText } } },
};
