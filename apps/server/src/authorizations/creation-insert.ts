import { batched, type Database, type Queryable } from '@florin/pg';
import type { Random } from '#outside/random.ts';
import { insertValues, type NewSession } from '#sessions/session-insert.ts';
import { holdPayer, type SignedMessage, signatureHash } from './authorization.ts';
import { insertAuthorizedSessions } from './creation-insert.sql.ts';

/** A session that its payer has signed for, verified. */
export interface AuthorizedCreation {
  /** With the products that its terms were read from. */
  readonly created: NewSession;
  readonly signed: SignedMessage;
  /** What the link's row was recognized by when the terms were read. */
  readonly linkRowVersion: string;
}

/**
 * Whether a session was stored, with the claim of its nonce and its event. terms_changed: its account, link or a product
 * is another since. nonce_used: the nonce has been claimed, by the same request or another. over_quota: the payer has too
 * many open sessions. Nothing was stored then.
 */
type CreationOutcome = 'stored' | 'terms_changed' | 'nonce_used' | 'over_quota';

export type CreationInserter = (creation: AuthorizedCreation) => Promise<CreationOutcome>;

interface InsertDeps {
  readonly random: Random;
  readonly origin: string;
  readonly maxOpenSessions: number | undefined;
}

/** Sessions that gather while an insert is under way go into the next one together (lab/bench/README.md). */
const groupCommit = { maxSize: 64, maxInFlight: 1, maxWaiting: 5_000 };

/**
 * An inserter for many requests at once: they share round trips and commits. A payer for whom somebody is at work, maybe
 * waiting for a signer, keeps nobody else waiting: that request goes on alone.
 */
export function groupCreationInserter(db: Database, deps: InsertDeps): CreationInserter {
  const insert = batched(
    (creations: readonly AuthorizedCreation[]) => insertAll(db, deps, creations),
    groupCommit,
  );
  return async (creation) => {
    const outcome = await insert(creation);
    return outcome === 'payer_busy' ? insertInLine(db, deps, creation) : outcome;
  };
}

function insertInLine(
  db: Database,
  deps: InsertDeps,
  creation: AuthorizedCreation,
): Promise<CreationOutcome> {
  return db.transaction(async (transaction) => {
    await holdPayer(transaction, creation.signed);
    const [outcome] = await insertAll(transaction, deps, [creation]);
    if (outcome === undefined || outcome === 'payer_busy')
      throw new Error('a lock that is held was not taken');
    return outcome;
  });
}

async function insertAll(
  queryable: Queryable,
  deps: InsertDeps,
  creations: readonly AuthorizedCreation[],
): Promise<(CreationOutcome | 'payer_busy')[]> {
  const firstOf = new Map<string, AuthorizedCreation>();
  for (const each of creations) if (!firstOf.has(claimKeyOf(each))) firstOf.set(claimKeyOf(each), each);
  const firsts = [...firstOf.values()];
  const created = firsts.map((each) => each.created);
  const rows = await queryable.query(insertAuthorizedSessions, [
    ...insertValues(deps, created, [
      firsts.map(({ signed }) => signed.nonce),
      firsts.map(({ signed }) => signed.digest),
      firsts.map(({ signed }) => signatureHash(signed.signature)),
      firsts.map(({ linkRowVersion }) => linkRowVersion),
    ]),
    deps.maxOpenSessions ?? null,
  ]);
  const outcomes = new Map(rows.map((row) => [row.session_id, outcomeOf(row)]));
  return creations.map((each) => {
    const first = firstOf.get(claimKeyOf(each)) ?? each;
    const outcome = outcomes.get(first.created.session.sessionId) ?? 'terms_changed';
    // The same nonce twice in one batch: the first has it, and the others find it claimed.
    return outcome === 'stored' && first !== each ? 'nonce_used' : outcome;
  });
}

function claimKeyOf({ signed }: AuthorizedCreation): string {
  return `${signed.payer} ${signed.nonce}`;
}

function outcomeOf(row: { is_stored: boolean; is_busy: boolean; is_over: boolean }) {
  if (row.is_stored) return 'stored' as const;
  if (row.is_busy) return 'payer_busy' as const;
  return row.is_over ? ('over_quota' as const) : ('nonce_used' as const);
}
