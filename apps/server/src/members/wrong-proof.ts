import type { Transaction } from '@florin/pg';
import { listAudit, recordAct, recordPersonalAct } from './audit.ts';
import type { Actor, MemberContext } from './context.ts';
import { lockPerson } from './recovery.sql.ts';

/** So many wrong proofs within an hour are no slips of the finger. */
const wrongProofs = { told: 5, withinSeconds: 3_600 } as const;

/**
 * Records that a person who is signed in entered a wrong password or code. From the fifth within an hour on, it stands in the
 * log of each merchant, too, and the person is told, whose session may be in other hands: once within an hour.
 */
export async function recordWrongProof(
  transaction: Transaction,
  deps: MemberContext,
  actor: Actor,
): Promise<void> {
  const { id: userId } = actor;
  // Guesses at the same time would all find that nothing was told.
  await transaction.query(lockPerson, { userId });
  const from = Math.floor(deps.clock.now().getTime() / 1_000) - wrongProofs.withinSeconds + 1;
  const recent = async (action: string, size: number) =>
    (
      await listAudit(transaction, {
        ...{ merchantId: undefined, personId: userId, size },
        filter: { action, subject: userId, from },
      })
    ).entries.length;
  const wrong = { action: 'failProof', subject: userId };
  await recordAct(transaction, deps, { merchantId: undefined, actor, act: wrong });
  if ((await recent('failProof', wrongProofs.told)) < wrongProofs.told) return;
  if ((await recent('guessProofs', 1)) > 0) return;
  const guessed = { action: 'guessProofs', subject: userId };
  await recordPersonalAct(transaction, deps, { userId, actor, act: guessed });
}
