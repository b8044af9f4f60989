import type { Chain } from '#chains/chain.ts';
import { backfillChain } from '#chains/watcher/cursor.ts';
import type { SettlementContext } from './context.ts';
import { putOffUntold, untoldLegs } from './leg.sql.ts';
import { type LegName, rereadDelayMs } from './leg.ts';

/** After so long with some ten tries, what the nodes do not tell is for people: it stands in the log. */
const giveUpAfterMs = 24 * 3_600_000;
const neverMs = 100 * 365 * 24 * 3_600_000;

/**
 * Has the watcher read those final blocks once more in which a transaction of ours has succeeded, but not what it did for
 * some leg: the node left that log out, in a way that nothing could check. Asked for ever less often, for a day.
 */
export async function rereadUntold(
  deps: SettlementContext,
  { chainId }: Chain,
  name: LegName,
): Promise<void> {
  const now = deps.clock.now();
  const rows = await deps.db.query(untoldLegs, { chainId, leg: name, now, limit: deps.settings.batchSize });
  const from = rows[0]?.mined_block ?? undefined;
  if (from === undefined) return;
  deps.log.error(
    'settlement.untold',
    new Error('a transaction has succeeded, and no block that was read tells of it'),
    { chainId, leg: name, legs: rows.length, block: from.toString() },
  );
  await backfillChain(deps.db, deps.clock, { chainId, from });
  const nextAt = rows.map((row) => {
    const isOver = now.getTime() - row.outcome_at.getTime() > giveUpAfterMs;
    return new Date(now.getTime() + (isOver ? neverMs : rereadDelayMs(row.attempts)));
  });
  await deps.db.query(putOffUntold, {
    orderIds: rows.map((row) => row.order_id),
    leg: name,
    retryAts: nextAt,
    updatedAt: now,
  });
}
