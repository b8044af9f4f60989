import type { Database, Row } from '@florin/pg';
import { idBodyLength, idPrefixes } from '@florin/protocol/id.ts';
import type pg from 'pg';
import { scopeOfConnection, visibleMerchants } from './scope-check.sql.ts';

/** Thrown when policies would not protect a connection; the message names the remedy. */
export class ScopeError extends Error {
  override readonly name = 'ScopeError';
}

/** An id that no merchant has: its scope must show no rows. */
const noMerchant = idPrefixes.merchant + '0'.repeat(idBodyLength);

/**
 * Every reason why PostgreSQL would not separate merchants, a sentence each; empty without any. The schema must be
 * current.
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
  const narrowed = db.inScope(noMerchant);
  const seen = [
    ...(await narrowed.query(visibleMerchants)),
    ...(await narrowed.transaction((transaction) => transaction.query(visibleMerchants))),
  ];
  if (!isAbove && seen.some((look) => look.scope !== noMerchant || look.is_any)) {
    problems.push(
      'a connection that is narrowed to one merchant sees others: nothing between the service and the database may share a connection before its transaction ends',
    );
  }
  return problems;
}

/**
 * Throws a ScopeError for a connection that bypasses row-level security or is outside the system's scope. The
 * service's role cannot own what a superuser creates. Outside the system's scope a migration would skip rows.
 */
export async function checkConnection(client: pg.Client): Promise<void> {
  const { rows } = await client.query<Row<typeof scopeOfConnection>>(scopeOfConnection.text);
  for (const row of rows) {
    const [problem] = connectionProblems(row);
    if (problem !== undefined) throw new ScopeError(problem);
  }
}

/** Every reason why policies do not apply to a connection, or its scope is not the whole system, a sentence each. */
export function connectionProblems(connection: {
  readonly role: string;
  /** Whether the role bypasses row-level security. */
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
