import { type Row, statement } from '@florin/pg';
import { turnOf } from '#db/advisory-lock.ts';
import { pageColumns, pageParameters, pageText, wholeList } from '#db/list-page.ts';

const columns = {
  link_id: 'text',
  merchant_id: 'text',
  link_type: 'text',
  link_name: 'text',
  settlement_token: 'text',
  fee_model: 'int4',
  amount: 'int8',
  payer_email_required: 'bool',
  success_url: 'text',
  cancel_url: 'text',
  auto_return: 'text',
  custom_success_text: 'text',
  custom_disabled_text: 'text',
  exception_policy: 'jsonb?',
  max_payments: 'int4?',
  payment_count: 'int8',
  active_until: 'timestamptz?',
  status: 'text',
  disabled_reason: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  account_id: 'text',
  account_name: 'text',
  account_address: 'text',
  account_version: 'text',
  account_status: 'text',
  is_suspended: 'bool',
} as const;

const selectedColumns = `l.link_id, l.merchant_id, l.link_type, l.link_name, l.settlement_token, l.fee_model,
    l.amount, l.payer_email_required, l.success_url, l.cancel_url, l.auto_return, l.custom_success_text, l.custom_disabled_text, l.exception_policy,
    l.max_payments, l.payment_count, l.active_until, l.status, l.disabled_reason, l.created_at, l.updated_at, a.account_id, a.account_name, a.account_address, a.version as account_version,
    a.status as account_status, a.is_suspended`;

export const linksById = statement({
  name: 'link_by_ids',
  parameters: { linkIds: 'text[]' },
  columns,
  text: `select ${selectedColumns} from links l join accounts a on a.account_id = l.account_id
   where l.link_id = any(:linkIds)`,
});
export type LinkRow = Row<typeof linksById>;

// PostgreSQL gives a row another xmin at each change. Changing a link's items or status also changes its row, so a reader that
// caches a link checks by xmin that the link has not changed.
export const versionedLinkById = statement({
  name: 'link_versioned_by_id',
  parameters: { linkId: 'text' },
  columns: { ...columns, row_version: 'text' },
  text: `select ${selectedColumns}, l.xmin::text as row_version
   from links l join accounts a on a.account_id = l.account_id where l.link_id = :linkId`,
});

/** The SQL condition that a link's row still has this version. It costs one lookup by primary key. */
export function isLinkUnchanged(linkId: string, rowVersion: string): string {
  return `(select links.xmin::text from links where links.link_id = ${linkId}) = ${rowVersion}`;
}

export const selectLinkPage = statement({
  name: 'link_page',
  parameters: pageParameters,
  columns: { ...columns, ...pageColumns },
  text: pageText({
    ...wholeList('links'),
    id: 'link_id',
    columns: Object.keys(columns).join(', '),
    shown: (rows) => `select l.ordinal, ${selectedColumns}
      from (${rows}) as l join accounts a on a.account_id = l.account_id`,
  }),
});

const itemColumns = {
  link_id: 'text',
  line_item_id: 'text',
  item_type: 'text',
  product_id: 'text',
  quantity: 'int4',
  unit_price: 'int8',
} as const;

export const itemsOfLinks = statement({
  name: 'link_items_of_links',
  parameters: { linkIds: 'text[]' },
  columns: itemColumns,
  text: `select link_id, line_item_id, item_type, product_id, quantity, unit_price from link_items
   where link_id = any(:linkIds) order by link_id, position`,
});
export type LinkItemRow = Row<typeof itemsOfLinks>;

/** What a merchant decides about a link. Creating and replacing it write all of it. */
const fields = {
  linkType: 'text',
  linkName: 'text',
  accountId: 'text',
  settlementToken: 'text',
  feeModel: 'int4',
  amount: 'int8',
  payerEmailRequired: 'bool',
  successUrl: 'text',
  cancelUrl: 'text',
  autoReturn: 'text',
  customSuccessText: 'text',
  customDisabledText: 'text',
  exceptionPolicy: 'jsonb?',
  maxPayments: 'int4?',
  activeUntil: 'timestamptz?',
} as const;

