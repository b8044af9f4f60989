import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import { setAccountsSuspended, setSuspended } from './suspension.sql.ts';

/**
 * Suspends a merchant or ends the suspension: meanwhile there are no new sessions, and links show as disabled. Open sessions,
 * settlement, refunds and reads go on. Refuses an unknown merchant (100808).
 */
export async function suspendMerchant(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  { merchantId, isSuspended }: { readonly merchantId: string; readonly isSuspended: boolean },
): Promise<void> {
  const suspendedAt = isSuspended ? deps.clock.now() : null;
  const rows = await transaction.query(setSuspended, { merchantId, suspendedAt });
  if (rows.length === 0) throw new Refusal('merchant_not_found', merchantId);
  await transaction.query(setAccountsSuspended, { merchantId, isSuspended });
}
