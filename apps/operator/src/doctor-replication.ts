import type { Database, Row } from '@florin/pg';
import type { Clock } from '@florin/server/operator';
import { replicationFacts } from './doctor.sql.ts';
import { bad, type DoctorFinding, good } from './doctor-finding.ts';

type Facts = Row<typeof replicationFacts>;

/** The server behind the database: its version and timeline, its standbys, and its archive of WAL. */
export async function examineReplication(db: Database, clock: Clock): Promise<DoctorFinding[]> {
  const [facts] = await db.query(replicationFacts);
  if (facts === undefined) return [bad('database server', 'does not say what it is')];
  return replicationFindings(facts, clock.now());
}

/** What the facts mean. A missing standby or archive is the operator's choice, so it is said and is no mistake. */
export function replicationFindings(facts: Facts, now: Date): DoctorFinding[] {
  const server = 'database server';
  if (facts.is_standby)
    return [bad(server, 'is a standby, which cannot be written to: name the primary in the database URL')];
  return [
    good(server, `PostgreSQL ${facts.version}, timeline ${Number.parseInt(facts.timeline, 16)}`),
    standbyFinding(facts),
    archiveFinding(facts, now),
  ];
}

function standbyFinding({ standbys, synchronous }: Facts): DoctorFinding {
  const what = 'standby';
  if (synchronous !== '' && standbys === 0n)
    return bad(what, `none is connected, and commits wait for ${synchronous}: start it`);
  if (standbys === 0n)
    return good(
      what,
      'there is none: what came after the last backup is lost with the machine of the database',
    );
  if (synchronous === '')
    return good(what, `${standbys} connected, none synchronous: a failover may lose the last commits`);
  return good(what, `${standbys} connected, commits wait for ${synchronous}`);
}

function archiveFinding(facts: Facts, now: Date): DoctorFinding {
  const what = 'WAL archive';
  if (facts.archive_mode === 'off')
    return good(what, 'is off: the database can only be restored to a backup');
  const { archived_at: archivedAt, archive_failed_at: failedAt } = facts;
  const age = (at: Date) => `${Math.max(0, Math.round((now.getTime() - at.getTime()) / 60_000))} minutes ago`;
  if (failedAt != null && (archivedAt == null || failedAt > archivedAt))
    return bad(what, `last failed ${age(failedAt)}: look at the server's log`);
  return good(what, archivedAt == null ? 'is on, and has nothing yet' : `last written ${age(archivedAt)}`);
}
