import { statement } from '@florin/pg';

/** The attempts of `sent_transactions t`: how many, the latest `:attemptLimit`, and whether the newest is at the fee limit. Later ones always offer more. */
export const attemptColumns = {
  attempt_count: 'int8',
  hashes: 'text[]',
  fees: 'text[]',
  times_ms: 'int8[]',
  refusals: 'text[]',
  is_capped: 'bool',
} as const;
export const attemptColumnList = `(select count(*) from sent_attempts a where a.transaction_id = t.transaction_id) as attempt_count,
     latest.hashes, latest.fees, latest.times_ms, latest.refusals, latest.is_capped`;
export const latestAttempts = `lateral (
     select array_agg(tx_hash order by max_fee desc) as hashes,
       array_agg(max_fee::text order by max_fee desc) as fees,
       array_agg((extract(epoch from created_at) * 1000)::int8 order by max_fee desc) as times_ms,
       array_agg(refusal order by max_fee desc) as refusals,
       (array_agg(is_capped order by max_fee desc))[1] as is_capped
     from (select tx_hash, max_fee, created_at, refusal, is_capped from sent_attempts a where a.transaction_id = t.transaction_id
       order by max_fee desc limit :attemptLimit) as a) as latest on latest.hashes is not null`;

const transactionColumns = {
  transaction_id: 'int8',
  chain_id: 'int8',
  wallet: 'text',
  nonce: 'int8',
  purpose: 'text',
  status: 'text',
  mined_hash: 'text',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  ...attemptColumns,
} as const;
const transactionText = `select t.transaction_id, t.chain_id, t.wallet, t.nonce, t.purpose, t.status, t.mined_hash, t.created_at,
     t.updated_at, ${attemptColumnList}`;

/** The chains that were ever followed, and the configured ones. */
export const listedChains = statement({
  name: 'work_listed_chains',
  parameters: { chainIds: 'int8[]' },
  columns: { chain_id: 'int8' },
  text: 'select chain_id from chain_cursors union select unnest(:chainIds::int8[]) as chain_id',
});

// One walk of settlements_listed for each chain and status, none longer than what the page skips and shows.
const legsOfFilter = `unnest(:chainIds::int8[]) as c (chain_id) cross join unnest(:statuses::text[]) as s (status)
     cross join lateral (
       select * from settlements l
       where l.chain_id = c.chain_id and l.status = s.status
         and (:isHeld::bool is null or :isHeld = (l.held_at is not null and l.released_at is null))
       order by l.created_at desc, l.order_id desc, l.leg desc limit :skip::int8 + :limit::int8) as l`;
const legsOfPayment = `orders own join settlements l on l.order_id = own.order_id
     and l.chain_id = any (:chainIds) and l.status = any (:statuses)
     and (:isHeld::bool is null or :isHeld = (l.held_at is not null and l.released_at is null))
     and (own.order_id = :of or own.session_id = :of)`;

const legParameters = {
  chainIds: 'int8[]',
  statuses: 'text[]',
  isHeld: 'bool?',
  limit: 'int8',
  skip: 'int8',
} as const;
const legColumns = {
  order_id: 'text',
  leg: 'text',
  session_id: 'text',
  merchant_id: 'text',
  chain_id: 'int8',
  status: 'text',
  is_held: 'bool',
  reason: 'text',
  attempts: 'int4',
  value: 'int8',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  retry_at: 'timestamptz',
  transaction_id: 'int8?',
} as const;
const legText = (
  rows: string,
) => `select l.order_id, l.leg, l.session_id, p.merchant_id, l.chain_id, l.status,
     l.status = 'waiting' and l.held_at is not null and l.released_at is null as is_held, l.reason, l.attempts,
     case when l.leg = 'refund' then o.total_value else o.net_value end as value, l.created_at, l.updated_at, l.retry_at,
     l.transaction_id
   from (select l.* from ${rows} order by l.created_at desc, l.order_id desc, l.leg desc limit :limit offset :skip) as l
     join orders o on o.order_id = l.order_id join sessions p on p.session_id = l.session_id
   order by l.created_at desc, l.order_id desc, l.leg desc`;

export const legsPage = statement({
  name: 'work_legs_page',
  parameters: legParameters,
  columns: legColumns,
  text: legText(legsOfFilter),
});

export const legsPageOfPayment = statement({
  name: 'work_legs_page_of_payment',
  parameters: { ...legParameters, of: 'text' },
  columns: legColumns,
  text: legText(legsOfPayment),
});

// One walk of sent_transactions_listed for each chain and status, as above.
export const transactionsPage = statement({
  name: 'work_transactions_page',
  parameters: {
    chainIds: 'int8[]',
    statuses: 'text[]',
    limit: 'int8',
    skip: 'int8',
    attemptLimit: 'int8',
  },
  columns: transactionColumns,
  text: `${transactionText}
   from (select t.* from unnest(:chainIds::int8[]) as c (chain_id) cross join unnest(:statuses::text[]) as s (status)
     cross join lateral (
       select * from sent_transactions t where t.chain_id = c.chain_id and t.status = s.status
       order by t.transaction_id desc limit :skip::int8 + :limit::int8) as t
     order by t.transaction_id desc limit :limit offset :skip) as t
   join ${latestAttempts}
   order by t.transaction_id desc`,
});

export const transactionsOfHash = statement({
  name: 'work_transactions_of_hash',
  parameters: { chainIds: 'int8[]', statuses: 'text[]', txHash: 'text', attemptLimit: 'int8' },
  columns: transactionColumns,
  text: `${transactionText}
   from sent_transactions t join ${latestAttempts}
   where t.transaction_id = (select transaction_id from sent_attempts where tx_hash = :txHash)
     and t.chain_id = any (:chainIds) and t.status = any (:statuses)`,
});

export const transactionsById = statement({
  name: 'work_transactions_by_id',
  parameters: { transactionIds: 'int8[]', attemptLimit: 'int8' },
  columns: transactionColumns,
  text: `${transactionText}
   from sent_transactions t join ${latestAttempts} where t.transaction_id = any (:transactionIds)`,
});
