/**
 * The service in parts, for what measures or attacks it: the simulation puts them together with a world of its own, the
 * benchmarks run them beside the limit. Tools of operators have `operator.ts`.
 */

export { parseSignedMessage } from '#authorizations/authorization.ts';
export { consentsOf } from '#authorizations/consent.ts';
export type { AuthorizationContext } from '#authorizations/context.ts';
export { type CreationParts, createAuthorizedSession, creationPartsOf } from '#authorizations/creation.ts';
export { type AgentMessage, type Cryptography, cryptographyOf } from '#authorizations/cryptography.ts';
export { linkTerms, quoteFor } from '#authorizations/offer.ts';
export { checkPreparation, prepareAuthorizedOrder } from '#authorizations/preparation.ts';
export { isAuthorizedBy } from '#authorizations/signature.ts';
export { createProduct } from '#catalog/product.ts';
export type { ChainConditions, FinalityPolicy } from '#chains/chain.ts';
export { permit2Address } from '#chains/shared-contract.ts';
export { parseBurnMessage } from '#contracts/cctp-message.ts';
export type { ChainEvent, ChainHandler } from '#contracts/event.ts';
export { logSourceOf } from '#contracts/log-source.ts';
export { purposes } from '#contracts/purpose.ts';
export type { TokenDomain } from '#contracts/token-signing.ts';
export { addUpLists } from '#db/list-count.ts';
export type { DepositSettings } from '#deposits/context.ts';
export { runDeposits } from '#deposits/deposit.ts';
export { recordDepositedOrders } from '#deposits/deposit-search.sql.ts';
export { newReports } from '#deposits/report.ts';
export { minReportedAmount } from '#exceptions/deposit-exception.ts';
export { exceptionHandler } from '#exceptions/exception-events.ts';
export { merchantDoor } from '#http/merchant/merchant-door.ts';
export { buildServer } from '#http/server.ts';
export { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
export { sealEntries } from '#ledger/seal.ts';
export { findLink } from '#links/link-lookup.ts';
export { type OrderWithTerms, prepareDeposit } from '#orders/deposit-terms.ts';
export { orderIdOf } from '#orders/order-signer.ts';
export { routeFrom } from '#orders/quote.ts';
export { receiverOf } from '#orders/receiver.ts';
export type { OrderSigner } from '#orders/signer.ts';
export type { StoredOrder } from '#orders/stored-order.ts';
export { type AttestationSource, AttestationUnavailable } from '#outside/attestation.ts';
export { type Egress, EgressFailure, type EgressResponse } from '#outside/egress.ts';
export { movementHandler } from '#payments/movement.ts';
export { paymentHandler } from '#payments/payment.ts';
export { reconcileChain, runReconciliation } from '#reconcile/reconcile.ts';
export { cancelRefund } from '#refunds/cancellation.ts';
export { createRefund, findRefund } from '#refunds/refund.ts';
export { refundHandler } from '#refunds/refund-events.ts';
export { openLists } from '#service/lists.ts';
export type { ProcessRole, ServiceOptions, ServiceSettings } from '#service/options.ts';
export { chainReactions, outcomesOf } from '#service/reactions.ts';
export { startService } from '#service/service.ts';
export { runExpiry } from '#service/work.ts';
export { archiveSessions } from '#sessions/archive.ts';
export { prepareOrder } from '#sessions/order-preparation.ts';
export { searchSessions } from '#sessions/search.ts';
export { indexSessions } from '#sessions/search-index.ts';
export { filteredSessionPage, selectSessionPage, sessionById } from '#sessions/session.sql.ts';
export {
  cancelSession,
  createCheckoutSession,
  expireSessions,
  findSession,
  lockSession,
} from '#sessions/session.ts';
export { runSettlement } from '#settlement/settlement.ts';
export { settlementHandler } from '#settlement/settlement-events.ts';
export type { SubmissionContext } from '#submissions/context.ts';
export { checkSubmission, recordSubmission } from '#submissions/submission.ts';
export type { Log } from '#telemetry/log.ts';
export { outboxContext, outboxWorker } from '#webhooks/outbox-context.ts';
