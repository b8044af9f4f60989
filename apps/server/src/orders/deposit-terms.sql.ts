import { type Row, statement } from '@florin/pg';

const columns = {
  order_id: 'text',
  tolerance: 'numeric',
  most_added: 'numeric',
  late_payment: 'text',
} as const;

const columnList = Object.keys(columns).join(', ');

// The payer's first terms are kept: the same request gets the same address.
export const insertDepositTerms = statement({
  name: 'deposit_terms_insert',
  parameters: {
    orderId: 'text',
    walletOrderId: 'text',
    tolerance: 'numeric',
    mostAdded: 'numeric',
    latePayment: 'text',
    createdAt: 'timestamptz',
  },
  text: `insert into deposit_terms (order_id, wallet_order_id, tolerance, most_added, late_payment, created_at)
   values (:orderId, :walletOrderId, :tolerance, :mostAdded, :latePayment, :createdAt)`,
});

export const termsOfOrders = statement({
  name: 'deposit_terms_of_orders',
  parameters: { orderIds: 'text[]' },
  columns,
  text: `select ${columnList} from deposit_terms where order_id = any (:orderIds)`,
});
export type DepositTermsRow = Row<typeof termsOfOrders>;

// For wallets' orders, each with the order that has its deposit address: one of its own, or the same.
export const addressesOfWalletOrders = statement({
  name: 'deposit_addresses_of_wallet_orders',
  parameters: { walletOrderIds: 'text[]' },
  columns: {
    wallet_order_id: 'text',
    session_id: 'text',
    token_id: 'text',
    payer: 'text',
    pay_until: 'int8',
    receiver: 'text',
    total: 'numeric',
    pay_by: 'int8',
    tolerance: 'numeric',
    late_payment: 'text',
  },
  text: `select w.order_id as wallet_order_id, w.session_id, w.token_id, w.payer, w.pay_by as pay_until,
     coalesce(o.receiver, '') as receiver, o.total, o.pay_by, coalesce(t.tolerance, 0) as tolerance,
     coalesce(t.late_payment, 'return') as late_payment
   from orders w
     left join deposit_terms t on t.wallet_order_id = w.order_id
     join orders o on o.order_id = coalesce(t.order_id, w.order_id)
   where w.order_id = any (:walletOrderIds)`,
});

export const termsOfWalletOrder = statement({
  name: 'deposit_terms_of_wallet_order',
  parameters: { walletOrderId: 'text' },
  columns,
  text: `select ${columnList} from deposit_terms where wallet_order_id = :walletOrderId`,
});
