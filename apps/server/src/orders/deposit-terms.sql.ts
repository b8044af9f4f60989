import { type Row, statement } from '@florin/pg';

const columns = {
  order_id: 'text',
  tolerance: 'numeric',
  most_added: 'numeric',
  late_payment: 'text',
} as const;

const columnList = Object.keys(columns).join(', ');

// The terms that the payer was given first stand: the same request gets the same address.
export const insertDepositTerms = statement(
  'deposit_terms_insert',
  ['text', 'text', 'numeric', 'numeric', 'text', 'timestamptz'],
  {},
  `insert into deposit_terms (order_id, wallet_order_id, tolerance, most_added, late_payment, created_at)
   values ($1, $2, $3, $4, $5, $6)`,
);

export const termsOfOrders = statement(
  'deposit_terms_of_orders',
  ['text[]'],
  columns,
  `select ${columnList} from deposit_terms where order_id = any ($1)`,
);
export type DepositTermsRow = Row<typeof termsOfOrders>;

export const termsBesideOrder = statement(
  'deposit_terms_beside_order',
  ['text'],
  columns,
  `select ${columnList} from deposit_terms where wallet_order_id = $1`,
);
