import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { isId } from '@florin/protocol/id.ts';
import type { Token } from '@florin/protocol/token.ts';
import { Webhook } from 'standardwebhooks';
import { decodeFunctionData } from 'viem';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { startService } from '../../src/service/service.ts';
import { type Collector, type SentSpan, startCollector, traceIdOf } from '../harness/collector.ts';
import { Life, type SessionData } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { type AgentReply, Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
let monitoring = '';
let collector: Collector;
before(async () => {
  collector = await startCollector();
  life = await Life.start(async (options) => {
    const tracing = { url: collector.url, share: 1 };
    const service = await startService({ ...options, tracing, monitoring: { host: '127.0.0.1', port: 0 } });
    monitoring = service.monitoring ?? '';
    return service;
  });
  life.mine();
});
after(async () => {
  await life.close();
  await collector.close();
});

interface Story {
  readonly name: string;
  readonly from: 'link' | 'checkout';
  readonly feeModel: 1 | 2;
  /** Chain and symbol of the payer's token, and of the merchant's settlement. */
  readonly pay: readonly ['ethereum' | 'base', string];
  readonly settle: readonly ['ethereum' | 'base', string];
  /** All in Micro-USD, calculated by hand from the fee rates. */
  readonly price: number;
  readonly total: number;
  readonly fee: number;
  readonly net: number;
}

const stories: readonly Story[] = [
  {
    // proves S1.1, S2.19, S3.1, S4.19, S4.20, S6.2, W6.4
    name: 'a link, the merchant pays the fee',
    from: 'link',
    feeModel: 1,
    pay: ['ethereum', 'usdc'],
    settle: ['ethereum', 'usdc'],
    price: 12_500_000,
    total: 12_500_000,
    fee: 25_000,
    net: 12_475_000,
  },
  {
    // proves S2.20
    name: 'a link, the payer pays the fee',
    from: 'link',
    feeModel: 2,
    pay: ['ethereum', 'usdc'],
    settle: ['ethereum', 'usdc'],
    price: 3_333_333,
    total: 3_340_000,
    fee: 6_667,
    net: 3_333_333,
  },
  {
    name: 'a checkout session, the merchant pays the fee',
    from: 'checkout',
    feeModel: 1,
    pay: ['base', 'usdc'],
    settle: ['base', 'usdc'],
    price: 1_000_001,
    total: 1_000_001,
    fee: 2_001,
    net: 998_000,
  },
  {
    // proves S2.18
    name: 'a checkout session, the payer pays the fee',
    from: 'checkout',
    feeModel: 2,
    pay: ['ethereum', 'usdc'],
    settle: ['ethereum', 'usdc'],
    price: 40_000_000,
    total: 40_080_000,
    fee: 80_000,
    net: 40_000_000,
  },
  {
    name: 'a token without return values',
    from: 'link',
    feeModel: 1,
    pay: ['ethereum', 'usdt'],
    settle: ['ethereum', 'usdt'],
    price: 7_000_000,
    total: 7_000_000,
    fee: 14_000,
    net: 6_986_000,
  },
  {
    // proves W3.6
    name: 'a token with 18 decimals',
    from: 'checkout',
    feeModel: 1,
    pay: ['base', 'dai'],
    settle: ['base', 'dai'],
    price: 5_000_001,
    total: 5_000_001,
    fee: 10_001,
    net: 4_990_000,
  },
  {
    // proves W3.6
    name: 'in another token of the same chain',
    from: 'link',
    feeModel: 1,
    pay: ['ethereum', 'usdt'],
    settle: ['ethereum', 'usdc'],
    price: 6_000_000,
    total: 6_000_000,
    fee: 18_000,
    net: 5_982_000,
  },
  {
    // proves S1.1
    name: 'across chains',
    from: 'link',
    feeModel: 1,
    pay: ['ethereum', 'usdc'],
    settle: ['base', 'usdc'],
    price: 20_000_000,
    total: 20_000_000,
    fee: 120_000,
    net: 19_880_000,
  },
  {
    name: 'across chains from 6 to 18 decimals, the payer pays the fee',
    from: 'checkout',
    feeModel: 2,
    pay: ['ethereum', 'usdt'],
    settle: ['base', 'dai'],
    price: 9_000_001,
    total: 9_054_002,
    fee: 54_001,
    net: 9_000_001,
  },
];

function unitsOf(value: number, token: Token): bigint {
  return BigInt(value) * 10n ** BigInt(token.decimals - 6);
}

async function startSale(story: Story, settleToken: Token): Promise<{ linkId?: string; sessionId?: string }> {
  const { productId } = await life.post<{ productId: string }>('/product/create', {
    name: `Sold by ${story.name}`,
    commonPrices: [story.price],
  });
  const item = { itemType: 'product', productId, quantity: 1, unitPrice: story.price };
  const terms = { accountId: life.accountId, settlementToken: settleToken.tokenId, feeModel: story.feeModel };
  if (story.from === 'link') {
    return life.post('/payment/link/create', {
      ...terms,
      linkType: 'fixed',
      linkName: story.name,
      lineItems: [item],
    });
  }
  return life.post('/session/checkout/create', {
    ...terms,
    lineItems: [item],
    metadata: { story: story.name },
  });
}

function chainOf(name: 'ethereum' | 'base'): LifeChain {
  return name === 'ethereum' ? life.ethereum : life.base;
}

for (const story of stories) {
  test(`paid and settled: ${story.name}`, async () => {
    const payChain = chainOf(story.pay[0]);
    const settleChain = chainOf(story.settle[0]);
    const payToken = payChain.token(story.pay[1]);
    const settleToken = settleChain.token(story.settle[1]);
    const payer = new Payer(life);
    await payer.fund(payChain, payToken, unitsOf(100_000_000, payToken));
    const sale = await startSale(story, settleToken);
    const sessionId = sale.sessionId ?? (await payer.createSession(sale.linkId ?? '', payToken));
    assert.equal((await life.session(sessionId)).session.status, 'initialized');
    const heldBefore = await settleChain.balanceOf(settleToken, life.merchantWallet);

    const prepared = await payer.prepare(sessionId, payToken);
    const paymentTx = await payer.execute(payChain, prepared);
    const view = await life.sessionIn(sessionId, 'completed');
    const events = await life.eventOf(sessionId, 'session.completed');

    const held = await settleChain.balanceOf(settleToken, life.merchantWallet);
    assert.equal(held - heldBefore, unitsOf(story.net, settleToken), 'the merchant holds exactly netValue');
    const left = unitsOf(100_000_000, payToken) - unitsOf(story.total, payToken);
    assert.equal(
      await payChain.balanceOf(payToken, payer.address),
      left,
      'the payer paid exactly totalValue',
    );
    assertPaid(view, prepared, { story, payToken, payer: payer.address, paymentTx });
    const { sessions } = await life.get<{ sessions: SessionData[] }>('/session/list/completed/1/1');
    assert.deepEqual(sessions, [view], 'the list shows what the read returns');
    assert.deepEqual(
      events.map(({ sequence, type, data }) => [sequence, type, data.session.status, 'transaction' in data]),
      [
        [1, 'session.created', 'initialized', false],
        [2, 'session.payment_detected', 'initialized', false],
        [3, 'session.paid', 'paid', true],
        [4, 'session.settling', 'settling', true],
        [5, 'session.completed', 'completed', true],
      ],
    );
    assert.deepEqual(events.at(-1)?.data, view, 'the event carries what the read returns');
  });
}

/** Compares the session and its transaction with the order that the payer got. */
function assertPaid(
  { session, transaction }: SessionData,
  prepared: AgentReply,
  paid: { story: Story; payToken: Token; payer: string; paymentTx: string },
): void {
  const { story, payToken, payer, paymentTx } = paid;
  assert.deepEqual(
    [session.payer, session.paidToken, session.initiateTx],
    [payer, payToken.tokenId, paymentTx],
  );
  assert.ok(isId('receipt', session.receiptId));
  assert.match(session.completeTx, /^0x[0-9a-f]{64}$/);
  const { args } = decodeFunctionData({ abi: paymentGatewayAbi, data: prepared.calldata });
  const [order] = args as unknown as [{ channelId: string; metaData: string; orderType: number }];
  assert.deepEqual(transaction, {
    orderId: prepared.aiView.paymentExecutionGuide.order.orderId,
    channelId: order.channelId,
    orderType: order.orderType,
    from: payer,
    to: life.merchantWallet,
    metaData: order.metaData,
    totalValue: story.total,
    paymentValue: story.price,
    feeValue: story.fee,
    netValue: story.net,
    paidAmountInToken: unitsOf(story.total, payToken).toString(),
    sourceTx: paymentTx,
    targetTx: session.completeTx,
    executeTime: session.paymentSucceededTime,
    finalizeTime: session.settlementSucceededTime,
  });
  for (const time of [transaction?.executeTime, transaction?.finalizeTime])
    assert.match(time ?? '', /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/);
}

// proves S1.2
test('a link sells again and again, a checkout session once, and their sessions have the same members', async () => {
  const token = life.ethereum.token('usdc');
  const [story] = stories;
  assert.ok(story?.from === 'link');
  const { linkId = '' } = await startSale(story, token);
  const { sessionId = '' } = await startSale({ ...story, from: 'checkout' }, token);
  const [first, second] = [new Payer(life), new Payer(life)];
  const sold: SessionData[] = [];
  for (const id of [await first.createSession(linkId, token), sessionId]) {
    await first.fund(life.ethereum, token, BigInt(story.total));
    await first.execute(life.ethereum, await first.prepare(id, token));
    sold.push(await life.sessionIn(id, 'completed'));
  }
  const [ofLink, ofCheckout] = sold.map(({ session }) => Object.keys(session));
  assert.deepEqual(ofLink, ofCheckout);
  const again = await second.createSession(linkId, token);
  assert.equal((await second.prepare(again, token)).aiView.workflow.stage, 'payment_prepared');
  await assert.rejects(second.preparation(sessionId, token), /cannot be prepared: settled/);
});

// proves W6.6
test('every delivery verifies with the stock Standard Webhooks library', () => {
  const verifier = new Webhook(life.webhookKey);
  assert.ok(life.receiver.requests.length >= stories.length * 5);
  for (const request of life.receiver.requests) {
    verifier.verify(request.body, request.headers as Record<string, string>);
  }
});

test('the books sum to zero and equal the balances of the contracts', async () => {
  assert.deepEqual(
    (await ledgerSums(life.database.db)).filter((sum) => sum.total !== 0n),
    [],
  );
  const balances = await ledgerBalances(life.database.db);
  for (const chain of [life.ethereum, life.base]) {
    for (const token of chain.chain.tokens) {
      const booked = balances.find(
        (balance) => balance.account === `gateway:${chain.chain.name}` && balance.asset === token.tokenId,
      );
      assert.equal(booked?.balance ?? 0n, await chain.balanceOf(token, chain.chain.gateway), token.tokenId);
    }
  }
  assert.deepEqual(
    balances.filter((balance) => balance.account.startsWith('merchant:')),
    [],
    'nothing is owed to a merchant any more',
  );
});

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
    'florin_session_moves_total{status="completed"}': stories.length,
    florin_settlement_seconds_count: stories.length,
    'florin_payment_detection_seconds_count{chain="ethereum"}': 1,
    'florin_webhook_attempts_total{outcome="accepted"}': stories.length,
    florin_database_transaction_seconds_count: stories.length,
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
    'florin_payments_available{chain="base"}': 1,
    florin_exceptions_open: 0,
  };
  for (const [sample, value] of Object.entries(exact)) assert.equal(samples.get(sample), value, sample);
  for (const [sample, value] of samples)
    if (sample.startsWith('florin_ledger_minus_chain')) assert.equal(value, 0, sample);
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
  assert.doesNotMatch(text, /0x[0-9a-f]{6}|(?:sess|mer|acc|prod|link|key|evt|whk)_[0-9A-Za-z]{16}|Bearer|@/i);
  for (const secret of [life.secretKey, life.webhookKey, life.receiver.url, life.merchantId])
    assert.ok(!text.includes(secret));
});
