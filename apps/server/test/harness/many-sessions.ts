import { createHash } from 'node:crypto';
import { type Database, withSystemScope } from '@florin/pg';
import type { SessionStatus } from '@florin/protocol/session.ts';
import type { SessionSearchBody } from '@florin/protocol/session-search.ts';
import pg from 'pg';
import { addUpLists } from '#db/list-count.ts';
import { schema } from '#db/schema.ts';
import { addUpHours } from '#reports/hour-sums.ts';
import { indexSessions } from '#sessions/search-index.ts';

/** Sessions of one statement, so that no transaction needs memory for all of them. */
const step = 20_000;
const addUpBatch = 2_000;

/** Seconds from the creation of one session to the next, and from there to its payment and to its settlement. */
const times = { next: 7, paid: 60, settled: 120 } as const;
const products = ['Tea', 'Coffee', 'Mug', 'Kettle', 'Honey', 'Biscuits', 'Lemon', 'Milk'] as const;
const payers = 5_000;
const emails = 20_000;
const refundEvery = 2_000;
/** Micro-USD of each refund. */
const refunded = 10_000n;

/** Sessions of one merchant, of whom nothing else is known. */
export interface ManySessions {
  readonly merchantId: string;
  readonly accountIds: readonly [string, string];
  readonly count: number;
  /** Unix seconds of the first creation. */
  readonly startedAt: number;
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');

/** What session number n, from 1, was seeded as. The statements below say the same. */
export function seeded({ merchantId, accountIds, startedAt }: ManySessions, n: number) {
  const isSettled = n % 10 < 7 && n % 1_000 !== 5;
  const isPaid = n % 10 < 7;
  const rest: SessionStatus = n % 10 === 7 ? 'expired' : n % 10 === 8 ? 'cancelled' : 'initialized';
  const amount = BigInt((n % 997) + 1) * 10_000n;
  const createdAt = startedAt + n * times.next;
  return {
    n,
    accountId: accountIds[n % 2] ?? '',
    status: isSettled ? 'completed' : isPaid ? 'paid' : rest,
    product: products[n % products.length] ?? '',
    productId: `prd_${String(n % products.length).padStart(22, '0')}`,
    order: `A-${n}`,
    amount,
    fee: amount / 500n,
    net: amount - amount / 500n,
    token: n % 3 === 0 ? 'base::usdc' : 'ethereum::usdc',
    createdAt,
    paidAt: isPaid ? createdAt + times.paid : undefined,
    settledAt: isSettled ? createdAt + times.settled : undefined,
    refunded: isSettled && n % refundEvery === 2 ? refunded : 0n,
    payerEmail: isPaid ? `payer${n % emails}@example.com` : '',
    // Hashed only where they are looked at: sums go over all sessions.
    get sessionId() {
      return `sess_${md5(merchantId + n).slice(0, 22)}`;
    },
    get payer() {
      return isPaid ? `0x${md5(`p${n % payers}`)}${md5(`p${n % payers}`).slice(0, 8)}` : '';
    },
    get txHash() {
      return isPaid ? `0x${md5(`t${merchantId}${n}`)}${md5(`u${n}`)}` : '';
    },
  } as const;
}
export type Seeded = ReturnType<typeof seeded>;

/** All of them, the newest first. */
export function* allSeeded(sessions: ManySessions): Generator<Seeded> {
  for (let n = sessions.count; n > 0; n -= 1) yield seeded(sessions, n);
}

/** Searches by each kind of word and filter, with the numbers of the sessions that they find. `strange` is another merchant's. */
export function searchesOf(
  sessions: ManySessions,
  one: Seeded,
  strange: string,
): readonly [name: string, body: SessionSearchBody, fits: (n: number) => boolean][] {
  const isPaid = (n: number) => n % 10 < 7;
  const created = (n: number) => sessions.startedAt + n * 7;
  const from = one.createdAt;
  return [
    ['metadata', { metadata: { order: one.order } }, (n) => n === one.n],
    ['an order number', { text: one.order }, (n) => String(n).startsWith(String(one.n))],
    ['its beginning', { text: String(one.n).slice(0, 3) }, (n) => `${n}`.startsWith(`${one.n}`.slice(0, 3))],
    ['an id', { text: one.sessionId }, (n) => n === one.n],
    ['a product', { text: 'kettle' }, (n) => n % 8 === 3],
    ['a product in capitals and an order number', { text: `KET ${one.n}` }, (n) => n === one.n],
    ['a word of no session', { text: 'elephant' }, () => false],
    ['a status and a word', { status: 'expired', text: 'coffee' }, (n) => n % 10 === 7 && n % 8 === 1],
    ['a product id', { productId: one.productId }, (n) => n % 8 === one.n % 8],
    [
      'a payer',
      { payer: one.payer.toUpperCase().replace('X', 'x') },
      (n) => isPaid(n) && n % 5_000 === one.n % 5_000,
    ],
    ['an e-mail', { payerEmail: one.payerEmail }, (n) => isPaid(n) && n % 20_000 === one.n % 20_000],
    [
      'words of an e-mail',
      { text: one.payerEmail },
      (n) => isPaid(n) && `${n % 20_000}`.startsWith(`${one.n % 20_000}`),
    ],
    ['a transaction', { txHash: one.txHash }, (n) => n === one.n],
    [
      'an amount',
      { amountFrom: Number(one.amount), amountTo: Number(one.amount) },
      (n) => n % 997 === one.n % 997,
    ],
    [
      'a day',
      { createdFrom: from, createdTo: from + 86_399 },
      (n) => created(n) >= from && created(n) < from + 86_400,
    ],
    [
      'an hour of payments',
      { paidFrom: from, paidTo: from + 3_599 },
      (n) => isPaid(n) && created(n) + 60 >= from && created(n) + 60 < from + 3_600,
    ],
    [
      'a wallet and a token',
      { accountId: one.accountId, paidToken: 'base::usdc' },
      (n) => isPaid(n) && n % 2 === one.n % 2 && n % 3 === 0,
    ],
    ['an account of another merchant', { accountId: strange }, () => false],
  ];
}

// Created first, then paid and settled, so that every trigger sees what it sees in production.
const createText = `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code,
    account_id, account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required,
    success_url, metadata, meta_data, salt, channel_id, expiration_time, status, created_at, updated_at)
  select 'sess_' || left(md5($3 || n), 22), $3, 'chk', '', '', md5('c' || n), ($4::text[])[1 + n % 2],
    'acv_0000000000000000000001', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    case when n % 3 = 0 then 'base::usdc' else 'ethereum::usdc' end, 1, (n % 997 + 1) * 10000,
    '[{"lineItemId":"li_0000000000000000000001","itemType":"product","productId":"prd_' ||
      lpad((n % ${products.length})::text, 22, '0') || '","quantity":1,"unitPrice":' || (n % 997 + 1) * 10000 ||
      ',"productData":{"productName":"' || ($6::text[])[1 + n % ${products.length}] ||
      '","productDescription":"","imageUrl":"","attributes":[]}}]',
    false, '', '{"order":"A-' || n || '"}', '0x' || repeat(md5('m' || n), 2), '0x' || repeat(md5('s' || n), 2),
    '0x' || repeat(md5('h' || n), 2), to_timestamp($5::bigint + n * ${times.next} + 3600),
    case n % 10 when 7 then 'expired' when 8 then 'cancelled' else 'initialized' end,
    to_timestamp($5::bigint + n * ${times.next}), to_timestamp($5::bigint + n * ${times.next})
  from generate_series($1::bigint, $2::bigint) as n`;
const isPaid = 'n % 10 < 7';
const orderId = `'0x' || md5('o' || $3 || n) || md5('q' || n)`;
const orderText = `insert into orders (order_id, session_id, chain_id, token_id, channel_id, meta_data, payer, payer_email, token,
    recipient, total, payment, fee, pay_by, reclaim_at, order_type, target_chain, total_value, payment_value, fee_value,
    net_value, signature, created_at, receiver, network)
  select ${orderId}, 'sess_' || left(md5($3 || n), 22), case when n % 3 = 0 then 31338 else 31337 end,
    case when n % 3 = 0 then 'base::usdc' else 'ethereum::usdc' end, '0x' || repeat(md5('h' || n), 2),
    '0x' || repeat(md5('m' || n), 2), '0x' || md5('p' || n % ${payers}) || left(md5('p' || n % ${payers}), 8),
    'payer' || n % ${emails} || '@example.com', '0x' || repeat('a1', 20), '0x' || repeat('b2', 20), value * units,
    (value - value / 500) * units, value / 500 * units, $4::bigint + n * ${times.next} + 3600,
    $4::bigint + n * ${times.next} + 90000, 0, 0, value, value - value / 500, value / 500, value - value / 500,
    '0x' || repeat('c3', 65), to_timestamp($4::bigint + n * ${times.next} + 30), '', 'local'
  from generate_series($1::bigint, $2::bigint) as n cross join lateral (
    select (n % 997 + 1) * 10000 as value, case when n % 3 = 0 then 1000000000000 else 1::numeric end as units) as given
  where ${isPaid}`;
const payText = `update sessions set status = case when n % 1000 = 5 then 'paid' else 'completed' end, signed_once = true,
    order_id = ${orderId}, payer = '0x' || md5('p' || n % ${payers}) || left(md5('p' || n % ${payers}), 8),
    payer_email = 'payer' || n % ${emails} || '@example.com',
    paid_token = case when n % 3 = 0 then 'base::usdc' else 'ethereum::usdc' end,
    receipt_id = 'rcpt_' || left(md5('r' || $3 || n), 22), initiate_tx = '0x' || md5('t' || $3 || n) || md5('u' || n),
    complete_tx = case when n % 1000 = 5 then '' else '0x' || md5('v' || $3 || n) || md5('w' || n) end,
    refunded_amount = case when n % ${refundEvery} = 2 then ${refunded} else 0 end,
    payment_succeeded_at = created_at + interval '${times.paid} seconds',
    settlement_succeeded_at = case when n % 1000 <> 5 then created_at + interval '${times.settled} seconds' end,
    updated_at = created_at + interval '${times.settled} seconds'
  from generate_series($1::bigint, $2::bigint) as n
  where session_id = 'sess_' || left(md5($3 || n), 22) and ${isPaid}`;
const refundText = `insert into refunds (refund_id, merchant_id, session_id, order_id, amount, status, reason, tx_hash, created_at,
    updated_at)
  select 'rfd_' || left(md5('f' || $3 || n), 22), $3, session_id, order_id, refunded_amount, 'completed', 'Returned',
    '0x' || repeat(md5('x' || n), 2), settlement_succeeded_at, settlement_succeeded_at
  from generate_series($1::bigint, $2::bigint) as n join sessions on session_id = 'sess_' || left(md5($3 || n), 22)
  where n % ${refundEvery} = 2 and refunded_amount > 0`;

/** Stores the sessions with their orders, payments, settlements and refunds, and then does the workers' work. */
export async function seedSessions(
  url: string,
  db: Database,
  sessions: readonly ManySessions[],
  log: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    const indexAll = async () => {
      while (await db.transaction((transaction) => indexSessions(transaction)));
    };
    // The walk over what an earlier version left; afterwards the queue names every session.
    await indexAll();
    for (const { merchantId, accountIds, count, startedAt } of sessions)
      for (let from = 1; from <= count; from += step) {
        const range = [from, Math.min(count, from + step - 1), merchantId];
        await client.query(createText, [...range, accountIds, startedAt, products]);
        await client.query(orderText, [...range, startedAt]);
        for (const text of [payText, refundText]) await client.query(text, range);
        while (await db.transaction((transaction) => addUpLists(transaction, addUpBatch)));
        while (await db.transaction((transaction) => addUpHours(transaction, step)));
        await indexAll();
        log(`${merchantId}: ${range[1]} sessions stored and indexed`);
      }
    for (const table of [
      'sessions',
      'orders',
      'session_words',
      'session_search',
      'summary_values',
      'summary_hours',
    ])
      await client.query(`vacuum analyze ${table}`);
    await client.query(
      'vacuum analyze list_totals, list_total_changes, summary_changes, session_search_queue',
    );
  } finally {
    await client.end();
  }
}
