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
  columns: {},
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

export const termsOfWalletOrder = statement({
  name: 'deposit_terms_of_wallet_order',
  parameters: { walletOrderId: 'text' },
  columns,
  text: `select ${columnList} from deposit_terms where wallet_order_id = :walletOrderId`,
});
