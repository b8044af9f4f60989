// Limit of a read: one named statement by primary key, all 31 columns, over a pool of 10 connections.
import pg from 'pg';
import { bareServer, keyCheck, listen, readSettings } from './limit-server.ts';
import { type NewSessionRow, type StoredState, sessionColumns, sessionOf } from './session-row.ts';

const { port, apiKey, databaseUrl } = readSettings();
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10, application_name: 'florin-limit' });
const text = `select ${sessionColumns.join(', ')} from sessions where session_id = $1`;
type Row = Omit<NewSessionRow, 'amount' | 'metadata'> & StoredState & { amount: string; metadata: string };

const server = bareServer();
server.addHook('onRequest', keyCheck(apiKey));
server.get<{ Params: { sessionId: string } }>('/session/:sessionId', async ({ params }) => {
  const { rows } = await pool.query<Row>({ name: 'session_by_id', text, values: [params.sessionId] });
  const [row] = rows;
  if (row === undefined) return { code: 100_201, message: 'session not found', data: null };
  const metadata = JSON.parse(row.metadata) as Record<string, unknown>;
  const session = sessionOf({ ...row, amount: Number(row.amount), metadata }, row);
  return { code: 0, message: 'success', data: { session } };
});
await listen(server, port);
