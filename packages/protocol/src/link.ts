import Type, { type Static } from 'typebox';
import { exceptionPolicy } from './exception-policy.ts';
import { itemType, lineItem, lineItems, quantity } from './line-item.ts';
import {
  feeModel,
  flag,
  httpsUrl,
  idText,
  ignored,
  nameText,
  strictObject,
  text,
  timestampText,
  unchangedSince,
} from './schema.ts';
import { returnBody, returnView } from './shop-return.ts';

export const linkType = Type.Union([Type.Literal('fixed'), Type.Literal('custom')]);

export const linkDisabledReason = Type.Union(
  [
    Type.Literal('merchant'),
    Type.Literal('product_archived'),
    Type.Literal('account_removed'),
    Type.Literal('limit_reached'),
    Type.Literal('ended'),
    Type.Literal('merchant_suspended'),
    Type.Literal('line_items_too_large'),
  ],
  { description: 'Why the link is disabled; absent while it is active' },
);
export type LinkDisabledReason = Static<typeof linkDisabledReason>;

const linkBase = {
  linkId: Type.String({ description: 'Prefix `lnk_`' }),
  linkType,
  linkName: Type.String({ description: 'At most 100 characters' }),
  accountId: Type.String({ description: 'Collection account' }),
  settlementToken: Type.String({ description: 'Token id: `<chain>::<token>`' }),
  feeModel: Type.Integer({ description: '1: the merchant pays the fee; 2: the payer pays the fee' }),
  amount: Type.Integer({ description: 'Micro-USD: the sum of the line items; 0 for custom links' }),
  payerEmailRequired: flag,
  successUrl: Type.String({
    description:
      'Where the payer is sent after payment; `{SESSION_ID}` is replaced, and `florin_status` added. Never proof of payment',
  }),
  ...returnView,
  customSuccessText: Type.String({ description: 'Shown after payment' }),
  customDisabledText: Type.String({ description: 'Shown while the link is disabled' }),
  linkUrl: Type.String({ description: 'Hosted page of the link' }),
  status: Type.Union([Type.Literal('active'), Type.Literal('disabled')]),
  versionCode: Type.String({
    description: 'Hash of everything that a payer agrees to; each real change gives a new one',
  }),
  exceptionPolicy: Type.Optional(
    Type.Object(exceptionPolicy.properties, {
      description: 'The link’s policy for short or late deposits; absent when it has none',
    }),
  ),
  maxPayments: Type.Optional(
    Type.Integer({
      description: 'The link is disabled at so many final payments; absent without this limit',
    }),
  ),
  paymentCount: Type.Optional(
    Type.Integer({ description: 'Final payments of the link so far; present with maxPayments' }),
  ),
  activeUntil: Type.Optional(
    Type.Integer({ description: 'Unix seconds: the link is disabled from then on; absent without an end' }),
  ),
  disabledReason: Type.Optional(linkDisabledReason),
  createAt: timestampText,
  updateAt: timestampText,
};

/** A payment link as lists return it. */
export const link = Type.Object({ ...linkBase, lineItems });
export type Link = Static<typeof link>;

/** The create reply nests the items as in the specification's example, and also as in its field list. */
export const linkCreated = Type.Object({
  ...linkBase,
  lineItems: Type.Object({
    items: Type.Array(lineItem),
    lineItems,
    amount: Type.Integer({ description: 'Micro-USD: the sum of the line items' }),
  }),
});
export type LinkCreated = Static<typeof linkCreated>;

export const settlementTokenInfo = Type.Object({
  tokenId: Type.String(),
  contractAddress: Type.String(),
  name: Type.String(),
  symbol: Type.String(),
  decimals: Type.Integer(),
  chainId: Type.String(),
});

/** A payment link as GET /payment/link/:linkId returns it. */
export const linkDetail = Type.Object({
  ...linkBase,
  lineItems,
  accountName: Type.String(),
  accountAddress: Type.String(),
  settlementTokenInfo,
});
export type LinkDetail = Static<typeof linkDetail>;

/** Payments that the limit of a link may allow. */
const maxPaymentsOfLink = 1_000_000;

/** Line items of one link. */
const maxLinkItems = 20;

export const linkItemBody = strictObject({
  itemType: Type.Union([...itemType.anyOf], {
    description:
      'product in a fixed link, user_priced in a custom link; anything else is refused with 100105',
  }),
  productId: Type.Optional(text({ max: 64 })),
  quantity: Type.Optional(quantity),
  unitPrice: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 10_000_000_000_000,
      description: 'Micro-USD. A product item needs it; a user_priced item leaves it out or has 0',
    }),
  ),
});

export const linkFields = {
  linkType,
  linkName: nameText({ max: 100 }),
  accountId: idText,
  settlementToken: text({ min: 1, max: 64, description: 'Token id: `<chain>::<token>`' }),
  feeModel,
  lineItems: Type.Array(linkItemBody, { minItems: 1, maxItems: maxLinkItems }),
  payerEmailRequired: Type.Optional(flag),
  successUrl: Type.Optional(Type.Union([Type.Literal(''), httpsUrl(1000)])),
  ...returnBody,
  customSuccessText: Type.Optional(text({ max: 500 })),
  customDisabledText: Type.Optional(text({ max: 500 })),
  exceptionPolicy: Type.Optional(exceptionPolicy),
  maxPayments: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPaymentsOfLink,
      description:
        'Final payments after which the link is disabled (`limit_reached`). Open sessions stay payable, so there can be more',
    }),
  ),
  activeUntil: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 9_999_999_999,
      description:
        'Unix seconds: the link is disabled from then on (`ended`), open sessions stay payable. In the future, or as it is',
    }),
  ),
} as const;

export const linkCreateBody = strictObject(linkFields);
export type LinkCreateBody = Static<typeof linkCreateBody>;

const linkItemUpdateBody = strictObject({
  ...linkItemBody.properties,
  ...ignored('lineItemId', 'productData'),
});
const linkItemsUpdateBody = Type.Array(linkItemUpdateBody, { minItems: 1, maxItems: maxLinkItems });

/** POST /payment/link/update: full replacement. `lineItems` as in create, or as a read returns it. */
export const linkUpdateBody = strictObject({
  linkId: idText,
  ...linkFields,
  lineItems: Type.Union([linkItemsUpdateBody, strictObject({ items: linkItemsUpdateBody })]),
  ifUpdateAt: unchangedSince('link', 100104),
  ...ignored(
    'amount',
    'linkUrl',
    'status',
    'versionCode',
    'createAt',
    'updateAt',
    'accountName',
    'accountAddress',
    'settlementTokenInfo',
    'paymentCount',
    'disabledReason',
  ),
});
