/** The actions of a payer or merchant with only a node: find, reclaim, settle, and verify a receipt. */

export { findDeposits, parseDepositOrder } from './deposit.ts';
export {
  chainTime,
  findPayments,
  openPlace,
  type Payment,
  type Place,
  reclaimProblem,
  type Search,
  settleProblem,
} from './payment.ts';
export {
  checkReceipt,
  describeVerdict,
  metaDataOf,
  parsePublished,
  parseReceipt,
  type Receipt,
  type Verdict,
  verifyReceipt,
} from './receipt.ts';
export { encodeReclaim, encodeSettle, ZERO_ADDRESS } from './wire.ts';
