import type pg from 'pg';

/** Receives each violation. */
export type ReportViolation = (violation: string) => void;

export interface StoredSessionState {
  readonly sessionId: string;
  readonly status: string;
  readonly orderId: string;
  readonly refunds: number;
  /** In Micro-USD: the refunded amount, and the total paid. */
  readonly refunded: bigint;
  readonly total: bigint;
}

interface OrderState {
  readonly orderId: string;
  readonly sessionId: string;
  readonly orderType: number;
}

/** The contents of the database at the end of a history. */
export interface StoredHistory {
  /** Order and status of each exception. */
  readonly exceptions: ReadonlySet<string>;
  readonly sessions: readonly StoredSessionState[];
  readonly orders: readonly OrderState[];
  readonly balances: ReadonlyMap<string, bigint>;
  /** Opening balances of the books: what the contracts held before the history. */
  readonly openings: ReadonlyMap<string, bigint>;
  readonly attempts: ReadonlySet<string>;
  readonly halted: ReadonlySet<number>;
  readonly webhookEvents: readonly {
    readonly objectId: string;
    readonly sequence: number;
    readonly type: string;
  }[];
}

/** Reads what the checker compares with the chains. */
export async function readStoredHistory(client: pg.Client): Promise<StoredHistory> {
  const sessions = await client.query<StoredSessionState>(
    `select session_id as "sessionId", status, order_id as "orderId",
       (select count(*)::int from refunds r where r.session_id = s.session_id and r.status = 'completed') as refunds,
       refunded_amount as refunded,
       coalesce((select total_value from orders o where o.order_id = s.order_id), 0) as total
     from sessions s order by ordinal`,
  );
  const orders = await client.query<OrderState>(
    `select order_id as "orderId", session_id as "sessionId", order_type as "orderType" from orders`,
  );
  const balances = await client.query<{ account: string; asset: string; total: bigint }>(
    `select split_part(ledger_account, ':', 1) as account, asset, sum(amount) as total from ledger_postings
     group by 1, 2`,
  );
  const openings = await client.query<{ account: string; asset: string; total: bigint }>(
    `select split_part(ledger_account, ':', 1) as account, asset, sum(amount) as total
     from ledger_postings join ledger_entries using (entry_id) where kind = 'opening' group by 1, 2`,
  );
  const attempts = await client.query<{ hash: string }>('select tx_hash as hash from sent_attempts');
  const halted = await client.query<{ id: bigint }>(
    `select chain_id as id from chain_cursors where halted_reason <> ''`,
  );
  const webhookEvents = await client.query<{ objectId: string; sequence: bigint; type: string }>(
    `select object_id as "objectId", sequence, event_type as type from events
     where event_type like 'session.%' or event_type like 'refund.%' order by object_id, sequence`,
  );
  const exceptions = await client.query<{ said: string }>(
    `select order_id || ' ' || status as said from exceptions`,
  );
  return {
    exceptions: new Set(exceptions.rows.map(({ said }) => said)),
    sessions: sessions.rows,
    orders: orders.rows,
    balances: new Map(balances.rows.map((row) => [`${row.account} ${row.asset}`, row.total])),
    openings: new Map(openings.rows.map((row) => [`${row.account} ${row.asset}`, row.total])),
    attempts: new Set(attempts.rows.map(({ hash }) => hash)),
    halted: new Set(halted.rows.map(({ id }) => Number(id))),
    webhookEvents: webhookEvents.rows.map((row) => ({ ...row, sequence: Number(row.sequence) })),
  };
}
