import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { after, before, type TestContext, test } from 'node:test';
import { buildPages } from '@florin/dashboard/build';
import { parseUsd } from '@florin/protocol/money.ts';
import type { ReportView } from '@florin/protocol/report-api.ts';
import type { SessionView } from '@florin/protocol/session.ts';
import { findFreePort } from '@florin/world';
import type { Browser as Chromium, Page } from 'playwright-core';
import { dashboardPagesDoor } from '#http/dashboard/pages.ts';
import { defaultRateLimits } from '#http/rate-limit.ts';
import { reportsDoor } from '#http/reports/reports-door.ts';
import { makeReports } from '#reports/report.ts';
import { silentLog } from '#telemetry/log.ts';
import { Browser, type DashboardWorld, password } from '../harness/dashboard-world.ts';
import { localLimits } from '../harness/local-limits.ts';
import { allSeeded, type ManySessions, type Seeded, searchesOf, seeded } from '../harness/many-sessions.ts';
import { openMillionWorld } from '../harness/million-world.ts';
import { openChromium, openPage } from './chromium.ts';

/** Sessions of one merchant. A smaller number makes a shorter run. */
const count = Number(process.env['FLORIN_MILLION_COUNT'] ?? 1_000_000);
const pageSize = 100;
/** Pages of a search that finds very much are compared up to here. */
const searchedPages = 3;

let world: DashboardWorld;
let sessions: ManySessions;
let others: readonly ManySessions[];
let origin: string;
let chromium: Chromium;
let browser: Browser;
let email: string;

before(async () => {
  await buildPages();
  const port = await findFreePort();
  origin = `http://localhost:${port}`;
  ({ world, sessions, others } = await openMillionWorld(origin, count, (line) => console.log(line)));
  const reports = reportsDoor({ db: world.merchants.database.db, clock: world.merchants.clock });
  // Chromium has the limits of production. What is asked here goes as fast as it can.
  const limits = localLimits(defaultRateLimits, world.merchants.clock);
  const pages = await world.serve('local', limits, [dashboardPagesDoor(), reports]);
  await pages.listen({ host: 'localhost', port });
  ({ email } = await world.addPerson([[sessions.merchantId, 'owner']]));
  browser = new Browser(await world.serve('local'));
  assert.equal((await send('POST', '/sign-in/password', { email, password })).code, 0);
  browser.merchantId = sessions.merchantId;
  chromium = await openChromium();
});
after(async () => {
  await chromium?.close();
  await world?.close();
});

const send = (method: 'GET' | 'POST', path: string, body?: unknown) =>
  browser.send(method, path, { body, headers: { origin } });

async function data<Data>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Data> {
  const answer = await send(method, path, body);
  assert.equal(answer.code, 0, `${path}: ${answer.message}`);
  return answer.data as Data;
}

/** What of a session the screens show, as read and as seeded. */
function shown({ session, transaction }: SessionView) {
  const { sessionId, status, amount, paidToken, payer, payerEmail, initiateTx } = session;
  return {
    ...{ sessionId, status, amount, paidToken, payer, payerEmail, initiateTx },
    ...{ metadata: session.metadata, net: transaction?.netValue, refunded: session.refundedAmount },
    product: session.lineItems.items.map((item) => item.productData?.productName).join(),
  };
}
function expected(session: Seeded): ReturnType<typeof shown> {
  const isPaid = session.paidAt !== undefined;
  const { sessionId, status, payer, payerEmail, txHash, product } = session;
  return {
    ...{ sessionId, status, payer, payerEmail, product },
    ...{ amount: Number(session.amount), refunded: Number(session.refunded) },
    ...{ paidToken: isPaid ? session.token : '', initiateTx: txHash },
    metadata: { order: session.order },
    net: isPaid ? Number(session.net) : undefined,
  };
}

/** The numbers of the sessions that fit, the newest first. */
function numbersOf(fits: (n: number) => boolean): number[] {
  return Array.from({ length: sessions.count }, (_, index) => sessions.count - index).filter(fits);
}

interface ListPage {
  readonly sessions: readonly SessionView[];
  readonly total: number;
  readonly nextCursor: string;
}

