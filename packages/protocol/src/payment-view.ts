/** The filters of the dashboard's list of payments, as they stand in its address. */
export const paymentFilters = [
  'text',
  'status',
  'sessionType',
  'paidToken',
  'payer',
  'payerEmail',
  'txHash',
  'accountId',
  'linkId',
  'productId',
  'createdFrom',
  'createdTo',
  'paidFrom',
  'paidTo',
  'amountFrom',
  'amountTo',
  'metadata',
] as const;
export type PaymentFilter = (typeof paymentFilters)[number];

/** How many views a member keeps for one merchant. */
export const maxPaymentViews = 20;
