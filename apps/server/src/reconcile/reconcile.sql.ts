import { type Row, statement } from '@florin/pg';

// One process runs each check of a chain: the one that advances its time. A process that dies afterwards skips one
// check.
export const claimCheck = statement({
  name: 'reconcile_claim',
  parameters: { chainId: 'int8', now: 'timestamptz', nextAt: 'timestamptz' },
  columns: { drift_runs: 'int4', catch_up_number: 'int8?' },
  text: `insert into chain_reconciliations as r (chain_id, next_at)
   select chain_id, :nextAt from chain_cursors where chain_id = :chainId
   on conflict (chain_id) do update set next_at = :nextAt where r.next_at <= :now
   returning drift_runs, catch_up_number`,
});

// Returns nothing when another process has checked since: a process that was suspended holds stale books.
export const lockCheck = statement({
  name: 'reconcile_look_lock',
  parameters: { chainId: 'int8', nextAt: 'timestamptz' },
  columns: { agreed_number: 'int8?', differences: 'text' },
  text: `select agreed_number, unopened_differences as differences from chain_reconciliations
   where chain_id = :chainId and next_at = :nextAt for update`,
});

// The cursor and the balances in one snapshot. The transaction that makes an event final also books it, so these are
// exactly the books at the final block.
export const booksAtFinal = statement({
  name: 'reconcile_books',
  parameters: { chainId: 'int8', ledgerAccounts: 'text[]', assets: 'text[]' },
  columns: {
    final_number: 'int8',
    final_hash: 'text',
    stopped_reason: 'text',
    ledger_account: 'text',
    asset: 'text',
    balance: 'numeric',
  },
  text: `select c.final_number, c.final_hash, c.stopped_reason, coalesce(b.ledger_account, '') as ledger_account,
     coalesce(b.asset, '') as asset, coalesce(b.balance, 0) as balance
   from chain_cursors c left join (
     select ledger_account, asset, sum(amount) as balance from ledger_postings
     where ledger_account = any (:ledgerAccounts) and asset = any (:assets) group by ledger_account, asset
   ) b on true
   where c.chain_id = :chainId`,
});

export const openBalances = statement({
  name: 'reconcile_open_balances',
  parameters: { chainId: 'int8' },
  columns: { holder: 'text', asset: 'text' },
  text: 'select holder, asset from reconciled_balances where chain_id = :chainId',
});

// The books were never compared, and the ledger has final events that were reorged and are not final again.
export const openingHeld = statement({
  name: 'reconcile_opening_held',
  parameters: { chainId: 'int8' },
  columns: { chain_id: 'int8' },
  text: `select chain_id from chain_reconciliations r where chain_id = :chainId and agreed_number is null
     and exists (
       select from dropped_events d where d.chain_id = r.chain_id and d.returned_at is null
         and d.event_name not in ('SettleSkipped', 'PayoutSkipped', 'Rescued', 'SettlementRefunded'))`,
});

export const holdOpening = statement({
  name: 'reconcile_hold_opening',
  parameters: { chainId: 'int8', differences: 'text', lookedAt: 'timestamptz', retryAt: 'timestamptz' },
  text: `update chain_reconciliations set unopened_differences = :differences, failure = '', looked_at = :lookedAt,
     next_at = least(next_at, :retryAt) where chain_id = :chainId`,
});

export const storeBalances = statement({
  name: 'reconcile_store_balances',
  parameters: {
    chainId: 'int8',
    holders: 'text[]',
    assets: 'text[]',
    tokens: 'text[]',
    ledgerAmounts: 'numeric[]',
    chainAmounts: 'numeric[]',
    blockNumber: 'int8',
    updatedAt: 'timestamptz',
  },
  text: `insert into reconciled_balances (chain_id, holder, asset, token, ledger_amount, chain_amount, block_number, updated_at)
   select :chainId, look.holder, look.asset, look.token, look.ledger_amount, look.chain_amount, :blockNumber, :updatedAt
   from unnest(:holders::text[], :assets::text[], :tokens::text[], :ledgerAmounts::numeric[], :chainAmounts::numeric[])
     as look (holder, asset, token, ledger_amount, chain_amount)
   on conflict (chain_id, holder, asset) do update set token = excluded.token, ledger_amount = excluded.ledger_amount,
     chain_amount = excluded.chain_amount, block_number = :blockNumber, updated_at = :updatedAt`,
});

