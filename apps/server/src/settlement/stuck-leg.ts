import { backfillChain } from '@florin/evm';
import type { Chain } from '#chains/chain.ts';
import type { SettlementContext } from './context.ts';
import { legsNotMined, legsOfOtherChains, postponeUnreported, unreportedLegs } from './leg.sql.ts';
import { delayLeg, type LegName, parseLeg, showLegNotMined } from './leg.ts';
import { rereadDelayMs } from './retry.ts';

/** A transaction that nodes refuse for so long is shown: the sender has raised its fee by then, where it may. */
const refusedForMs = 30_000;

/** Shows the sessions of legs whose transaction is in no block for too long, or is refused by the nodes. */
export async function showNotMined(deps: SettlementContext, chain: Chain, name: LegName): Promise<void> {
  const { db, clock, settings } = deps;
  const now = clock.now().getTime();
  const rows = await db.query(legsNotMined, {
    chainId: chain.chainId,
    leg: name,
    createdBefore: new Date(now - settings.notMinedAfterSeconds * 1_000),
    refusedBefore: new Date(now - refusedForMs),
    limit: settings.batchSize,
    wallets: deps.sender.wallets.map((wallet) => wallet.toLowerCase()),
  });
  for (const row of rows) {
    const leg = parseLeg(row);
    await db.transaction((transaction) =>
      row.is_followed === true
        ? showLegNotMined(transaction, deps, leg)
        : // The settler's key has changed since. The new settler sends the leg again: an order id is paid once.
          delayLeg(transaction, deps, leg, 'not_mined'),
    );
  }
}

/** After a day with some ten attempts, only a person can help; the log says so. */
const giveUpAfterMs = 24 * 3_600_000;
const neverMs = 100 * 365 * 24 * 3_600_000;

/**
 * Reads final blocks again in which our transaction has succeeded but the event of some leg is missing. The node left
 * that log out, and no proof could show it. Repeats with growing delays, for a day.
 */
export async function rereadUnreported(
  { db, clock, log, settings }: SettlementContext,
  { chainId }: Chain,
  name: LegName,
): Promise<void> {
  const now = clock.now();
  const rows = await db.query(unreportedLegs, { chainId, leg: name, now, limit: settings.batchSize });
  const from = rows[0]?.mined_block ?? undefined;
  if (from === undefined) return;
  const error = new Error('a transaction has succeeded, but the blocks that were read lack its event');
  log.error('settlement.unreported', error, {
    chainId,
    leg: name,
    legs: rows.length,
    block: from.toString(),
  });
  await backfillChain(db, clock, { chainId, from });
  const retryAts = rows.map((row) => {
    const isOver = now.getTime() - row.outcome_at.getTime() > giveUpAfterMs;
    return new Date(now.getTime() + (isOver ? neverMs : rereadDelayMs(row.attempts)));
  });
  const orderIds = rows.map((row) => row.order_id);
  await db.query(postponeUnreported, { orderIds, leg: name, retryAts, updatedAt: now });
}

/** Most legs that one round shows. */
const shownLegs = 200;

/**
 * Shows that legs wait whose chain is no longer configured; no other loop reads them. They continue by themselves once
 * the chain is configured again. True when there may be more.
 */
export async function showUnconfigured(deps: SettlementContext): Promise<boolean> {
  const chainIds = deps.chains.all.map(({ chainId }) => chainId);
  const rows = await deps.db.query(legsOfOtherChains, { chainIds, limit: shownLegs });
  for (const row of rows) {
    const leg = parseLeg(row);
    const { orderId, chainId, name } = leg;
    const error = new Error('a settlement waits for a chain that is not configured');
    deps.log.error('settlement.chain_not_configured', error, { chainId, orderId, leg: name });
    await deps.db.transaction((transaction) =>
      leg.status === 'sent'
        ? showLegNotMined(transaction, deps, leg)
        : delayLeg(transaction, deps, leg, 'token_not_served'),
    );
  }
  return rows.length === shownLegs;
}
