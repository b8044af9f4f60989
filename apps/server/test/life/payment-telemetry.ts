import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import pg from 'pg';
import { schema } from '#db/schema.ts';
import { type SentSpan, traceIdOf } from '../harness/collector.ts';
import { Payer } from './payer.ts';
import { collector, life, monitoring } from './payment-world.ts';
import { checkout } from './story-fixture.ts';

/** The samples of a page of metrics, by name and labels. */
function samplesOf(page: string): ReadonlyMap<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [
      line.slice(0, line.lastIndexOf(' ')),
      Number(line.slice(line.lastIndexOf(' ') + 1)),
    ]),
  );
}

/** Tests health and metrics of a service with at least so many settled payments. */
export function testMetrics(payments: number): void {
  test('the private port tells health and metrics of what has happened', async () => {
    await fetch(`${life.options.origin}/payment/v1/session/sess_unknown`, {
      headers: { authorization: `Bearer ${life.secretKey}` },
    });
    const ready = await fetch(`${monitoring}/health/ready`);
    assert.deepEqual([ready.status, ((await ready.json()) as { status: string }).status], [200, 'ready']);
    for (const path of ['/', '/payment/v1/product/list/1/1'])
      assert.equal((await fetch(monitoring + path)).status, 404);
    const response = await fetch(`${monitoring}/metrics`);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const samples = samplesOf(await response.text());
    const least: Readonly<Record<string, number>> = {
      'florin_session_moves_total{status="completed"}': payments,
      florin_settlement_seconds_count: payments,
      'florin_payment_detection_seconds_count{chain="ethereum"}': 1,
      'florin_webhook_attempts_total{outcome="accepted"}': payments,
      florin_database_transaction_seconds_count: payments,
      'florin_chain_final_block{chain="base"}': 1,
      'florin_wallet_gas_seconds{chain="base",role="settler"}': 1,
      'florin_database_connections{state="open"}': 1,
      process_resident_memory_bytes: 1,
    };
    for (const [sample, value] of Object.entries(least))
      assert.ok((samples.get(sample) ?? -1) >= value, sample);
    const exact: Readonly<Record<string, number>> = {
      'florin_build_info{version="0.1.0",roles="web watcher worker"}': 1,
      'florin_http_requests_total{method="GET",route="/payment/v1/session/:sessionId",status="200",code="100201"}': 1,
      'florin_chain_halted{chain="ethereum"}': 0,
      'florin_watcher_leads{chain="base"}': 1,
      'florin_watcher_leads{chain="ethereum"}': 1,
      'florin_payments_available{chain="base"}': 1,
      florin_exceptions_open: 0,
    };
    for (const [sample, value] of Object.entries(exact)) assert.equal(samples.get(sample), value, sample);
    // Their values are proven in work-gauges.test.ts.
    for (const name of [
      'florin_sessions_open',
      'florin_ledger_unsealed',
      'florin_node_lag_blocks{chain="base"',
    ])
      assert.ok(
        [...samples.keys()].some((sample) => sample.startsWith(name)),
        name,
      );
    for (const [sample, value] of samples)
      if (sample.startsWith('florin_ledger_minus_chain')) assert.equal(value, 0, sample);
  });

  test('the page of metrics needs no connection of the pool, and shows who waits for one', async () => {
    const other = new pg.Client({ connectionString: withSystemScope(life.database.url, schema) });
    await other.connect();
    await other.query('begin; lock table products in access exclusive mode');
    let answered = 0;
    const create = () => life.call('POST', '/product/create', { name: 'A thing', commonPrices: [1_000_000] });
    const requests = Array.from({ length: 12 }, async () => {
      await create();
      answered += 1;
    });
    const samples = await life.eventually(
      async () => samplesOf(await (await fetch(`${monitoring}/metrics`)).text()),
      (found) => (found.get('florin_database_connections{state="waiting"}') ?? 0) > 0,
      'requests that wait for a connection',
    );
    assert.equal(answered, 0);
    assert.equal(samples.get('florin_database_connections{state="idle"}'), 0);
    await other.end();
    await Promise.all(requests);
  });

  // A label with an id or an address in it would grow without bound.
  test('labels of metrics hold no ids, addresses or hashes', async () => {
    const samples = samplesOf(await (await fetch(`${monitoring}/metrics`)).text());
    assert.deepEqual(
      [...samples.keys()].filter((sample) =>
        /0x[0-9a-f]{8}|\b(sess|evt|mer|lnk|acc|whk|dlv)_\w{8}/i.test(sample),
      ),
      [],
    );
    assert.ok(samples.size < 5_000, `${samples.size} series`);
  });
}

