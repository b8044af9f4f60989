import { statement } from '@florin/pg';
import { orderColumns } from './order-row.ts';

const columnList = Object.keys(orderColumns).join(', ');

// Signing the same order again inserts nothing: identical terms give an identical id. Who has only the page's URL may have
// made it first, so a proven request puts its own e-mail address and language there.
export const insertOrder = statement({
  name: 'order_insert',
  parameters: {
    orderId: 'text',
    sessionId: 'text',
    chainId: 'int8',
    tokenId: 'text',
    channelId: 'text',
    metaData: 'text',
    payer: 'text',
    payerEmail: 'text',
    withSecret: 'bool',
    isProven: 'bool',
    token: 'text',
    recipient: 'text',
    total: 'numeric',
    payment: 'numeric',
    fee: 'numeric',
    payBy: 'int8',
    reclaimAt: 'int8',
    orderType: 'int4',
    targetChain: 'int8',
    via: 'text',
    totalValue: 'int8',
    paymentValue: 'int8',
    feeValue: 'int8',
    netValue: 'int8',
    signature: 'text',
    gateway: 'text',
    payoutVault: 'text',
    createdAt: 'timestamptz',
    receiver: 'text?',
    network: 'text',
    payerLanguage: 'text',
  },
  text: `insert into orders (order_id, session_id, chain_id, token_id, channel_id, meta_data, payer, payer_email, token,
     recipient, total, payment, fee, pay_by, reclaim_at, order_type, target_chain, via, total_value, payment_value,
     fee_value, net_value, signature, gateway, payout_vault, created_at, receiver, network,
     payer_language, with_secret)
   values (:orderId, :sessionId, :chainId, :tokenId, :channelId, :metaData, :payer, :payerEmail, :token,
     :recipient, :total, :payment, :fee, :payBy, :reclaimAt, :orderType, :targetChain, :via, :totalValue,
     :paymentValue, :feeValue, :netValue, :signature, :gateway, :payoutVault, :createdAt, :receiver, :network,
     :payerLanguage, :withSecret)
   on conflict (order_id) do update
     set payer_email = :payerEmail, payer_language = :payerLanguage, with_secret = :withSecret where :isProven`,
});

export const orderById = statement({
  name: 'order_by_id',
  parameters: { orderId: 'text' },
  columns: orderColumns,
  text: `select ${columnList} from orders where order_id = :orderId`,
});

export const ordersByIds = statement({
  name: 'orders_by_ids',
  parameters: { orderIds: 'text[]' },
  columns: orderColumns,
  text: `select ${columnList} from orders where order_id = any (:orderIds)`,
});

// Orders whose deposit addresses payers may have used. A wallet's order with a deposit order of its own is not one.
export const depositOrdersOfSession = statement({
  name: 'order_deposits_of_session',
  parameters: { sessionId: 'text', limit: 'int8' },
  columns: orderColumns,
  text: `select ${columnList} from orders o
   where o.session_id = :sessionId and not exists (
     select from deposit_terms t where t.wallet_order_id = o.order_id)
   order by o.with_secret desc, o.created_at desc, o.order_id limit :limit`,
});
