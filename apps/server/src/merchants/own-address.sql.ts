import { statement } from '@florin/pg';

export const orderAtReceiver = statement(
  'own_address_order',
  ['int8[]', 'text'],
  { order_id: 'text' },
  'select order_id from orders where chain_id = any ($1) and receiver = $2 limit 1',
);