export const insertLink = statement({
  name: 'link_insert',
  parameters: { linkId: 'text', merchantId: 'text', ...fields, createdAt: 'timestamptz' },
  text: `insert into links (link_id, merchant_id, link_type, link_name, account_id, settlement_token, fee_model, amount,
     payer_email_required, success_url, cancel_url, auto_return, custom_success_text, custom_disabled_text, exception_policy, max_payments, active_until,
     status, created_at, updated_at)
   values (:linkId, :merchantId, :linkType, :linkName, :accountId, :settlementToken, :feeModel, :amount, :payerEmailRequired, :successUrl, :cancelUrl, :autoReturn, :customSuccessText, :customDisabledText, :exceptionPolicy, :maxPayments, :activeUntil, 'active', :createdAt, :createdAt)`,
});

// The policy for deposits applies in every status of the link.
export const exceptionPolicyOfLink = statement({
  name: 'link_exception_policy',
  parameters: { linkId: 'text' },
  columns: { exception_policy: 'jsonb?' },
  text: 'select exception_policy from links where link_id = :linkId',
});

export const insertLinkItems = statement({
  name: 'link_items_insert',
  parameters: {
    linkId: 'text',
    lineItemIds: 'text[]',
    itemTypes: 'text[]',
    productIds: 'text[]',
    quantities: 'int4[]',
    unitPrices: 'int8[]',
  },
  text: `insert into link_items (link_id, line_item_id, position, item_type, product_id, quantity, unit_price)
   select :linkId, item.line_item_id, item.position - 1, item.item_type, item.product_id, item.quantity, item.unit_price
   from unnest(:lineItemIds::text[], :itemTypes::text[], :productIds::text[], :quantities::int4[], :unitPrices::int8[])
     with ordinality as item (line_item_id, item_type, product_id, quantity, unit_price, position)`,
});

// Held until the transaction ends. Updating and enabling a link wait for each other before they read it: they must know its
// account and products, which they lock before the link itself.
export const takeLinkTurn = turnOf('link');

// Until the link commits, its account cannot be removed. Removing it would have to disable the link.
export const lockAccount = statement({
  name: 'link_lock_account',
  parameters: { accountId: 'text' },
  columns: { account_id: 'text' },
  text: `select account_id from accounts where account_id = :accountId for share`,
});

// The row lock orders the link's changes of status and its events.
export const lockLink = statement({
  name: 'link_lock',
  parameters: { merchantId: 'text', linkId: 'text' },
  columns: { status: 'text', payment_count: 'int8', max_payments: 'int4?', active_until: 'timestamptz?' },
  text: `select status, payment_count, max_payments, active_until from links
   where merchant_id = :merchantId and link_id = :linkId for update`,
});

// The order of ids prevents deadlocks between two archived products.
export const lockActiveLinksOfProduct = statement({
  name: 'link_lock_of_product',
  parameters: { merchantId: 'text', productId: 'text' },
  columns: { link_id: 'text' },
  text: `select link_id from links
   where merchant_id = :merchantId and status = 'active'
     and link_id in (select i.link_id from link_items i where i.product_id = :productId)
   order by link_id for update`,
});

// A second statement after the lock: a link may have changed its products while this transaction waited.
export const linksOfProduct = statement({
  name: 'link_of_product',
  parameters: { linkIds: 'text[]', productId: 'text' },
  columns: { link_id: 'text' },
  text: `select distinct link_id from link_items where link_id = any (:linkIds) and product_id = :productId`,
});

// Sums the JSON of products without the keys around it; PostgreSQL adds 4 spaces to each attribute. It does not find a link
// slightly above the limit, nor one that two concurrent changes take above it.
export const linkOverLimit = statement({
  name: 'link_over_limit',
  parameters: { productId: 'text', maxBytes: 'int8' },
  columns: { link_id: 'text' },
  text: `select i.link_id
   from link_items i join links l on l.link_id = i.link_id and l.status <> 'deleted'
     join products p on p.product_id = i.product_id
   where i.link_id in (select link_id from link_items where product_id = :productId)
   group by i.link_id
   having sum(octet_length(to_json(p.product_name)::text) + octet_length(to_json(p.description)::text)
     + octet_length(p.image_url) + octet_length(p.attributes::text) - 4 * jsonb_array_length(p.attributes)) > :maxBytes
   order by i.link_id limit 1`,
});

