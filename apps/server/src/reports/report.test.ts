import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, statement } from '@florin/pg';
import { maxPendingReports, maxReportRows, type ReportType } from '@florin/protocol/report-api.ts';
import fc from 'fast-check';
import { reportsDoor } from '#http/reports/reports-door.ts';
import { buildServer } from '#http/server.ts';
import { unixSeconds } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addPaidSession, happen } from '../../test/harness/payment-fixture.ts';
import { makeReports } from './report.ts';
import { linesText } from './report-file.ts';

const ledgerSums = statement({
  name: 'report_test_ledger',
  parameters: { merchantId: 'text' },
  columns: { order_id: 'text', amount: 'numeric' },
  text: `select e.order_id, sum(p.amount) as amount from ledger_entries e
     join ledger_postings p on p.entry_id = e.entry_id and p.amount > 0
     join sessions s on s.order_id = e.order_id
   where e.kind = 'payment' and s.merchant_id = :merchantId group by e.order_id order by e.order_id`,
});
const feesBooked = statement({
  name: 'report_test_fees',
  parameters: { merchantId: 'text' },
  columns: { amount: 'numeric' },
  text: `select coalesce(-sum(p.amount), 0) as amount from ledger_entries e
     join ledger_postings p on p.entry_id = e.entry_id and p.ledger_account = 'fees'
     join sessions s on s.order_id = e.order_id where s.merchant_id = :merchantId`,
});
const setRowCount = statement({
  name: 'report_test_row_count',
  parameters: { merchantId: 'text', rowCount: 'int8' },
  text: 'update reports set row_count = :rowCount where merchant_id = :merchantId',
});

let world: MerchantWorld;
let files: Awaited<ReturnType<typeof buildServer>>;
before(async () => {
  world = await MerchantWorld.open();
  const { db } = world.database;
  files = await buildServer({
    ...{ log: silentLog, random: systemRandom, origin: world.deps.origin },
    ready: async () => ({ ready: true, checks: {} }),
    doors: [reportsDoor({ db, clock: world.clock })],
  });
});
after(async () => {
  await files.close();
  await world.close();
});

const work = async () => {
  while (await makeReports(world.database.db, { clock: world.clock, log: silentLog }));
};
const download = (url: string) => files.inject({ method: 'GET', url: new URL(url).pathname });

interface Shop {
  readonly merchantId: string;
  readonly key: string;
  readonly accountId: string;
}

async function openShop(): Promise<Shop> {
  const merchantId = await world.addMerchant();
  return { merchantId, key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
}

async function order({ key }: Shop, type: ReportType, more: object = {}) {
  const to = unixSeconds(world.clock.now());
  const body = { type, from: 0, to, format: 'json', ...more };
  const { data, code } = await world.send('POST', '/report/create', { key, body });
  assert.equal(code, 0);
  return async () => (await world.send('GET', `/report/${data.reportId}`, { key })).data;
}

async function rowsOf(shop: Shop, type: ReportType, more: object = {}) {
  const read = await order(shop, type, more);
  await work();
  const report = await read();
  assert.equal(report.status, 'ready');
  return { report, rows: JSON.parse((await download(report.url)).body) as Record<string, string | number>[] };
}

const sumOf = (rows: readonly Record<string, string | number>[], column: string) =>
  rows.reduce((sum, row) => sum + BigInt(row[column] ?? 0), 0n);

// proves W11.3
test('reports equal the ledger to the unit, whatever became of the payments', async () => {
  const stranger = await openShop();
  await addPaidSession(world, stranger);
  const fates = fc.array(fc.constantFrom('paid', 'settled', 'returned'), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fates, async (fate) => {
      const shop = await openShop();
      const { db } = world.database;
      for (const each of fate) {
        const { order: paid, sessionId } = await addPaidSession(world, shop);
        if (each === 'settled') await happen(world, paid, 'Settled');
        if (each === 'returned')
          await world.send('POST', '/refund/create', { key: shop.key, body: { sessionId } });
        if (each === 'returned') await happen(world, paid, 'Refunded');
      }
      world.clock.time += 60_000;
      const payments = await rowsOf(shop, 'payments');
      const booked = await db.query(ledgerSums, { merchantId: shop.merchantId });
      const shown = payments.rows.map((row) => ({
        order_id: row['orderId'],
        amount: BigInt(row['paidAmountInToken'] ?? 0),
      }));
      assert.deepEqual(
        shown.toSorted((left, right) => (String(left.order_id) < String(right.order_id) ? -1 : 1)),
        booked,
      );
      assert.equal(payments.report.totals.totalValue, String(sumOf(payments.rows, 'totalValue')));
      const settlements = await rowsOf(shop, 'settlements');
      assert.equal(settlements.rows.length, fate.filter((each) => each === 'settled').length);
      const fees = await rowsOf(shop, 'fees');
      const [feeSum] = await db.query(feesBooked, { merchantId: shop.merchantId });
      assert.equal(fees.report.totals.feeValue, String(feeSum?.amount));
      const refunds = await rowsOf(shop, 'refunds');
      assert.equal(refunds.rows.length, fate.filter((each) => each === 'returned').length);
    }),
    { numRuns: 8 },
  );
});

