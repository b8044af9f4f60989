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

// Reads nothing unless an entry of another end has its key. Then it reads all entries: no index is kept for a case that takes
// a reorg below finality.
export const postingsOfEnds = statement({
  name: 'ledger_postings_of_ends',
  parameters: { orderId: 'text', chainId: 'int8', otherEnds: 'text[]' },
  columns: { entry_id: 'int8', kind: 'text', account: 'text', asset: 'text', amount: 'numeric' },
  text: `select e.entry_id, e.kind, p.ledger_account as account, p.asset, p.amount
   from ledger_entries e join ledger_postings p using (entry_id)
   where e.order_id = :orderId and e.chain_id = :chainId and e.kind in ('settlement', 'refund', 'reclaim')
     and exists (select from ledger_entries where entry_key = any (:otherEnds))
   order by e.entry_id, p.position`,
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
