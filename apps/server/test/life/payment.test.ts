import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import { isId } from '@florin/protocol/id.ts';
import type { Token } from '@florin/protocol/token.ts';
import { Webhook } from 'standardwebhooks';
import { decodeFunctionData } from 'viem';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { deepOnly } from '../harness/deep-only.ts';
import type { SessionData } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { type AgentReply, Payer } from './payer.ts';
import { testMetrics, testTraces } from './payment-telemetry.ts';
import { life } from './payment-world.ts';

interface Story {
  readonly name: string;
  /** It shows a further kind of what the others show. */
  readonly isDeep?: true;
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

const allStories: readonly Story[] = [
  {
    // proves S1.1, S2.18, S2.19, S3.1, S4.19, S4.20, S6.2, W6.4
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
    isDeep: true,
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
    isDeep: true,
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
    name: 'a checkout session, the payer pays the fee',
    isDeep: true,
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
    isDeep: true,
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
    isDeep: true,
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
    isDeep: true,
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

/** `npm test` has one payment of each kind, and `npm run test:deep` all. */
const stories = allStories.filter(({ isDeep }) => isDeep !== true || deepOnly.skip === false);

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
    addedValue: 0,
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

testMetrics(stories.length);
testTraces();
