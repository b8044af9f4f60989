import type { Database, Row } from '@florin/pg';
import { idBodyLength, idPrefixes } from '@florin/protocol/id.ts';
import type pg from 'pg';
import { scopeOfConnection, visibleMerchants } from './scope-check.sql.ts';

/** Thrown when policies would not hold on a connection; the message says what to do. */
export class ScopeError extends Error {
  override readonly name = 'ScopeError';
}

/** The id of nobody: in its scope no row may show. */
const nobody = idPrefixes.merchant + '0'.repeat(idBodyLength);

/**
 * Everything that would keep PostgreSQL from holding merchants apart, a sentence each; empty when all is well. The schema
 * must be current.
 */
export async function findScopeProblems(db: Database): Promise<string[]> {
  const [connection] = await db.query(scopeOfConnection);
  if (connection === undefined) throw new Error('the database does not know its own role');
  const { is_above: isAbove, unprotected } = connection;
  const problems = connectionProblems(connection);
  if (unprotected.length > 0) {
    problems.push(
      `row-level security is off for ${unprotected.join(', ')}: run florin migrate, and leave policies as they are`,
    );
  }
  const narrowed = db.inScope(nobody);
  const seen = [
    ...(await narrowed.query(visibleMerchants)),
    ...(await narrowed.transaction((transaction) => transaction.query(visibleMerchants))),
  ];
  if (!isAbove && seen.some((look) => look.scope !== nobody || look.is_any)) {
    problems.push(
      'a connection that is narrowed to one merchant sees others: nothing between the service and the database may share a connection before its transaction ends',
    );
  }
  return problems;
}

/**
 * Throws a ScopeError for a connection that stands above row-level security or outside of the system's scope. What a
 * superuser makes the service's role cannot own, and outside of the system's scope a migration would skip rows.
 */
export async function checkConnection(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Row<typeof scopeOfConnection>>(scopeOfConnection.text);
  for (const row of rows) {
    const [problem] = connectionProblems(row);
    if (problem !== undefined) throw new ScopeError(problem);
  }
}

/** In what a connection is not one in which policies hold for the whole system, a sentence each. */
export function connectionProblems(connection: {
  readonly role: string;
  /** Whether the role stands above row-level security. */
  readonly is_above: boolean;
  readonly scope: string;
}): string[] {
  const problems: string[] = [];
  if (connection.is_above) {
    problems.push(
      `the database role ${connection.role} is a superuser or has BYPASSRLS, and row-level security does not bind it: connect as an ordinary role that owns the database (docs/runbook/production.md, Database)`,
    );
  }
  if (connection.scope !== '*') {
    problems.push(
      'the option florin.merchant=* did not arrive with the connection: a pooler that drops options of the start stands before the database; connect directly, or let it pass them',
    );
  }
  return problems;
}
