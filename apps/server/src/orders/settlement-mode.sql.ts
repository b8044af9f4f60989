import { statement } from '@florin/pg';

// An order can be paid until a final block of its chain is later than its deadline.
const isPayable = `not exists (
       select from chain_cursors c
       where c.chain_id = o.chain_id and c.halted_reason = '' and extract(epoch from c.final_time) > o.pay_by)`;

// A session from before a restore of the database may have orders that the database has lost.
export const modeTerms = statement({
  name: 'settlement_mode_terms',
  parameters: {
    merchantId: 'text',
    accountId: 'text',
    sessionId: 'text',
    chainId: 'int8',
    orderType: 'int4',
    restoredAt: 'timestamptz',
  },
  columns: { settlement_mode: 'text', is_direct_elsewhere: 'bool', is_payable_elsewhere: 'bool' },
  text: `select a.settlement_mode, elsewhere.is_direct as is_direct_elsewhere,
     elsewhere.is_payable or exists (select from restorations where restored_at >= :restoredAt) as is_payable_elsewhere
   from accounts a, (
     select count(*) > 0 as is_payable, coalesce(bool_or(order_type = :orderType), false) as is_direct
     from orders o where o.session_id = :sessionId and o.chain_id <> :chainId and ${isPayable}) as elsewhere
   where a.merchant_id = :merchantId and a.account_id = :accountId`,
});

// At most one chain: a second one is refused while the first can be paid.
export const directChain = statement({
  name: 'settlement_direct_chain',
  parameters: { sessionId: 'text', orderType: 'int4' },
  columns: { chain_id: 'int8' },
  text: `select o.chain_id from orders o where o.session_id = :sessionId and o.order_type = :orderType and ${isPayable} limit 1`,
});
