import { statement } from '@florin/pg';

// An order can be paid until a final block of its chain is later than its deadline.
const isPayable = `not exists (
       select from chain_cursors c
       where c.chain_id = o.chain_id and c.halted_reason = '' and extract(epoch from c.final_time) > o.pay_by)`;

// A session that is older than a restore of the database may have orders that nobody here knows.
export const modeTerms = statement(
  'settlement_mode_terms',
  ['text', 'text', 'text', 'int8', 'int4', 'timestamptz'],
  { settlement_mode: 'text', is_direct_elsewhere: 'bool', is_payable_elsewhere: 'bool' },
  `select a.settlement_mode, elsewhere.is_direct as is_direct_elsewhere,
     elsewhere.is_payable or exists (select from restorations where restored_at >= $6) as is_payable_elsewhere
   from accounts a, (
     select count(*) > 0 as is_payable, coalesce(bool_or(order_type = $5), false) as is_direct
     from orders o where o.session_id = $3 and o.chain_id <> $4 and ${isPayable}) as elsewhere
   where a.merchant_id = $1 and a.account_id = $2`,
);

// Never two chains: a second one is refused while the first can be paid.
export const directChain = statement(
  'settlement_direct_chain',
  ['text', 'int4'],
  { chain_id: 'int8' },
  `select o.chain_id from orders o where o.session_id = $1 and o.order_type = $2 and ${isPayable} limit 1`,
);
