import Type from 'typebox';
import { link, linkCreateBody, linkCreated, linkDetail, linkUpdateBody } from './link.ts';
import { route } from './route.ts';
import { idText, listCursor, pageParams, replacement, strictObject, textPage } from './schema.ts';

const linkIdBody = strictObject({ linkId: idText });

/** The refusals that creating and updating a link share. */
const linkErrors = [
  'link_items_mismatch',
  'product_not_found',
  'products_missing',
  'product_not_active',
  'products_not_active',
  'account_not_found',
  'account_removed',
  'settlement_token_not_enabled',
  'currency_unsupported',
  'channel_unsupported',
  'amount_out_of_range',
  'field_invalid',
] as const;

const write = {
  method: 'POST',
  tag: 'Payment links',
  permissions: ['payment_links:write'],
  effect: 'update',
} as const;

/** Payment links of the merchant API. */
export const linkRoutes = {
  createLink: route({
    ...write,
    path: '/payment/link/create',
    summary: 'Create a payment link',
    description:
      'A fixed link sells products at the given prices; a custom link lets the payer choose the amount.',
    body: linkCreateBody,
    reply: linkCreated,
    effect: 'create',
    errors: linkErrors,
  }),
  updateLink: route({
    ...write,
    path: '/payment/link/update',
    summary: 'Replace a payment link',
    description:
      `${replacement} Line items as in create, or as a read returns them. A disabled ` +
      'link stays disabled; one that has had maxPayments payments is disabled.',
    body: linkUpdateBody,
    errors: ['link_not_found', 'link_archived', 'link_version_invalid', ...linkErrors],
  }),
  getLink: route({
    method: 'GET',
    path: '/payment/link/:linkId',
    summary: 'Read a payment link',
    description: 'With the details of the account and the settlement token. Deleted links answer 100102.',
    tag: 'Payment links',
    params: Type.Object({ linkId: idText }),
    reply: linkDetail,
    permissions: ['payment_links:read'],
    effect: 'query',
    errors: ['link_not_found', 'link_archived'],
  }),
  listLinks: route({
    method: 'GET',
    path: '/payment/link/list/:page/:size',
    summary: 'List payment links, newest first',
    description: 'Line items come without productData.',
    tag: 'Payment links',
    params: pageParams,
    query: listCursor,
    reply: textPage({ links: Type.Array(link) }),
    permissions: ['payment_links:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  disableLink: route({
    ...write,
    path: '/payment/link/disable',
    summary: 'Disable a payment link',
    description:
      'Its page shows customDisabledText, and it starts no new session; open sessions stay payable. Disabling it again changes nothing.',
    body: linkIdBody,
    errors: ['link_not_found', 'link_archived'],
  }),
  enableLink: route({
    ...write,
    path: '/payment/link/enable',
    summary: 'Enable a payment link',
    description:
      'Refused while a product of the link is archived, its account is removed, or its limit is reached. Enabling it again changes nothing.',
    body: linkIdBody,
    errors: [
      'link_not_found',
      'link_archived',
      'link_not_active',
      'product_not_active',
      'account_removed',
      'settlement_token_not_enabled',
    ],
  }),
} as const;
