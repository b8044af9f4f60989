import type { Queryable, Transaction } from '@florin/pg';
import { systemClock } from '#outside/clock.ts';
import { listAudit, recordPersonalAct } from './audit.ts';
import type { Actor, MemberContext } from './context.ts';
import { lockCodes, lockOfCodes } from './user.sql.ts';

/**
 * Wrong codes of the second factor in a row that lock the account for the devices that its person has not used before, and for
 * how long. Each device that was used before has an allowance of the same size for itself. The right password is needed to try a
 * code, so the codes are what is left to guess: 40 an hour, each of them right with a chance of 3 in 1,000,000.
 */
export const codeLockout = { maxFailedAttempts: 10, durationSeconds: 900 } as const;

/**
 * What too many wrong codes do: they lock all devices that the person has not used before, or use up what one known device may
 * try and nothing else.
 */
type LockoutAction = 'lockSecondFactor' | 'exhaustCodesOfDevice';

/** Seconds for which new devices enter no code for this person. Undefined: they may. The library counts by the machine's time. */
export async function secondsLocked(queryable: Queryable, userId: string): Promise<number | undefined> {
  const [row] = await queryable.query(lockOfCodes, { userId });
  const leftMs = (row?.locked_until?.getTime() ?? 0) - systemClock.now().getTime();
  return leftMs > 0 ? Math.ceil(leftMs / 1_000) : undefined;
}

/** Records that too many wrong codes came, and tells the person, who may be the only one to know the password: once per lockout. */
export async function recordLockout(
  transaction: Transaction,
  deps: MemberContext,
  { actor, action }: { readonly actor: Actor; readonly action: LockoutAction },
): Promise<void> {
  const { id: userId } = actor;
  // Guesses at the same time would all find that nothing was told.
  await transaction.query(lockCodes, { userId });
  const nowSeconds = Math.floor(deps.clock.now().getTime() / 1_000);
  const told = await listAudit(transaction, {
    ...{ merchantId: undefined, personId: userId, size: 1 },
    filter: { action, from: nowSeconds - codeLockout.durationSeconds + 1 },
  });
  if (told.entries.length > 0) return;
  await recordPersonalAct(transaction, deps, { userId, actor, act: { action, subject: userId } });
}
