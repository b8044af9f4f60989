import type { Chain } from '#chains/chain.ts';
import { backfillChain } from '#chains/watcher/cursor.ts';
import type { SettlementDeps } from './context.ts';
import { putOffUntold, untoldLegs } from './leg.sql.ts';
import { type LegName, parseLeg, rereadDelayMs } from './leg.ts';

/**
 * Has the watcher read those final blocks once more in which a transaction of ours has succeeded, but not what it did for
 * some leg: the node left that log out, in a way that nothing could check. Asked for until the event comes, ever less often.
 */
export async function rereadUntold(deps: SettlementDeps, { chainId }: Chain, name: LegName): Promise<void> {
  const now = deps.clock.now();
  const rows = await deps.db.query(untoldLegs, [chainId, name, now, deps.settings.batchSize]);
  const from = rows[0]?.mined_block ?? undefined;
  if (from === undefined) return;
  deps.log.error(
    'settlement.untold',
    new Error('a transaction has succeeded, and no block that was read tells of it'),
    { chainId, leg: name, legs: rows.length, block: from.toString() },
  );
  await backfillChain(deps.db, deps.clock, { chainId, from });
  const legs = rows.map(parseLeg);
  const nextAt = legs.map(({ attempts }) => new Date(now.getTime() + rereadDelayMs(attempts)));
  await deps.db.query(putOffUntold, [legs.map(({ orderId }) => orderId), name, nextAt, now]);
}
