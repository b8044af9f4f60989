import { statement } from '@florin/pg';

// Both tables are small: an installation whose keys are its own, and whose database was never restored, has no rows.
export const unknownOrders = statement({
  name: 'foreign_use_orders',
  parameters: { since: 'timestamptz' },
  columns: { chain_id: 'int8', orders: 'int8' },
  text: `select chain_id, count(*) as orders from (
     select chain_id, order_id from unmatched_payments where block_time > :since
     union select chain_id, order_id from unknown_payouts where block_time > :since
   ) as unknown group by chain_id`,
});

// Without a restore everything counts.
export const restoredLast = statement({
  name: 'foreign_use_restored_last',
  columns: { restored_at: 'timestamptz?' },
  text: 'select max(restored_at) as restored_at from restorations',
});
