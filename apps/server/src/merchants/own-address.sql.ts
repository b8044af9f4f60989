import { statement } from '@florin/pg';

export const orderAtReceiver = statement({
  name: 'own_address_order',
  parameters: { chainIds: 'int8[]', receiver: 'text' },
  columns: { order_id: 'text' },
  text: 'select order_id from orders where chain_id = any (:chainIds) and receiver = :receiver limit 1',
});
