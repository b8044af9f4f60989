import { removeEventsBatch } from '@florin/outbox';
import { migrate, openDatabase, type Transaction, withSystemScope } from '@florin/pg';
import { schema, systemClock } from '@florin/server/operator';
import { addUpLists, archiveSessions, indexSessions, sealEntries } from '@florin/server/parts';
import pg from 'pg';
import { cpuOfChildren } from './cpu.ts';
import type { BenchEnvironment } from './environment.ts';
import type { BenchResult } from './report.ts';

const count = 10_000;
/** As the workers take them. */
const listBatch = 2_000;
const archiveBatch = 500;
const removalBatch = 500;
const removers = 4;
const merchants = 20;

/** Work that one process of an installation does at a time: what it takes, and how it is begun. */
interface SerialWork {
  readonly what: string;
  readonly unit: string;
  /** SQL that leaves `count` units of work. $1 is the count. */
  readonly prepare: readonly string[];
  /** One batch; returns whether more is left. */
  readonly step: (transaction: Transaction) => Promise<boolean>;
  /** How many do it at the same time; one when absent. */
  readonly workers?: number;
}

const insertSessions = `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code,
    account_id, account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required, success_url,
    metadata, meta_data, salt, channel_id, expiration_time, status, created_at, updated_at)
  select 'sess_' || md5('serial' || n), 'mer_' || n % ${merchants}, 'chk', '', '', md5('c' || n), 'acc_1', 'acv_1', '0x00',
    'base::usdc', 1, 10000, '[{"lineItemId":"li_0000000000000000000001","itemType":"one_time","productId":"","quantity":1,"unitPrice":10000,
      "productData":{"productName":"Tea number ' || n || '","productDescription":"","imageUrl":"","attributes":[]}}]', false, '', '{"order":"A-' || n || '"}',
    '0x', '0x', '0x', now(), 'expired', now() - interval '100 days', now() - interval '100 days'
  from generate_series(1, $1::int) as n`;

/** Five events of each object, all of them delivered, each with 2 kB. */
const insertOldEvents = (name: string) => `with merchant as (
    insert into merchants (merchant_id, merchant_name, created_at) values ('mer_${name}', 'Shop', now())
  ), webhook as (
    insert into webhooks (webhook_id, merchant_id, webhook_name, webhook_description, webhook_url, status,
      subscribed_events, sealed_key, created_at, updated_at)
    values ('wkid_${name}', 'mer_${name}', 'Shop', '', 'https://shop.example/', 'active', '{*}', '\\x00', now(), now())
  ), made as (
    select n, 'evt_${name}' || n as event_id, 'dlv_${name}' || n as delivery_id, 'sess_${name}' || n / 5 as object_id, n % 5 + 1 as sequence,
      now() - interval '100 days' as at
    from generate_series(1, $1::int) as n
  ), raised as (
    insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
    select event_id, 'mer_${name}', 'session.paid', object_id, sequence, '{"data":"' || repeat(md5(event_id), 60) || '"}', at from made
  ), delivered as (
    insert into deliveries (delivery_id, event_id, webhook_id, merchant_id, object_id, sequence, status, attempt_count, created_at)
    select delivery_id, event_id, 'wkid_${name}', 'mer_${name}', object_id, sequence, 'succeeded', 1, at from made
  )
  insert into delivery_attempts (delivery_id, attempt, attempted_at, http_status, latency_ms, error, response_body)
  select delivery_id, 1, at, 200, 5, '', 'ok' from made`;

async function removeOld(transaction: Transaction): Promise<boolean> {
  return (await removeEventsBatch(transaction, systemClock.now(), removalBatch)) > 0;
}

const works: readonly SerialWork[] = [
  {
    what: 'list counter',
    unit: 'change of a list',
    prepare: [
      `insert into list_total_changes (merchant_id, list, facet, change)
       select 'mer_' || n % ${merchants}, 'sessions', 'initialized', 1 from generate_series(1, $1::int) as n`,
    ],
    step: (transaction) => addUpLists(transaction, listBatch),
  },
  {
    what: 'ledger sealer',
    unit: 'entry',
    prepare: [
      `with entry as (
         insert into ledger_entries (entry_key, kind, order_id, chain_id, tx_hash, created_at)
         select 'payment:1:' || n, 'payment', '0x' || md5('o' || n), 1, '0x' || md5('t' || n), now()
         from generate_series(1, $1::int) as n returning entry_id
       ), queued as (
         insert into ledger_unsealed (entry_id) select entry_id from entry on conflict do nothing
       )
       insert into ledger_postings (entry_id, position, ledger_account, asset, amount)
       select entry_id, position, account, 'base::usdc', amount from entry
         cross join (values (0, 'gateway:base', 5), (1, 'payer', -5)) as posting (position, account, amount)`,
    ],
    step: async (transaction) => (await sealEntries(transaction, systemClock.now())) > 0,
  },
  {
    what: 'search index',
    unit: 'session',
    prepare: [insertSessions],
    step: (transaction) => indexSessions(transaction),
  },
  {
    what: 'archive',
    unit: 'session',
    // The sessions of the search index are there.
    prepare: [],
    step: async (transaction) => {
      const policy = { unpaidAfterDays: 90, paidAfterDays: 730 };
      return (await archiveSessions(transaction, policy, systemClock.now(), archiveBatch)) > 0;
    },
  },
  {
    what: 'removal of old events',
    unit: 'event with its delivery and attempt',
    prepare: [insertOldEvents('old')],
    step: removeOld,
  },
  {
    what: `removal of old events by ${removers} workers`,
    unit: 'event with its delivery and attempt',
    prepare: [insertOldEvents('older')],
    step: removeOld,
    workers: removers,
  },
];

/** Measures each kind of serial work alone: its rate is the most that an installation can do of it. */
export async function measureSerialWork({
  createDatabase,
  effort,
  log,
  onEnd,
}: BenchEnvironment): Promise<BenchResult> {
  const url = await createDatabase('serial');
  await migrate(url, schema);
  const db = openDatabase({ url, schema, connections: removers });
  onEnd(() => db.close());
  const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
  await client.connect();
  const rows: Record<string, string | number>[] = [];
  try {
    for (const { what, unit, prepare, step, workers = 1 } of works) {
      for (const text of prepare) await client.query(text, [count]);
      const [start, cpu, postgres] = [
        performance.now(),
        process.cpuUsage(),
        cpuOfChildren(effort.postgresPid ?? 0),
      ];
      await Promise.all(
        Array.from({ length: workers }, async () => {
          while (await db.transaction(step));
        }),
      );
      const seconds = (performance.now() - start) / 1_000;
      const { user, system } = process.cpuUsage(cpu);
      const ofPostgres = cpuOfChildren(effort.postgresPid ?? 0) - postgres;
      rows.push({
        what,
        unit,
        'a second': Math.round(count / seconds),
        'worker µs each': Math.round((user + system) / count),
        'PostgreSQL µs each': Math.round(ofPostgres / count),
      });
      log(`${what}: ${Math.round(count / seconds)} a second`);
    }
  } finally {
    await client.end();
  }
  return {
    ...{ subject: 'serial', title: 'Work that one process does at a time', effort, measured: [] },
    ...{ ratios: [], halfLoads: [], rows },
    notes: [
      `${count.toLocaleString('en')} units of each, alone, over a durable PostgreSQL, in the batches of the workers.`,
    ],
  };
}
