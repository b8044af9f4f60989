import type pg from 'pg';

/** The database, or what stands before it, cannot be used. The message is one sentence that says what to change. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase';
}

/** Throws for a server that is older than `leastVersion`, a major version. */
export async function checkServerVersion(client: pg.Client, leastVersion: number): Promise<void> {
  const { rows } = await client.query<{ number: number; text: string }>(
    "select current_setting('server_version_num')::int4 as number, current_setting('server_version') as text",
  );
  const { number = 0, text = '' } = rows[0] ?? {};
  if (number >= leastVersion * 10_000) return;
  throw new UnfitDatabase(
    `the database is PostgreSQL ${text}: at least version ${leastVersion} is needed; upgrade the server`,
  );
}

/** A pooler that deals its connections in turn shows itself when one has come back; it deals few. */
const rounds = 3;

/**
 * Throws when a pooler gives one connection of the server to several clients in turn (transaction or statement pooling).
 * Session locks, LISTEN and the scope of a connection would then belong to other clients. Takes no lock.
 * @param client A connection of ours that is in no transaction.
 * @param other Another one, likewise.
 */
export async function refuseSharedConnections(client: pg.Client, other: pg.Client): Promise<void> {
  const first = await backendOf(client);
  for (let round = 0; round < rounds; round += 1) {
    await other.query('begin');
    const shared = (await backendOf(other)) === first;
    // While the other one holds a connection, a pooler would give ours another than before, or the same one.
    const isMoved = !shared && (await backendOf(client)) !== first;
    await other.query('rollback');
    if (shared || isMoved)
      throw new UnfitDatabase(
        'a pooler before the database shares its connections between clients (PgBouncer: pool_mode = transaction or statement): connect directly, or set pool_mode = session',
      );
  }
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid;
}
