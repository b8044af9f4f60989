import { batched, type Database, type Queryable } from '@florin/pg';
import { insertValues, type NewSession } from '#sessions/session-insert.ts';
import { lockPayer, type SignedMessage, signatureHash } from './authorization.ts';
import type { AuthorizationContext } from './context.ts';
import { insertAuthorizedSessions } from './creation-insert.sql.ts';

/** A session that its payer signed for, verified. */
export interface AuthorizedCreation {
  /** With the products that its terms came from. */
  readonly created: NewSession;
  readonly signed: SignedMessage;
  /** The version of the link's row when the terms were read. */
  readonly linkRowVersion: string;
}

/**
 * Whether a session was stored, with the claim of its nonce and its event. terms_changed: its account, link or a
 * product changed since. nonce_used: this or another request has claimed the nonce. over_quota: the payer has too many
 * open sessions. Only `stored` writes anything.
 */
type CreationOutcome = 'stored' | 'terms_changed' | 'nonce_used' | 'over_quota';

export type CreationInserter = (creation: AuthorizedCreation) => Promise<CreationOutcome>;

type InsertContext = Pick<AuthorizationContext, 'random' | 'origin' | 'maxOpenSessions'>;

/** Sessions that arrive while an insert is under way share the next insert (lab/bench/README.md). */
const groupCommit = { maxSize: 64, maxInFlight: 1, maxWaiting: 5_000 };

/**
 * An inserter for many concurrent requests, which share round trips and commits. A request for a payer whose lock is
 * held runs alone, so that it delays no other request.
 */
export function groupCreationInserter(db: Database, deps: InsertContext): CreationInserter {
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
  deps: InsertContext,
  creation: AuthorizedCreation,
): Promise<CreationOutcome> {
  return db.transaction(async (transaction) => {
    await lockPayer(transaction, creation.signed);
    const [outcome] = await insertAll(transaction, deps, [creation]);
    if (outcome === undefined || outcome === 'payer_busy') throw new Error('a held lock was not acquired');
    return outcome;
  });
}

async function insertAll(
  queryable: Queryable,
  deps: InsertContext,
  creations: readonly AuthorizedCreation[],
): Promise<(CreationOutcome | 'payer_busy')[]> {
  const firstOf = new Map<string, AuthorizedCreation>();
  for (const each of creations) if (!firstOf.has(claimKeyOf(each))) firstOf.set(claimKeyOf(each), each);
  const firsts = [...firstOf.values()];
  const created = firsts.map((each) => each.created);
  const rows = await queryable.query(insertAuthorizedSessions, {
    ...insertValues(deps, created),
    claim_nonce: firsts.map(({ signed }) => signed.nonce),
    claim_digest: firsts.map(({ signed }) => signed.digest),
    claim_signature_hash: firsts.map(({ signed }) => signatureHash(signed.signature)),
    link_row_version: firsts.map(({ linkRowVersion }) => linkRowVersion),
    maxOpenSessions: deps.maxOpenSessions ?? null,
  });
  const outcomes = new Map(rows.map((row) => [row.session_id, outcomeOf(row)]));
  return creations.map((each) => {
    const first = firstOf.get(claimKeyOf(each)) ?? each;
    const outcome = outcomes.get(first.created.session.sessionId) ?? 'terms_changed';
    // The same nonce twice in one batch: the first request gets it, the others find it claimed.
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