test('lists have exact totals, and their first, 50th and 100th page by number and by cursor', async (t) => {
  const lists: Readonly<Record<string, (n: number) => boolean>> = {
    all: () => true,
    completed: (n) => seeded(sessions, n).status === 'completed',
    paid: (n) => n % 1_000 === 5,
    expired: (n) => n % 10 === 7,
  };
  for (const [list, fits] of Object.entries(lists)) {
    const numbers = numbersOf(fits);
    for (const page of [1, 50, 100]) {
      const begin = performance.now();
      const read = await data<ListPage>('GET', `/session/list/${list}/${page}/${pageSize}`);
      t.diagnostic(`${list}, page ${page}: ${Math.round(performance.now() - begin)} ms`);
      const wanted = (at: number) =>
        numbers.slice((at - 1) * pageSize, at * pageSize).map((n) => expected(seeded(sessions, n)));
      assert.deepEqual([read.total, read.sessions.map(shown)], [numbers.length, wanted(page)]);
      if (read.nextCursor === '') continue;
      const next = await data<ListPage>(
        'GET',
        `/session/list/${list}/1/${pageSize}?after=${read.nextCursor}`,
      );
      assert.deepEqual([next.total, next.sessions.map(shown)], [numbers.length, wanted(page + 1)]);
    }
  }
});

