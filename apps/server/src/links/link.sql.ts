import { type Row, statement } from '@florin/pg';
import { awaitLockOf } from '#db/advisory-lock.ts';
import { listPlace, listTotal, pageSize } from '#db/list-page.ts';

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
  custom_success_text: 'text',
  custom_disabled_text: 'text',
  exception_policy: 'jsonb?',
  status: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  account_id: 'text',
  account_name: 'text',
  account_address: 'text',
  account_version: 'text',
  account_status: 'text',
} as const;

const selectedColumns = `l.link_id, l.merchant_id, l.link_type, l.link_name, l.settlement_token, l.fee_model,
    l.amount, l.payer_email_required, l.success_url, l.custom_success_text, l.custom_disabled_text, l.exception_policy, l.status,
    l.created_at, l.updated_at, a.account_id, a.account_name, a.account_address, a.version as account_version,
    a.status as account_status`;
const joinedTables = 'links l join accounts a on a.account_id = l.account_id';
const selectLinks = `select ${selectedColumns} from ${joinedTables}`;

export const linksById = statement(
  'link_by_ids',
  ['text[]'],
  columns,
  `${selectLinks} where l.link_id = any($1)`,
);
export type LinkRow = Row<typeof linksById>;

// PostgreSQL gives a row another xmin at each change, and every change of a link, its items and its status is one of its
// row: by it a reader that remembers a link asks later whether it is still the same.
export const versionedLinkById = statement(
  'link_versioned_by_id',
  ['text'],
  { ...columns, row_version: 'text' },
  `select ${selectedColumns}, l.xmin::text as row_version from ${joinedTables} where l.link_id = $1`,
);

/** A condition: whether a link is still as it was when its row had this version. One look into the primary key. */
export function isLinkUnchanged(linkId: string, rowVersion: string): string {
  return `(select links.xmin::text from links where links.link_id = ${linkId}) = ${rowVersion}`;
}

// Newest first by order of creation; ordinal breaks ties within one second.
export const linkPage = statement(
  'link_page',
  ['text', 'int8', 'int8', 'text'],
  { ...columns, total: 'int8?', is_listed: 'bool' },
  `with ${listPlace({
    list: 'links',
    total: listTotal('links', "'*'"),
    condition: "merchant_id = $1 and status <> 'deleted'",
    skip: '$3',
    after: { idColumn: 'link_id', id: '$4' },
  })},
   shown as materialized (
     select link_id from links
     where merchant_id = $1 and status <> 'deleted' and ordinal <= (select ordinal from first_row)
     order by ordinal desc limit ${pageSize('$2')}
   )
   select page.*, place.total, page.link_id is not null as is_listed
   from place left join (
     ${selectLinks} where l.link_id in (select link_id from shown)
   ) as page on true
   left join links on links.link_id = page.link_id
   order by links.ordinal desc`,
);

const itemColumns = {
  link_id: 'text',
  line_item_id: 'text',
  item_type: 'text',
  product_id: 'text',
  quantity: 'int4',
  unit_price: 'int8',
} as const;

export const itemsOfLinks = statement(
  'link_items_of_links',
  ['text[]'],
  itemColumns,
  `select link_id, line_item_id, item_type, product_id, quantity, unit_price from link_items
   where link_id = any($1) order by link_id, position`,
);
export type LinkItemRow = Row<typeof itemsOfLinks>;

export const insertLink = statement(
  'link_insert',
  [
    'text',
    'text',
    'text',
    'text',
    'text',
    'text',
    'int4',
    'int8',
    'bool',
    'text',
    'text',
    'text',
    'jsonb',
    'timestamptz',
  ],
  {},
  `insert into links (link_id, merchant_id, link_type, link_name, account_id, settlement_token, fee_model, amount,
     payer_email_required, success_url, custom_success_text, custom_disabled_text, exception_policy, status, created_at,
     updated_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, 'active', $14, $14)`,
);

// What decides about deposits of its sessions, whatever the link's status.
export const exceptionPolicyOfLink = statement(
  'link_exception_policy',
  ['text'],
  { exception_policy: 'jsonb?' },
  'select exception_policy from links where link_id = $1',
);

