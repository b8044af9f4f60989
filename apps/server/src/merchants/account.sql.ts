import { type Row, statement } from '@florin/pg';
import { sqlMove } from '@florin/protocol/machine.ts';
import { isUnchangedSince } from '#db/unchanged-since.ts';
import { accountMoves } from './account.machine.ts';

const columns = {
  account_id: 'text',
  merchant_id: 'text',
  account_name: 'text',
  account_address: 'text',
  settlement_currencies: 'text[]',
  version: 'text',
  status: 'text',
  settlement_mode: 'text',
  is_suspended: 'bool',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
} as const;

const columnList = Object.keys(columns).join(', ');

export const accountById = statement({
  name: 'account_by_id',
  parameters: { merchantId: 'text', accountId: 'text' },
  columns,
  text: `select ${columnList} from accounts where merchant_id = :merchantId and account_id = :accountId`,
});
export type AccountRow = Row<typeof accountById>;

export const accountsByIds = statement({
  name: 'accounts_by_ids',
  parameters: { merchantIds: 'text[]', accountIds: 'text[]' },
  columns,
  text: `select ${columnList} from accounts
   where (merchant_id, account_id) in (select * from unnest(:merchantIds::text[], :accountIds::text[]))`,
});

export const accountsOfMerchant = statement({
  name: 'accounts_of_merchant',
  parameters: { merchantId: 'text' },
  columns,
  text: `select ${columnList} from accounts where merchant_id = :merchantId and status = 'normal' order by ordinal desc`,
});

// Reads all accounts: for the operator's commands, which run rarely.
export const accountsAtAddresses = statement({
  name: 'accounts_at_addresses',
  parameters: { addresses: 'text[]', limit: 'int8' },
  columns,
  text: `select ${columnList} from accounts where status = 'normal' and lower(account_address) = any (:addresses)
   order by ordinal limit :limit`,
});

// Creations of one merchant's accounts wait for each other here, so that the limit holds. `for update` would also wait for
// every session that is being inserted, because its foreign key holds a key share lock on the merchant.
export const lockMerchantForAccounts = statement({
  name: 'account_lock_merchant',
  parameters: { merchantId: 'text' },
  columns: { merchant_id: 'text' },
  text: 'select merchant_id from merchants where merchant_id = :merchantId for no key update',
});

export const insertAccount = statement({
  name: 'account_insert',
  parameters: {
    accountId: 'text',
    merchantId: 'text',
    accountName: 'text',
    accountAddress: 'text',
    settlementCurrencies: 'text[]',
    version: 'text',
    settlementMode: 'text',
    createdAt: 'timestamptz',
  },
  columns,
  text: `insert into accounts (account_id, merchant_id, account_name, account_address, settlement_currencies, version,
     status, settlement_mode, is_suspended, created_at, updated_at)
   values (:accountId, :merchantId, :accountName, :accountAddress, :settlementCurrencies, :version, 'normal', :settlementMode,
     (select suspended_at is not null from merchants where merchant_id = :merchantId), :createdAt, :createdAt)
   returning ${columnList}`,
});

const remove = sqlMove(accountMoves, 'remove');

export const removeAccountRow = statement({
  name: 'account_remove',
  parameters: { merchantId: 'text', accountId: 'text', updatedAt: 'timestamptz', ifUpdateAt: 'text?' },
  columns,
  text: `update accounts set status = ${remove.to}, updated_at = :updatedAt
   where merchant_id = :merchantId and account_id = :accountId and status in (${remove.from})
     and ${isUnchangedSince('updated_at')}
   returning ${columnList}`,
});

const update = sqlMove(accountMoves, 'update');

// Null keeps what there is.
export const changeAccount = statement({
  name: 'account_change',
  parameters: {
    merchantId: 'text',
    accountId: 'text',
    accountName: 'text?',
    settlementCurrencies: 'text[]?',
    settlementMode: 'text?',
    updatedAt: 'timestamptz',
    ifUpdateAt: 'text?',
  },
  columns,
  text: `update accounts set account_name = coalesce(:accountName, account_name),
     settlement_currencies = coalesce(:settlementCurrencies, settlement_currencies),
     settlement_mode = coalesce(:settlementMode, settlement_mode), updated_at = :updatedAt
   where merchant_id = :merchantId and account_id = :accountId and status in (${update.from})
     and ${isUnchangedSince('updated_at')}
   returning ${columnList}`,
});

const changedAddress = sqlMove(accountMoves, 'change_address');

// Sessions are stored only with the version that was read, so cached addresses do not outlive this.
export const setAddress = statement({
  name: 'account_set_address',
  parameters: {
    merchantId: 'text',
    accountId: 'text',
    accountAddress: 'text',
    version: 'text',
    updatedAt: 'timestamptz',
  },
  columns,
  text: `update accounts set account_address = :accountAddress, version = :version, updated_at = :updatedAt
   where merchant_id = :merchantId and account_id = :accountId and status in (${changedAddress.from})
   returning ${columnList}`,
});
