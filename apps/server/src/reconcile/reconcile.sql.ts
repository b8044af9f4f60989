import { type Row, statement } from '@florin/pg';

// One process runs each check of a chain: the one that advances its time. A process that dies afterwards skips one
// check.
export const claimCheck = statement(
  'reconcile_claim',
  ['int8', 'timestamptz', 'timestamptz'],
  { drift_runs: 'int4', catch_up_number: 'int8?' },
  `insert into chain_reconciliations as r (chain_id, next_at)
   select chain_id, $3 from chain_cursors where chain_id = $1
   on conflict (chain_id) do update set next_at = $3 where r.next_at <= $2
   returning drift_runs, catch_up_number`,
);

// Returns nothing when another process has checked since: a process that was suspended holds stale books.
export const lockCheck = statement(
  'reconcile_look_lock',
  ['int8', 'timestamptz'],
  { chain_id: 'int8' },
  'select chain_id from chain_reconciliations where chain_id = $1 and next_at = $2 for update',
);

// The cursor and the balances in one snapshot. The transaction that makes an event final also books it, so these are
// exactly the books at the final block.
export const booksAtFinal = statement(
  'reconcile_books',
  ['int8', 'text[]', 'text[]'],
  {
    final_number: 'int8',
    final_hash: 'text',
    stopped_reason: 'text',
    ledger_account: 'text',
    asset: 'text',
    balance: 'numeric',
  },
  `select c.final_number, c.final_hash, c.stopped_reason, coalesce(b.ledger_account, '') as ledger_account,
     coalesce(b.asset, '') as asset, coalesce(b.balance, 0) as balance
   from chain_cursors c left join (
     select ledger_account, asset, sum(amount) as balance from ledger_postings
     where ledger_account = any ($2) and asset = any ($3) group by ledger_account, asset
   ) b on true
   where c.chain_id = $1`,
);

export const openBalances = statement(
  'reconcile_open_balances',
  ['int8'],
  { holder: 'text', asset: 'text' },
  'select holder, asset from reconciled_balances where chain_id = $1',
);

// The books were never compared, and the ledger has final events that were reorged and are not final again.
export const openingHeld = statement(
  'reconcile_opening_held',
  ['int8'],
  { chain_id: 'int8' },
  `select chain_id from chain_reconciliations r where chain_id = $1 and agreed_number is null
     and exists (
       select from dropped_events d where d.chain_id = r.chain_id and d.returned_at is null
         and d.event_name not in ('SettleSkipped', 'PayoutSkipped', 'Rescued', 'SettlementRefunded'))`,
);

export const storeBalances = statement(
  'reconcile_store_balances',
  ['int8', 'text[]', 'text[]', 'numeric[]', 'numeric[]', 'int8', 'timestamptz'],
  {},
  `insert into reconciled_balances (chain_id, holder, asset, ledger_amount, chain_amount, block_number, updated_at)
   select $1, look.holder, look.asset, look.ledger_amount, look.chain_amount, $6, $7
   from unnest($2::text[], $3::text[], $4::numeric[], $5::numeric[])
     as look (holder, asset, ledger_amount, chain_amount)
   on conflict (chain_id, holder, asset) do update set ledger_amount = excluded.ledger_amount,
     chain_amount = excluded.chain_amount, block_number = $6, updated_at = $7`,
);

export const noteAgreement = statement(
  'reconcile_agree',
  ['int8', 'int8', 'text', 'timestamptz'],
  {},
  `update chain_reconciliations set agreed_number = $2, agreed_hash = $3, agreed_at = $4, looked_at = $4,
     drift_runs = 0, failure = '' where chain_id = $1`,
);

export const noteDrift = statement(
  'reconcile_drift',
  ['int8', 'timestamptz'],
  { drift_runs: 'int4', agreed_number: 'int8?' },
  `update chain_reconciliations set drift_runs = drift_runs + 1, failure = '', looked_at = $2
   where chain_id = $1 returning drift_runs, agreed_number`,
);

export const noteFailure = statement(
  'reconcile_fail',
  ['int8', 'text', 'timestamptz', 'timestamptz', 'timestamptz'],
  {},
  `update chain_reconciliations set failure = $2, looked_at = $3, next_at = least(next_at, $4)
   where chain_id = $1 and next_at = $5`,
);

export const noteCatchUp = statement(
  'reconcile_catch_up',
  ['int8', 'int8'],
  {},
  'update chain_reconciliations set catch_up_number = $2 where chain_id = $1',
);

export const stopChain = statement(
  'reconcile_stop',
  ['int8', 'text'],
  { chain_id: 'int8' },
  `update chain_cursors set stopped_reason = $2 where chain_id = $1 and stopped_reason = '' returning chain_id`,
);

export const releaseChain = statement(
  'reconcile_release',
  ['int8'],
  { reason: 'text' },
  `with before as (select stopped_reason from chain_cursors where chain_id = $1 for update),
     looks as (update chain_reconciliations set drift_runs = 0, catch_up_number = null where chain_id = $1)
   update chain_cursors set stopped_reason = '' from before
   where chain_id = $1 and before.stopped_reason <> '' returning before.stopped_reason as reason`,
);

// Accepting the differences counts as a comparison, even if the books never agreed.
export const forgetBalances = statement(
  'reconcile_forget_balances',
  ['int8'],
  {},
  `with compared as (
     insert into chain_reconciliations as r (chain_id, next_at, agreed_number)
     select chain_id, updated_at, final_number from chain_cursors where chain_id = $1
     on conflict (chain_id) do update set agreed_number = coalesce(r.agreed_number, excluded.agreed_number))
   delete from reconciled_balances where chain_id = $1`,
);

export const lastChecks = statement(
  'reconcile_looks',
  ['int8[]'],
  {
    chain_id: 'int8',
    agreed_number: 'int8?',
    agreed_at: 'timestamptz?',
    drift_runs: 'int4',
    looked_at: 'timestamptz?',
    stopped_reason: 'text',
    halted_reason: 'text',
  },
  `select r.chain_id, r.agreed_number, r.agreed_at, r.drift_runs, r.looked_at, c.stopped_reason, c.halted_reason
   from chain_reconciliations r join chain_cursors c on c.chain_id = r.chain_id where r.chain_id = any ($1)`,
);

export const balancesOfChains = statement(
  'reconcile_balances',
  ['int8[]'],
  {
    chain_id: 'int8',
    holder: 'text',
    asset: 'text',
    ledger_amount: 'numeric',
    chain_amount: 'numeric',
    block_number: 'int8',
  },
  `select chain_id, holder, asset, ledger_amount, chain_amount, block_number
   from reconciled_balances where chain_id = any ($1) order by chain_id, holder, asset`,
);
export type BalanceRow = Row<typeof balancesOfChains>;
