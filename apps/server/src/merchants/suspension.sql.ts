import { statement } from '@florin/pg';

// The lock makes creations of accounts wait, so no account misses the change.
export const setSuspended = statement({
  name: 'merchant_set_suspended',
  parameters: { merchantId: 'text', suspendedAt: 'timestamptz?' },
  columns: { merchant_id: 'text' },
  text: 'update merchants set suspended_at = :suspendedAt where merchant_id = :merchantId returning merchant_id',
});

export const setAccountsSuspended = statement({
  name: 'accounts_set_suspended',
  parameters: { merchantId: 'text', isSuspended: 'bool' },
  text: 'update accounts set is_suspended = :isSuspended where merchant_id = :merchantId',
});
