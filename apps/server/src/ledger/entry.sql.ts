import { statement } from '@florin/pg';

// The key names the on-chain fact: booking it again inserts nothing and returns nothing.
export const insertEntry = statement(
  'ledger_entry_insert',
  ['text', 'text', 'text', 'int8', 'text', 'timestamptz', 'text[]', 'text[]', 'numeric[]'],
  { entry_id: 'int8' },
  `with entry as (
     insert into ledger_entries (entry_key, kind, order_id, chain_id, tx_hash, created_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (entry_key) do nothing
     returning entry_id
   ), postings as (
     insert into ledger_postings (entry_id, position, ledger_account, asset, amount)
     select entry.entry_id, line.position::int, line.ledger_account, line.asset, line.amount
     from entry, unnest($7::text[], $8::text[], $9::numeric[]) with ordinality
       as line (ledger_account, asset, amount, position)
   ), queued as (
     insert into ledger_unsealed (entry_id) select entry_id from entry
   )
   select entry_id from entry`,
);

export const balances = statement(
  'ledger_balances',
  [],
  { ledger_account: 'text', asset: 'text', balance: 'numeric' },
  `select ledger_account, asset, sum(amount) as balance from ledger_postings
   group by ledger_account, asset having sum(amount) <> 0 order by ledger_account, asset`,
);

export const assetSums = statement(
  'ledger_asset_sums',
  [],
  { asset: 'text', total: 'numeric' },
  'select asset, sum(amount) as total from ledger_postings group by asset order by asset',
);
