import { type Row, statement } from '@florin/pg';

const columns = {
  account_id: 'text',
  merchant_id: 'text',
  account_name: 'text',
  account_address: 'text',
  settlement_currencies: 'text[]',
  version: 'text',
  status: 'text',
  settlement_mode: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

export const accountById = statement(
  'account_by_id',
  ['text', 'text'],
  columns,
  `select ${columnList} from accounts where merchant_id = $1 and account_id = $2`,
);
export type AccountRow = Row<typeof accountById>;

export const accountsByIds = statement(
  'accounts_by_ids',
  ['text[]', 'text[]'],
  columns,
  `select ${columnList} from accounts
   where (merchant_id, account_id) in (select * from unnest($1::text[], $2::text[]))`,
);

export const accountsOfMerchant = statement(
  'accounts_of_merchant',
  ['text'],
  columns,
  `select ${columnList} from accounts where merchant_id = $1 and status = 'normal' order by ordinal desc`,
);

// For the operator's look, now and then: reads all accounts.
export const accountsAtAddresses = statement(
  'accounts_at_addresses',
  ['text[]', 'int8'],
  columns,
  `select ${columnList} from accounts where status = 'normal' and lower(account_address) = any ($1)
   order by ordinal limit $2`,
);

// The merchant's row orders its account creations, so that the limit holds under concurrent ones. Not `for update`: that
// would also wait for every session being inserted, whose foreign key holds a key share on the merchant.
export const lockMerchantForAccounts = statement(
  'account_lock_merchant',
  ['text'],
  { merchant_id: 'text' },
  'select merchant_id from merchants where merchant_id = $1 for no key update',
);

export const insertAccount = statement(
  'account_insert',
  ['text', 'text', 'text', 'text', 'text[]', 'text', 'text', 'timestamptz'],
  columns,
  `insert into accounts (account_id, merchant_id, account_name, account_address, settlement_currencies, version,
     status, settlement_mode, created_at, updated_at)
   values ($1, $2, $3, $4, $5, $6, 'normal', $7, $8, $8)
   returning ${columnList}`,
);

export const removeAccountRow = statement(
  'account_remove',
  ['text', 'text', 'timestamptz'],
  columns,
  `update accounts set status = 'removed', updated_at = $3
   where merchant_id = $1 and account_id = $2 and status = 'normal'
   returning ${columnList}`,
);

export const setSettlementMode = statement(
  'account_set_settlement_mode',
  ['text', 'text', 'text', 'timestamptz'],
  columns,
  `update accounts set settlement_mode = $3, updated_at = $4
   where merchant_id = $1 and account_id = $2 and status = 'normal'
   returning ${columnList}`,
);
