import { statement } from '@florin/pg';

// The session's row is locked: what is counted stays so until the transaction ends. An order that only the service can
// collect stands beside one that is counted.
export const liveOrders = statement(
  'order_limit_live',
  ['text', 'int8', 'text', 'text', 'text'],
  { of_network: 'int8', in_all: 'int8', first_end: 'int8?', own_end: 'int8?' },
  `select count(*) filter (where network = $3) as of_network, count(*) filter (where network <> '') as in_all,
     min(pay_by) filter (where network <> '') as first_end,
     max(pay_by) filter (where lower(payer) = $4 and token_id = $5 and signature <> '0x') as own_end
   from orders where session_id = $1 and pay_by >= $2`,
);
