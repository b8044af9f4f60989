import { statement } from '@florin/pg';

// The key names the on-chain fact. Booking it again inserts nothing and returns no row.
export const insertEntry = statement({
  name: 'ledger_entry_insert',
  parameters: {
    entryKey: 'text',
    kind: 'text',
    orderId: 'text',
    chainId: 'int8',
    txHash: 'text',
    createdAt: 'timestamptz',
    ledgerAccounts: 'text[]',
    assets: 'text[]',
    amounts: 'numeric[]',
  },
  columns: { entry_id: 'int8' },
  text: `with entry as (
     insert into ledger_entries (entry_key, kind, order_id, chain_id, tx_hash, created_at)
     values (:entryKey, :kind, :orderId, :chainId, :txHash, :createdAt)
     on conflict (entry_key) do nothing
     returning entry_id
   ), postings as (
     insert into ledger_postings (entry_id, position, ledger_account, asset, amount)
     select entry.entry_id, line.position::int, line.ledger_account, line.asset, line.amount
     from entry, unnest(:ledgerAccounts::text[], :assets::text[], :amounts::numeric[]) with ordinality
       as line (ledger_account, asset, amount, position)
   ), queued as (
     insert into ledger_unsealed (entry_id) select entry_id from entry
   )
   select entry_id from entry`,
});

export const balances = statement({
  name: 'ledger_balances',
  columns: { ledger_account: 'text', asset: 'text', balance: 'numeric' },
  text: `select ledger_account, asset, sum(amount) as balance from ledger_postings
   group by ledger_account, asset having sum(amount) <> 0 order by ledger_account, asset`,
});

export const assetSums = statement({
  name: 'ledger_asset_sums',
  columns: { asset: 'text', total: 'numeric' },
  text: 'select asset, sum(amount) as total from ledger_postings group by asset order by asset',
});