export const noteAgreement = statement({
  name: 'reconcile_agree',
  parameters: { chainId: 'int8', agreedNumber: 'int8', agreedHash: 'text', agreedAt: 'timestamptz' },
  text: `update chain_reconciliations set agreed_number = :agreedNumber, agreed_hash = :agreedHash, agreed_at = :agreedAt, looked_at = :agreedAt,
     drift_runs = 0, failure = '' where chain_id = :chainId`,
});

// Blocks above the anchor are new, so none of them was part of an agreement.
export const lowerAgreement = statement({
  name: 'reconcile_lower_agreement',
  parameters: { chainId: 'int8', anchor: 'int8' },
  text: `update chain_reconciliations set unopened_differences = '',
     agreed_number = case when agreed_number > :anchor then :anchor else agreed_number end where chain_id = :chainId`,
});

export const noteDrift = statement({
  name: 'reconcile_drift',
  parameters: { chainId: 'int8', lookedAt: 'timestamptz' },
  columns: { drift_runs: 'int4', agreed_number: 'int8?' },
  text: `update chain_reconciliations set drift_runs = drift_runs + 1, failure = '', looked_at = :lookedAt
   where chain_id = :chainId returning drift_runs, agreed_number`,
});

export const noteFailure = statement({
  name: 'reconcile_fail',
  parameters: {
    chainId: 'int8',
    failure: 'text',
    lookedAt: 'timestamptz',
    retryAt: 'timestamptz',
    claimedAt: 'timestamptz',
  },
  text: `update chain_reconciliations set failure = :failure, looked_at = :lookedAt, next_at = least(next_at, :retryAt)
   where chain_id = :chainId and next_at = :claimedAt`,
});

export const noteCatchUp = statement({
  name: 'reconcile_catch_up',
  parameters: { chainId: 'int8', catchUpNumber: 'int8', retryAt: 'timestamptz' },
  text: `update chain_reconciliations set catch_up_number = :catchUpNumber, next_at = least(next_at, :retryAt)
   where chain_id = :chainId`,
});

export const stopChain = statement({
  name: 'reconcile_stop',
  parameters: { chainId: 'int8', stoppedReason: 'text' },
  columns: { chain_id: 'int8' },
  text: `update chain_cursors set stopped_reason = :stoppedReason where chain_id = :chainId and stopped_reason = '' returning chain_id`,
});

export const releaseChain = statement({
  name: 'reconcile_release',
  parameters: { chainId: 'int8' },
  columns: { reason: 'text' },
  text: `with before as (select stopped_reason from chain_cursors where chain_id = :chainId for update),
     looks as (update chain_reconciliations set drift_runs = 0, catch_up_number = null where chain_id = :chainId)
   update chain_cursors set stopped_reason = '' from before
   where chain_id = :chainId and before.stopped_reason <> '' returning before.stopped_reason as reason`,
});

// Accepting the differences counts as a comparison, even if the books never agreed. The delete reads `compared`, so that it
// locks the row of the check before the balances, as a check does: the other order can deadlock.
export const forgetBalances = statement({
  name: 'reconcile_forget_balances',
  parameters: { chainId: 'int8' },
  text: `with compared as (
     insert into chain_reconciliations as r (chain_id, next_at, agreed_number)
     select chain_id, updated_at, final_number from chain_cursors where chain_id = :chainId
     on conflict (chain_id) do update set agreed_number = coalesce(r.agreed_number, excluded.agreed_number)
     returning chain_id)
   delete from reconciled_balances b using compared where b.chain_id = compared.chain_id`,
});

export const lastChecks = statement({
  name: 'reconcile_looks',
  parameters: { chainIds: 'int8[]' },
  columns: {
    chain_id: 'int8',
    agreed_number: 'int8?',
    agreed_at: 'timestamptz?',
    looked_at: 'timestamptz?',
    stopped_reason: 'text',
    halted_reason: 'text',
  },
  text: `select c.chain_id, r.agreed_number, r.agreed_at, r.looked_at, c.stopped_reason, c.halted_reason
   from chain_cursors c left join chain_reconciliations r on r.chain_id = c.chain_id
   where c.chain_id = any (:chainIds)`,
});

export const balancesOfChains = statement({
  name: 'reconcile_balances',
  parameters: { chainIds: 'int8[]' },
  columns: {
    chain_id: 'int8',
    holder: 'text',
    asset: 'text',
    ledger_amount: 'numeric',
    chain_amount: 'numeric',
    block_number: 'int8',
  },
  text: `select chain_id, holder, asset, ledger_amount, chain_amount, block_number
   from reconciled_balances where chain_id = any (:chainIds) order by chain_id, holder, asset`,
});
export type BalanceRow = Row<typeof balancesOfChains>;
