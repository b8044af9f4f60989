import { onchainTable } from 'ponder';

export const payment = onchainTable('payment', (t) => ({
  id: t.text().primaryKey(),
  orderId: t.hex().notNull(),
  channelId: t.hex().notNull(),
  from: t.hex().notNull(),
  to: t.hex().notNull(),
  token: t.hex().notNull(),
  totalValue: t.bigint().notNull(),
  paymentValue: t.bigint().notNull(),
  feeValue: t.bigint().notNull(),
  orderType: t.integer().notNull(),
  metaData: t.hex().notNull(),
  txHash: t.hex().notNull(),
  blockNumber: t.bigint().notNull(),
}));
