import { ponder } from 'ponder:registry';
import { payment } from 'ponder:schema';

ponder.on('Gateway:Paid', async ({ event, context }) => {
  const { transaction, block, args } = event;
  await context.db
    .insert(payment)
    .values({ id: event.id, ...args, txHash: transaction.hash, blockNumber: block.number });
});
