import { type Database, withSystemScope } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import { schema, systemRandom } from '@florin/server/operator';
import { addUpLists } from '@florin/server/parts';
import pg from 'pg';

/** The number of sessions in the table, by owner. */
export interface Dataset {
  /** Sessions of the measured merchant. */
  readonly own: number;
  /** Other merchants' sessions between two of those. */
  readonly between: number;
  /** The number of other merchants, who own those in turn. */
  readonly others: number;
}

const addUpBatch = 2_000;
/** Rows per statement, so that no transaction needs memory for all rows. */
const fillStep = 100_000;

// Like the product's rows: 2 kB, seven in ten completed, some expired and cancelled, one in a thousand paid.
const fillText = `insert into sessions (session_id, merchant_id, session_type, business_id, business_type, client_code,
    account_id, account_version, recipient, settlement_token, fee_model, amount, line_items, payer_email_required,
    success_url, metadata, meta_data, salt, channel_id, expiration_time, status, created_at, updated_at)
  select 'sess_' || left(md5(n::text), 22),
    case when n % ($4 + 1) = 0 then $3 else 'mer_' || lpad((n % $5)::text, 22, '0') end,
    'chk', '', '', md5('c' || n), 'acc_0000000000000000000001', 'acv_0000000000000000000001',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'ethereum::usdc', 1, 3000000,
    jsonb_build_array(jsonb_build_object('lineItemId', 'li_0000000000000000000001', 'itemType', 'product',
      'productId', 'prd_0000000000000000000001', 'quantity', 2, 'unitPrice', 1500000, 'productData',
      jsonb_build_object('productName', 'Tea', 'productDescription', repeat('Loose green tea. ', 12), 'imageUrl', '',
        'attributes', '[{"name":"weight","value":"100 g"}]'::jsonb))),
    false, 'https://shop.example.com/orders/thank-you?session={SESSION_ID}',
    '{"orderNumber":"' || n || '","note":"' || repeat('.', 200) || '"}', '0x' || repeat(md5('m' || n), 2),
    '0x' || repeat(md5('s' || n), 2), '0x' || repeat(md5('h' || n), 2), now(),
    (array['completed', 'completed', 'completed', 'completed', 'completed', 'completed', 'completed', 'expired',
      'cancelled', 'initialized'])[1 + n / ($4 + 1) % 10], now(), now()
  from generate_series($1::bigint, $2::bigint) as n`;

/**
 * Fills an empty, migrated database and computes its list totals. Returns the merchant, and the milliseconds of the
 * computation.
 */
export async function fillSessions(
  url: string,
  db: Database,
  dataset: Dataset,
): Promise<{ merchantId: string; addUpMs: number }> {
  const merchantId = newId('merchant', (size) => systemRandom.bytes(size));
  const client = new pg.Client({ connectionString: withSystemScope(url, schema) });
  await client.connect();
  try {
    const count = dataset.own * (dataset.between + 1);
    for (let from = 1; from <= count; from += fillStep)
      await client.query(fillText, [
        from,
        Math.min(count, from + fillStep - 1),
        merchantId,
        dataset.between,
        Math.max(1, dataset.others),
      ]);
    const begin = performance.now();
    while (await db.transaction((transaction) => addUpLists(transaction, addUpBatch)));
    const addUpMs = performance.now() - begin;
    for (const table of ['sessions', 'list_totals', 'list_total_changes'])
      await client.query(`vacuum analyze ${table}`);
    return { merchantId, addUpMs };
  } finally {
    await client.end();
  }
}