test('a report has its period and its account alone', async () => {
  const shop = await openShop();
  const { sessionId } = await addPaidSession(world, shop);
  const other = await world.addAccount(shop.merchantId);
  await addPaidSession(world, { ...shop, accountId: other });
  world.clock.time += 60_000;
  const { rows } = await rowsOf(shop, 'payments', { accountId: shop.accountId });
  assert.deepEqual(
    rows.map((row) => row['sessionId']),
    [sessionId],
  );
  assert.deepEqual((await rowsOf(shop, 'payments', { from: 0, to: 1 })).rows, []);
});

// proves W11.4
test('a file needs the secret of its report, and is gone after a day', async () => {
  const shop = await openShop();
  await addPaidSession(world, { ...shop, unitPrice: 12_500_000 });
  world.clock.time += 60_000;
  const read = await order(shop, 'payments', { format: 'csv' });
  assert.deepEqual([(await read()).status, (await read()).url], ['pending', '']);
  await work();
  const { url } = await read();
  const file = await download(url);
  assert.match(String(file.headers['content-type']), /^text\/csv/);
  const [columns, row] = file.body.split('\r\n').map((line) => line.split(','));
  assert.deepEqual(columns?.slice(0, 2), ['sessionId', 'receiptId']);
  const dollars = ['amountInUSD', 'feeInUSD', 'netInUSD'].map((name) => row?.[columns?.indexOf(name) ?? -1]);
  assert.deepEqual(dollars, ['12.525', '0.025', '12.50']);
  assert.equal((await download(`${url.slice(0, -1)}`)).statusCode, 404);
  const stranger = await openShop();
  const reportId = new URL(url).pathname.split('/')[2];
  assert.equal((await world.send('GET', `/report/${reportId}`, { key: stranger.key })).code, 100709);
  world.clock.time += 24 * 3_600_000;
  assert.equal((await download(url)).statusCode, 404);
  assert.equal((await world.send('GET', `/report/${reportId}`, { key: shop.key })).code, 100709);
});

test('a step that is killed is made again, and its rows stand once', async () => {
  const shop = await openShop();
  await addPaidSession(world, shop);
  world.clock.time += 60_000;
  const read = await order(shop, 'payments');
  const { db } = world.database;
  const killed: Pick<Database, 'query' | 'transaction'> = {
    query: db.query,
    transaction: (step) =>
      db.transaction(async (transaction) => {
        await step(transaction);
        throw new Error('killed');
      }),
  };
  const deps = { clock: world.clock, log: silentLog };
  await assert.rejects(makeReports(killed, deps), { message: 'killed' });
  await work();
  const report = await read();
  assert.deepEqual([report.status, report.rows], ['ready', 1]);
});

test('a report of too many rows fails and says so', async () => {
  const shop = await openShop();
  await addPaidSession(world, shop);
  world.clock.time += 60_000;
  const read = await order(shop, 'payments');
  const { merchantId } = shop;
  await world.database.db.query(setRowCount, { merchantId, rowCount: maxReportRows });
  await work();
  const { status, reason, url } = await read();
  assert.deepEqual(
    { status, reason, url },
    { status: 'failed', reason: 'It has more than 2,000,000 rows: order it for a shorter time.', url: '' },
  );
});

test('periods that end before they begin or in the future, unknown accounts and too many reports are refused', async () => {
  const shop = await openShop();
  const now = unixSeconds(world.clock.now());
  const create = (body: object) =>
    world.send('POST', '/report/create', { key: shop.key, body: { type: 'fees', format: 'csv', ...body } });
  assert.equal((await create({ from: 5, to: 5 })).code, 400101);
  assert.equal((await create({ from: 5, to: now + 60 })).code, 400101);
  assert.equal((await create({ from: 0, to: 5, accountId: 'acc_unknown' })).code, 100401);
  for (let count = 0; count < maxPendingReports; count += 1)
    assert.equal((await create({ from: 0, to: 5 })).code, 0);
  assert.equal((await create({ from: 0, to: 5 })).code, 900101);
});

test('a spreadsheet finds no formula in a report', () => {
  const line = {
    refundId: 'rfd_1',
    sessionId: 's',
    orderId: 'o',
    accountId: 'a',
    refundedAt: '',
    totalValue: 5,
  };
  const texts = ['=1+1', '@now', '+1', '-1', '\tx', '＝1', 'say "no", please'].map((reason) =>
    linesText('refunds', 'csv', [{ ...line, reason, txHash: '' }], true),
  );
  assert.deepEqual(
    texts.map((text) => text.slice('rfd_1,s,o,a,,0.000005,'.length, -',\r\n'.length)),
    ["'=1+1", "'@now", "'+1", "'-1", "'\tx", "'＝1", '"say ""no"", please"'],
  );
});