export const linkInOtherToken = statement({
  name: 'link_in_other_token',
  parameters: { accountId: 'text', settlementCurrencies: 'text[]' },
  columns: { link_id: 'text', settlement_token: 'text' },
  text: `select link_id, settlement_token from links
   where account_id = :accountId and status = 'active' and settlement_token <> all (:settlementCurrencies)
   order by link_id limit 1`,
});

// The order of ids prevents deadlocks, as above.
export const lockActiveLinksOfAccount = statement({
  name: 'link_lock_of_account',
  parameters: { merchantId: 'text', accountId: 'text' },
  columns: { link_id: 'text' },
  text: `select link_id from links
   where merchant_id = :merchantId and status = 'active' and account_id = :accountId
   order by link_id for update`,
});

// The order of ids prevents deadlocks between blocks of two chains. Two payments that become final at the same moment wait for
// each other here, and each adds to what the other has stored.
export const addLinkPayments = statement({
  name: 'link_add_payments',
  parameters: { linkIds: 'text[]' },
  columns: { link_id: 'text', merchant_id: 'text' },
  text: `with paid as (
     select link_id, count(*) as payments from unnest(:linkIds::text[]) as link_id group by link_id
   ), locked as materialized (
     select link_id from links where link_id in (select link_id from paid) order by link_id for update
   ), added as (
     update links set payment_count = links.payment_count + paid.payments
     from locked join paid using (link_id) where links.link_id = locked.link_id
     returning links.link_id, links.merchant_id, links.status, links.payment_count, links.max_payments
   )
   select link_id, merchant_id from added where status = 'active' and payment_count >= max_payments order by link_id`,
});

// Payments that a reorg below finality took back for good. A link that reached its limit stays disabled: its merchant enables it.
export const takeLinkPayments = statement({
  name: 'link_take_payments',
  parameters: { linkIds: 'text[]' },
  text: `with lost as (
     select link_id, count(*) as payments from unnest(:linkIds::text[]) as link_id group by link_id
   ), locked as materialized (
     select link_id from links where link_id in (select link_id from lost) order by link_id for update
   )
   update links set payment_count = links.payment_count - lost.payments
   from locked join lost using (link_id) where links.link_id = locked.link_id`,
});

// Another worker's links are left to it.
export const lockEndedLinks = statement({
  name: 'link_lock_ended',
  parameters: { now: 'timestamptz', limit: 'int8' },
  columns: { link_id: 'text', merchant_id: 'text' },
  text: `select link_id, merchant_id from links where status = 'active' and active_until <= :now
   order by active_until limit :limit for update skip locked`,
});

export const setLinksStatus = statement({
  name: 'link_set_status',
  parameters: { linkIds: 'text[]', status: 'text', disabledReason: 'text', updatedAt: 'timestamptz' },
  text: `update links set status = :status, disabled_reason = :disabledReason, updated_at = :updatedAt where link_id = any(:linkIds)`,
});

export const replaceLink = statement({
  name: 'link_replace',
  parameters: { linkId: 'text', ...fields, updatedAt: 'timestamptz' },
  text: `update links set link_type = :linkType, link_name = :linkName, account_id = :accountId, settlement_token = :settlementToken, fee_model = :feeModel,
     amount = :amount, payer_email_required = :payerEmailRequired, success_url = :successUrl, cancel_url = :cancelUrl, auto_return = :autoReturn, custom_success_text = :customSuccessText, custom_disabled_text = :customDisabledText,
     exception_policy = :exceptionPolicy, max_payments = :maxPayments, active_until = :activeUntil, updated_at = :updatedAt
   where link_id = :linkId`,
});

export const deleteLinkItems = statement({
  name: 'link_items_delete',
  parameters: { linkId: 'text' },
  text: 'delete from link_items where link_id = :linkId',
});
