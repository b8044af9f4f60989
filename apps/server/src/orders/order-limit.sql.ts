import { statement } from '@florin/pg';

// The session's row is locked, so the counts hold until the transaction ends. Orders that only the service collects are
// not counted: each belongs to a counted one.
export const liveOrders = statement({
  name: 'order_limit_live',
  parameters: {
    sessionId: 'text',
    now: 'int8',
    network: 'text',
    payer: 'text',
    tokenId: 'text',
    withSecret: 'bool',
  },
  columns: {
    of_network: 'int8',
    in_all: 'int8',
    first_of_network: 'int8?',
    first_end: 'int8?',
    own_end: 'int8?',
    own_counted: 'int8',
  },
  text: `select count(*) filter (where network = :network and with_secret = :withSecret) as of_network,
     count(*) filter (where network <> '' and with_secret = :withSecret) as in_all,
     min(pay_by) filter (where network = :network and with_secret = :withSecret) as first_of_network,
     min(pay_by) filter (where network <> '' and with_secret = :withSecret) as first_end,
     max(pay_by) filter (where lower(payer) = :payer and token_id = :tokenId and signature <> '0x') as own_end,
     count(*) filter (where lower(payer) = :payer and token_id = :tokenId and signature <> '0x'
       and with_secret = :withSecret) as own_counted
   from orders where session_id = :sessionId and pay_by >= :now`,
});
