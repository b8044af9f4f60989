import { inOrder, type OutcomeHandler, revertOutcomes } from '@florin/evm';
import type { ChainHandler } from '#contracts/event.ts';
import { depositOutcome, movesUndone } from '#deposits/deposit-move.ts';
import { searchUndone } from '#deposits/deposit-search.ts';
import { exceptionHandler } from '#exceptions/exception-events.ts';
import { movementHandler } from '#payments/movement.ts';
import { type PaymentContext, paymentHandler } from '#payments/payment.ts';
import { agreementUndone } from '#reconcile/reconcile.ts';
import { refundHandler } from '#refunds/refund-events.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { settlementOutcome } from '#settlement/settlement.ts';
import { settlementHandler } from '#settlement/settlement-events.ts';
import { submissionOutcome, submissionsUndone } from '#submissions/submission.ts';

/** The service's reactions to blocks, in their order. */
export function chainReactions(deps: PaymentContext): ChainHandler {
  // Refunds precede the settlement, so that its moves and exceptions show the refunded amount of sessions.
  return inOrder(
    paymentHandler(deps),
    refundHandler(deps),
    settlementHandler(deps),
    movementHandler(deps),
    exceptionHandler(deps),
    rewindHandler(deps),
  );
}

/** Passes the outcomes of the service's own transactions to the rooms that requested them. */
export function outcomesOf(deps: SessionMoveContext): OutcomeHandler {
  return async (transaction, outcome) => {
    await settlementOutcome(transaction, deps, outcome);
    await submissionOutcome(transaction, deps, outcome);
    await depositOutcome(transaction, deps, outcome);
  };
}

/** When final blocks are reverted, the service's own transactions in them are pending again, and no check covers them. */
function rewindHandler({ clock }: Pick<SessionMoveContext, 'clock'>): ChainHandler {
  return {
    async onBlock() {},
    async onReorg() {},
    async onFinal() {},
    async onRewind(transaction, { chainId }, anchor) {
      const { number } = anchor;
      await agreementUndone(transaction, chainId, number);
      await searchUndone(transaction, chainId, anchor);
      const at = clock.now();
      const ids = await revertOutcomes(transaction, { chainId, above: number, at });
      if (ids.length === 0) return;
      await submissionsUndone(transaction, ids, at);
      await movesUndone(transaction, ids, at);
    },
  };
}