interface SearchPage {
  readonly sessions: readonly SessionView[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

test('each kind of search finds exactly what was seeded, the newest first', async (t) => {
  const one = seeded(sessions, Math.floor(sessions.count / 3 / 40) * 40 + 3);
  const strange = others[0]?.accountIds[0] ?? '';
  for (const [name, body, fits] of searchesOf(sessions, one, strange)) {
    const numbers = numbersOf(fits);
    const most = searchedPages * pageSize;
    const found: SessionView[] = [];
    const begin = performance.now();
    let pages = 0;
    for (let after = ''; ; ) {
      const cursor = after === '' ? {} : { after };
      const page = await data<SearchPage>('POST', '/session/search', { ...body, size: pageSize, ...cursor });
      found.push(...page.sessions);
      pages += 1;
      after = page.hasMore ? page.nextCursor : '';
      if (after === '' || found.length >= most) break;
    }
    const ms = Math.round((performance.now() - begin) / pages);
    t.diagnostic(`${name}: ${numbers.length} sessions have it, ${pages} pages, ${ms} ms each`);
    const wanted = numbers.slice(0, found.length < most ? numbers.length : found.length);
    assert.deepEqual([name, found.map(shown)], [name, wanted.map((n) => expected(seeded(sessions, n)))]);
  }
});

/** Adds up what was seeded of each key. */
function sumsOf(
  keyOf: (session: Seeded) => readonly (string | number)[] | undefined,
  of: (session: Seeded) => readonly bigint[],
) {
  const sums = new Map<string, bigint[]>();
  for (const session of allSeeded(sessions)) {
    const key = keyOf(session)?.join(' ');
    if (key === undefined) continue;
    const known = sums.get(key);
    sums.set(
      key,
      of(session).map((value, index) => value + (known?.[index] ?? 0n)),
    );
  }
  return Object.fromEntries([...sums].toSorted());
}

type SumRow = Readonly<Record<string, string | number>>;

/** Rows of sums by what is in their columns. */
function rowsBy(rows: readonly SumRow[], keys: readonly string[], values: readonly string[]) {
  const of = (row: SumRow, names: readonly string[]) => names.map((name) => row[name] ?? '');
  return Object.fromEntries(
    rows.map((row) => [of(row, keys).join(' '), of(row, values).map(BigInt)] as const).toSorted(),
  );
}

/** Twelve periods up to the last sessions, and what falls into one of them. */
function lastPeriods() {
  const last = seeded(sessions, sessions.count).createdAt;
  const times = Array.from({ length: 13 }, (_, index) => last - (12 - index) * 40_000 + 1_000);
  const keyed = (at: number | undefined, ...rest: readonly string[]) => {
    const period = at === undefined ? -1 : times.findLastIndex((time) => time <= at);
    return period < 0 || period === times.length - 1 ? undefined : [period, ...rest];
  };
  return { times, keyed };
}

test('the sums of the first page are exactly what was seeded', async (t) => {
  const { times, keyed } = lastPeriods();
  const begin = performance.now();
  const path = '/summary/periods';
  const periods = await data<{ received: SumRow[]; settled: SumRow[] }>('POST', path, { times });
  t.diagnostic(`the sums of 12 periods: ${Math.round(performance.now() - begin)} ms`);
  assert.deepEqual(
    [
      rowsBy(periods.received, ['period', 'tokenId'], ['payments', 'totalValue']),
      rowsBy(periods.settled, ['period', 'tokenId'], ['payments', 'feeValue', 'netValue']),
    ],
    [
      sumsOf(
        ({ paidAt, token }) => keyed(paidAt, token),
        ({ amount }) => [1n, amount],
      ),
      sumsOf(
        ({ settledAt, token }) => keyed(settledAt, token),
        ({ fee, net }) => [1n, fee, net],
      ),
    ],
  );
  const { onItsWay } = await data<{ onItsWay: SumRow[] }>('GET', '/summary');
  assert.deepEqual(
    rowsBy(onItsWay, ['status', 'accountId', 'tokenId'], ['payments', 'netValue']),
    sumsOf(
      ({ status, accountId, token }) => (status === 'paid' ? [status, accountId, token] : undefined),
      ({ net }) => [1n, net],
    ),
  );
});

test('the sums of reports by wallet and token are exactly what was seeded, with the refunds', async (t) => {
  const { times, keyed } = lastPeriods();
  const begin = performance.now();
  const { sums } = await data<{ sums: SumRow[] }>('POST', '/report/sums', { times });
  t.diagnostic(`the sums of 12 periods by wallet: ${Math.round(performance.now() - begin)} ms`);
  const read = (kind: string) =>
    rowsBy(
      sums.filter((row) => row['kind'] === kind),
      ['period', 'accountId', 'tokenId'],
      ['count', 'totalValue'],
    );
  const wanted = (timeOf: (session: Seeded) => number | undefined, value: 'amount' | 'refunded') =>
    sumsOf(
      (session) => keyed(timeOf(session), session.accountId, session.token),
      (session) => [1n, session[value]],
    );
  assert.deepEqual(['received', 'settled', 'refunded'].map(read), [
    wanted(({ paidAt }) => paidAt, 'amount'),
    wanted(({ settledAt }) => settledAt, 'amount'),
    wanted(({ settledAt, refunded }) => (refunded > 0n ? settledAt : undefined), 'refunded'),
  ]);
});

/** Makes a report as the worker does, and returns it with the lines of its file. */
async function reportOf(type: 'payments' | 'refunds', format: 'csv' | 'json') {
  const { merchants } = world;
  const to = Math.floor(Date.now() / 1000) - 1;
  const order = { type, format, from: sessions.startedAt, to };
  const { reportId } = await data<ReportView>('POST', '/report/create', order);
  while (await makeReports(merchants.database.db, { clock: merchants.clock, log: silentLog }));
  const report = await data<ReportView>('GET', `/report/${reportId}`);
  const { body } = await fetch(`${origin}${new URL(report.url).pathname}`);
  assert.ok(body !== null);
  return { report, lines: createInterface({ input: Readable.fromWeb(body) }) };
}

test('a report of everything has every payment once, as CSV and as JSON', async (t) => {
  const [all] = Object.values(
    sumsOf(
      ({ paidAt }) => (paidAt === undefined ? undefined : ['all']),
      ({ amount, fee, net }) => [1n, amount, fee, net],
    ),
  );
  for (const format of ['csv', 'json'] as const) {
    const begin = performance.now();
    const { report, lines } = await reportOf('payments', format);
    const ids = new Set<string>();
    let total = 0n;
    let valueColumn = -1;
    for await (const line of lines) {
      if (format === 'csv' && valueColumn < 0) valueColumn = line.split(',').indexOf('amountInUSD');
      const [id] = /sess_[0-9a-z]+/.exec(line) ?? [];
      if (id === undefined) continue;
      assert.ok(!ids.has(id), id);
      ids.add(id);
      const inDollars = line.split(',')[valueColumn] ?? '';
      const [, inJson = ''] = /"totalValue":"?(\d+)/.exec(line) ?? [];
      total += format === 'csv' ? (parseUsd(inDollars) ?? assert.fail(line)) : BigInt(inJson);
    }
    t.diagnostic(`${format}: ${ids.size} rows in ${Math.round(performance.now() - begin)} ms`);
    const { totalValue, feeValue, netValue } = report.totals;
    assert.deepEqual([BigInt(report.rows), ...[totalValue, feeValue, netValue].map(BigInt)], all);
    assert.deepEqual([BigInt(ids.size), total], all?.slice(0, 2));
  }
});

async function openDashboard(): Promise<Page> {
  const { page } = await openPage(chromium, { isApart: true });
  await page.goto(`${origin}/dashboard/${sessions.merchantId}`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByLabel('Password', { exact: true }).press('Enter');
  await page.getByRole('region', { name: /^Received on each day/ }).waitFor();
  return page;
}

/** Exports what the list shows, and returns the file's place. */
async function exportAs(page: Page, format: string, t: TestContext): Promise<string> {
  const begin = performance.now();
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog', { name: 'Export payments' });
  await dialog.getByLabel('Format').selectOption(format);
  const download = page.waitForEvent('download', { timeout: 0 });
  await dialog.getByRole('button', { name: 'Export', exact: true }).click();
  await dialog.getByText(/^[1-9][\d,]* payments read so far …$/).waitFor();
  const path = await (await download).path();
  t.diagnostic(`the export as ${format}: ${Math.round(performance.now() - begin)} ms`);
  return path;
}

const hrefOf = (n: number) => `/dashboard/${sessions.merchantId}/payments/${seeded(sessions, n).sessionId}`;

/** Waits until the first page of the list is exactly these sessions. */
async function showsRows(page: Page, numbers: readonly number[]) {
  const hrefs = numbers.map(hrefOf);
  const table = page.getByRole('table', { name: 'Payments', exact: true });
  await table.locator(`a[href="${hrefs[0]}"]`).first().waitFor();
  const links = await table
    .locator('tbody a')
    .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
  assert.deepEqual([...new Set(links)], hrefs);
}

const isHoney = (n: number) => n % 8 === 4 && seeded(sessions, n).status === 'completed';

test('in Chromium the payments open, are searched and filtered', async (t) => {
  const page = await openDashboard();
  const search = page.getByLabel('Search payments');
  const timed = async (what: string, fits: (n: number) => boolean, act: () => Promise<unknown>) => {
    // Before the time counts: a look at a million numbers takes longer than what is measured, in the service's process.
    const numbers = numbersOf(fits).slice(0, 25);
    const begin = performance.now();
    await act();
    await showsRows(page, numbers);
    t.diagnostic(`${what}: ${Math.round(performance.now() - begin)} ms`);
  };
  const all = () => true;
  await timed('payments open', all, () => page.getByRole('link', { name: 'Payments', exact: true }).click());
  await timed('the whole application opens with the payments', all, () => page.reload());
  const one = seeded(sessions, Math.floor(sessions.count / 2 / 10) * 10 + 1);
  const isOne = (n: number) => String(n).startsWith(String(one.n));
  await timed('a search', isOne, async () => {
    await search.fill(`A-${one.n}`);
    await search.press('Enter');
  });
  await timed('the search ends', all, async () => {
    await search.fill('');
    await search.press('Enter');
  });
  for (const _ of ['cold', 'warm']) {
    await timed(
      'a filter',
      (n) => n % 10 === 7,
      () => page.getByRole('button', { name: 'Expired' }).click(),
    );
    await timed(
      'another one',
      (n) => seeded(sessions, n).status === 'completed',
      () => page.getByRole('button', { name: 'Settled' }).click(),
    );
  }
  await page.context().close();
});

test('in Chromium what a search finds goes into a file with progress', async (t) => {
  const page = await openDashboard();
  await page.goto(`${origin}/dashboard/${sessions.merchantId}/payments?text=honey&status=completed`);
  await showsRows(page, numbersOf(isHoney).slice(0, 25));
  const honey = JSON.parse(readFileSync(await exportAs(page, 'json', t), 'utf8')) as { sessionId: string }[];
  const wanted = numbersOf(isHoney).map((n) => seeded(sessions, n).sessionId);
  assert.deepEqual(
    honey.map(({ sessionId }) => sessionId),
    wanted,
  );
  await page.context().close();
});
