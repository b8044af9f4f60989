import type { SettlementContext } from './context.ts';
import { legsOfOtherChains } from './leg.sql.ts';
import { delayLeg, parseLeg, showLegNotMined } from './leg.ts';

/** Most legs that are shown in one round. */
const batchSize = 200;

/**
 * Shows that legs wait whose chain has left the configuration: no other loop looks at them. They go by themselves once the
 * chain is configured again. True when there may be more.
 */
export async function showUnconfigured(deps: SettlementContext): Promise<boolean> {
  const configured = deps.chains.all.map(({ chainId }) => chainId);
  const rows = await deps.db.query(legsOfOtherChains, { chainIds: configured, limit: batchSize });
  for (const row of rows) {
    const leg = parseLeg(row);
    const { orderId, chainId, name } = leg;
    const error = new Error('a settlement waits for a chain that is not configured');
    deps.log.error('settlement.chain_not_configured', error, { chainId, orderId, leg: name });
    await deps.db.transaction((transaction) =>
      leg.status === 'sent'
        ? showLegNotMined(transaction, deps, leg)
        : delayLeg(transaction, deps, leg, 'token_paused'),
    );
  }
  return rows.length === batchSize;
}
