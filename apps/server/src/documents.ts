/** What generated files take from the service: its tables of moves, its limits, and the migrations of counted lists. */

export { type SentTrigger, sentMoves } from '@florin/evm';
export { imageLimits } from '#catalog/images/intake.ts';
export { type ProductTrigger, productMoves } from '#catalog/product.machine.ts';
export { settingsMarkdown, settingsSchema } from '#config/setting-documents.ts';
export { missingListMigrations } from '#db/list-migration.ts';
export { type DepositMoveTrigger, depositMoveTransitions } from '#deposits/deposit-move.machine.ts';
export { type ExceptionTrigger, exceptionMoves } from '#exceptions/exception.machine.ts';
export { bodyLimitBytes } from '#http/failure.ts';
export { freeOperations, mostInAnHour } from '#http/free-creation.ts';
export { defaultRateLimits, streamLimits } from '#http/rate-limit.ts';
export type { Rate } from '#http/token-bucket.ts';
export { type LinkTrigger, linkMoves } from '#links/link.machine.ts';
export { type AccountTrigger, accountMoves } from '#merchants/account.machine.ts';
export { type AccountChangeTrigger, accountChangeMoves } from '#merchants/account-change.machine.ts';
export { keyInTextPattern } from '#merchants/api-key.ts';
export { defaultOrderLimits, unsignedOrderSeconds } from '#orders/order-limit.ts';
export { type RefundTrigger, refundMoves } from '#refunds/refund.machine.ts';
export { type ReportTrigger, reportMoves } from '#reports/report.machine.ts';
export { type SessionTrigger, sessionMoves, sessionTriggers } from '#sessions/session.machine.ts';
export { type LegTrigger, legMoves } from '#settlement/leg.machine.ts';
export { defaultWaitingLimits } from '#x402/waiting.ts';