export const insertLinkItems = statement(
  'link_items_insert',
  ['text', 'text[]', 'text[]', 'text[]', 'int4[]', 'int8[]'],
  {},
  `insert into link_items (link_id, line_item_id, position, item_type, product_id, quantity, unit_price)
   select $1, item.line_item_id, item.position - 1, item.item_type, item.product_id, item.quantity, item.unit_price
   from unnest($2::text[], $3::text[], $4::text[], $5::int4[], $6::int8[])
     with ordinality as item (line_item_id, item_type, product_id, quantity, unit_price, position)`,
);

// Those who change what a link sells, or enable it, take turns before they look at it: only so do they know which account
// and products to lock before the link itself. Held until the transaction ends.
export const takeLinkTurn = statement(
  'link_take_turn',
  ['text'],
  { locked: 'text' },
  `select ${awaitLockOf('link', '$1::text')}::text as locked`,
);

// Keeps the account from being removed, which disables its links, between this look and the link's commit.
export const holdAccount = statement(
  'link_hold_account',
  ['text'],
  { account_id: 'text' },
  `select account_id from accounts where account_id = $1 for share`,
);

// The row lock orders status changes of one link and the sequence of its events.
export const lockLink = statement(
  'link_lock',
  ['text', 'text'],
  { status: 'text' },
  `select status from links where merchant_id = $1 and link_id = $2 for update`,
);

// In the order of ids, so that two archived products cannot wait for each other.
export const lockActiveLinksOfProduct = statement(
  'link_lock_of_product',
  ['text', 'text'],
  { link_id: 'text' },
  `select link_id from links
   where merchant_id = $1 and status = 'active'
     and link_id in (select i.link_id from link_items i where i.product_id = $2)
   order by link_id for update`,
);

// A statement of its own, after the lock: a link that was waited for may show other products by now.
export const linksOfProduct = statement(
  'link_of_product',
  ['text[]', 'text'],
  { link_id: 'text' },
  `select distinct link_id from link_items where link_id = any ($1) and product_id = $2`,
);

// What items say as JSON, without what stands around it: 4 spaces of each attribute are PostgreSQL's own. A link that is a
// little over the limit is not found here, and one that two products take over it together.
export const linkOverLimit = statement(
  'link_over_limit',
  ['text', 'int8'],
  { link_id: 'text' },
  `select i.link_id
   from link_items i join links l on l.link_id = i.link_id and l.status <> 'deleted'
     join products p on p.product_id = i.product_id
   where i.link_id in (select link_id from link_items where product_id = $1)
   group by i.link_id
   having sum(octet_length(to_json(p.product_name)::text) + octet_length(to_json(p.description)::text)
     + octet_length(p.image_url) + octet_length(p.attributes::text) - 4 * jsonb_array_length(p.attributes)) > $2
   order by i.link_id limit 1`,
);

// In the order of ids, for the same reason.
export const lockActiveLinksOfAccount = statement(
  'link_lock_of_account',
  ['text', 'text'],
  { link_id: 'text' },
  `select link_id from links
   where merchant_id = $1 and status = 'active' and account_id = $2
   order by link_id for update`,
);

export const setLinksStatus = statement(
  'link_set_status',
  ['text[]', 'text', 'text', 'timestamptz'],
  {},
  `update links set status = $2, disabled_reason = $3, updated_at = $4 where link_id = any($1)`,
);

export const replaceLink = statement(
  'link_replace',
  [
    'text',
    'text',
    'text',
    'text',
    'text',
    'int4',
    'int8',
    'bool',
    'text',
    'text',
    'text',
    'jsonb',
    'timestamptz',
  ],
  {},
  `update links set link_type = $2, link_name = $3, account_id = $4, settlement_token = $5, fee_model = $6,
     amount = $7, payer_email_required = $8, success_url = $9, custom_success_text = $10, custom_disabled_text = $11,
     exception_policy = $12, updated_at = $13
   where link_id = $1`,
);

export const deleteLinkItems = statement(
  'link_items_delete',
  ['text'],
  {},
  'delete from link_items where link_id = $1',
);