/** Tests the traces of everything that happened. */
export function testTraces(): void {
  test('a trace shows what a request did, and another one what became of its session', async () => {
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
    const token = life.ethereum.token('usdc');
    const payer = new Payer(life);
    await payer.fund(life.ethereum, token, 1_000_000n);
    const sessionId = await checkout(life, 1_000_000, token.tokenId, {
      traceparent: `00-${traceId}-${spanId}-01`,
    });
    await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
    const events = await life.eventOf(sessionId, 'session.completed');
    const of = (id: string) => collector.spans().filter((span) => span.traceId === id);
    const isWhole = (spans: readonly SentSpan[]) => spans.length >= 4 + events.length;
    const steps = await life.eventually(() => of(traceIdOf(sessionId)), isWhole, "the session's trace");

    const created = of(traceId);
    const request = created.find(({ name }) => name === 'POST /payment/v1/session/checkout/create');
    assert.equal(request?.parentSpanId, spanId, 'it joins the trace of its caller');
    const within = created.filter(({ parentSpanId }) => parentSpanId === request?.spanId);
    assert.equal(within.length, created.length - 1);
    const named = (spans: readonly SentSpan[]) => spans.map(({ name }) => name).sort();
    // A statement that serves several requests is in the trace of the first one, such as that of the accounts.
    const own = named(within).filter((name) => name !== 'accounts_by_ids');
    assert.deepEqual(own, ['api_key_by_hash', 'sessions_insert']);
    const attempts = Array.from(events, () => 'webhook attempt');
    assert.deepEqual(named(steps), [
      ...['payment', 'payment detected', 'session settling', 'settlement'],
      ...attempts,
    ]);
    const sent = life.receiver.requests.filter(({ body }) => body.includes(sessionId));
    assert.deepEqual(
      sent.map(({ headers }) => headers['traceparent']).sort(),
      steps
        .filter(({ name }) => name === 'webhook attempt')
        .map((attempt) => `00-${attempt.traceId}-${attempt.spanId}-01`)
        .sort(),
    );
    const [link] = steps.find(({ name }) => name === 'session settling')?.links ?? [];
    const settling = named(of(link?.traceId ?? ''));
    for (const name of ['settle', 'eth_estimateGas']) assert.ok(settling.includes(name), settling.join());
  });

  test('attributes of traces have few values, and nothing sent is an id, an address or a secret', () => {
    const values = new Map<string, Set<string>>();
    for (const { name, attributes, status } of collector.spans()) {
      assert.match(name, /^(?:[a-z][a-zA-Z0-9_ ]*|[A-Z]+(?: \/[a-zA-Z0-9_\-.:/*]*)?)$/);
      assert.equal(status.message, undefined);
      for (const { key, value } of attributes)
        values.set(key, (values.get(key) ?? new Set()).add(String(Object.values(value)[0])));
    }
    assert.deepEqual([...values.keys()].sort(), [
      'db.system.name',
      'florin.calls',
      'florin.chain',
      'florin.code',
      'florin.leg',
      'http.request.method',
      'http.response.status_code',
      'http.route',
      'rpc.system',
      'server.address',
    ]);
    for (const [key, { size }] of values) assert.ok(size <= 12, `${key} has ${size} values`);
    const text = collector.text();
    assert.doesNotMatch(
      text,
      /0x[0-9a-f]{6}|(?:sess|mer|acc|prod|link|key|evt|whk)_[0-9A-Za-z]{16}|Bearer|@/i,
    );
    for (const secret of [life.secretKey, life.webhookKey, life.receiver.url, life.merchantId])
      assert.ok(!text.includes(secret));
  });
}
