import type { PendingReason } from '@florin/protocol/session.ts';
import type { SettlementContext } from './context.ts';
import { delayLeg, type Leg, putOffLeg } from './leg.ts';

/** Delays legs for one reason, in one transaction. */
export async function delayAll(
  deps: SettlementContext,
  legs: readonly Leg[],
  reason: PendingReason,
): Promise<void> {
  await deps.db.transaction(async (transaction) => {
    for (const leg of legs) await delayLeg(transaction, deps, leg, reason);
  });
}

/** Puts a leg off that waits for something usual; tells the merchant once that takes longer than it should. */
export async function waitLonger(deps: SettlementContext, leg: Leg, reason: PendingReason): Promise<void> {
  const now = deps.clock.now();
  const isLate = now.getTime() - leg.createdAt.getTime() >= deps.settings.notMinedAfterSeconds * 1_000;
  await deps.db.transaction((transaction) =>
    isLate ? delayLeg(transaction, deps, leg, reason) : putOffLeg(transaction, leg, now),
  );
}
