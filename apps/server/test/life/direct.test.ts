import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { PaymentAlternative } from '@florin/protocol/agent-view.ts';
import { checkoutApi } from '@florin/protocol/checkout-api.ts';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import { permissions } from '@florin/protocol/permission.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { Florin, usd } from '@florin/sdk';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { JsonRpcProvider } from 'ethers';
import { createWalletClient, encodeFunctionData, erc20Abi, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { ledgerBalances, ledgerSums } from '#ledger/entry.ts';
import { updateAccount } from '#merchants/account.ts';
import { createApiKey } from '#merchants/api-key.ts';
import { findOrder } from '#orders/order.ts';
import type { BooksStatus } from '#reconcile/status.ts';
import { startService } from '../../src/service/service.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import { type AgentReply, alternative, Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

const price = 5_000_000n;
/** 2,000 ppm of the price. */
const fee = 10_000n;

let life: Life;
before(async () => {
  life = await Life.start((options) => startService({ ...options, reconcileIntervalMs: 150 }));
  await choose('direct');
  life.mine();
});
after(() => life.close());

async function choose(settlementMode: 'direct' | 'escrow' | ''): Promise<void> {
  const { merchantId, accountId, options } = life;
  await life.database.db.transaction((transaction) =>
    updateAccount(transaction, options, { merchantId, accountId, settlementMode }),
  );
}

const legsOfSession = statement({
  name: 'story_legs_of_session',
  parameters: { sessionId: 'text' },
  columns: { legs: 'int8' },
  text: 'select count(*) as legs from settlements where session_id = :sessionId',
});

// PostgreSQL records in each row the transaction that made it.
const transactionsOfEvents = statement({
  name: 'story_transactions_of_events',
  parameters: { objectId: 'text', eventTypes: 'text[]' },
  columns: { count: 'int8' },
  text: 'select count(distinct xmin::text) as count from events where object_id = :objectId and event_type = any (:eventTypes)',
});

async function legsOf(sessionId: string): Promise<bigint | undefined> {
  const [row] = await life.database.db.query(legsOfSession, { sessionId });
  return row?.legs;
}

function typesOf(sessionId: string): string[] {
  return life.eventsOf(sessionId).map(({ type }) => type);
}

async function orderTypeOf(orderId: string): Promise<number | undefined> {
  return (await findOrder(life.database.db, orderId))?.order.orderType;
}

async function preparedType(prepared: AgentReply): Promise<number | undefined> {
  return orderTypeOf(prepared.aiView.paymentExecutionGuide.order.orderId);
}

async function fundedPayer(chain = life.ethereum): Promise<Payer> {
  const payer = new Payer(life);
  await payer.fund(chain, chain.token('usdc'), price);
  return payer;
}

/** A stock x402 client with a new wallet. */
function x402Client() {
  const account = privateKeyToAccount(generatePrivateKey());
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'eip155:31337', client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  });
  return { payer: account.address, pay };
}

async function submitted(payer: Payer, offered: PaymentAlternative): Promise<void> {
  const { path, body } = await payer.signed(offered);
  const reply = await payer.ask('POST', path, body);
  assert.equal(reply.code, 0, JSON.stringify(reply));
}

/** Ways to pay a direct order; each resolves when the payment is under way. */
type Pay = (payer: Payer, prepared: AgentReply) => Promise<unknown>;
const ways: readonly (readonly [name: string, pay: Pay])[] = [
  // proves W4.8
  ['transaction', (payer, prepared) => payer.execute(life.ethereum, prepared)],
  ['eip3009', (payer, prepared) => submitted(payer, alternative(prepared, 'eip3009'))],
  [
    'permit2',
    async (payer, prepared) => {
      const { calls = [] } = alternative(prepared, 'permit2');
      for (const call of calls) await payer.send(life.ethereum, call);
      await submitted(payer, alternative(prepared, 'permit2'));
    },
  ],
  [
    'deposit',
    async (payer, prepared) => {
      const token = life.ethereum.token('usdc');
      const { address = '' } = alternative(prepared, 'deposit');
      const data = encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [address as Hex, price],
      });
      const call = { chainId: String(token.chainId), to: token.address, data, value: '0' };
      await payer.send(life.ethereum, call);
    },
  ],
];

for (const [way, pay] of ways) {
  test(
    `a direct payment by ${way} is paid and completed at once, with one transaction`,
    way === 'transaction' ? {} : deepOnly,
    async () => {
      const token = life.ethereum.token('usdc');
      const payer = await fundedPayer();
      const before = await life.ethereum.balanceOf(token, life.merchantWallet);
      const inGateway = await life.ethereum.balanceOf(token, life.ethereum.chain.gateway);
      const sessionId = await checkout(life, Number(price));
      await pay(payer, await payer.prepare(sessionId, token));
      const { session, transaction } = await life.sessionIn(sessionId, 'completed');
      const events = await life.eventOf(sessionId, 'session.completed');

      assert.deepEqual(
        events.map(({ sequence, type }) => `${sequence} ${type}`),
        ['1 session.created', '2 session.payment_detected', '3 session.paid', '4 session.completed'],
      );
      const both = { objectId: sessionId, eventTypes: ['session.paid', 'session.completed'] };
      assert.deepEqual(await life.database.db.query(transactionsOfEvents, both), [{ count: 1n }]);
      assert.equal(session.completeTx, session.initiateTx);
      assert.notEqual(session.completeTx, '');
      assert.deepEqual(
        [transaction?.sourceTx, transaction?.targetTx, transaction?.totalValue, transaction?.netValue],
        [session.initiateTx, session.initiateTx, Number(price), Number(price - fee)],
      );
      assert.equal(await orderTypeOf(transaction?.orderId ?? ''), orderKinds.direct);
      assert.equal(await legsOf(sessionId), 0n);
      assert.equal(await life.ethereum.balanceOf(token, life.merchantWallet), before + price - fee);
      assert.equal(await life.ethereum.balanceOf(token, life.ethereum.chain.gateway), inGateway);
      assert.equal(await life.ethereum.balanceOf(token, payer.address), 0n);
    },
  );
}

// proves W4.8
test('a direct payment in a block that is not final pays nothing, and a reorg can remove it', async () => {
  const token = life.ethereum.token('usdc');
  const { anvil } = life.ethereum;
  const payer = await fundedPayer();
  const sessionId = await checkout(life, Number(price));
  const prepared = await payer.prepare(sessionId, token);
  await life.pauseMining();
  const held = await life.ethereum.balanceOf(token, life.merchantWallet);
  const hash = await payer.execute(life.ethereum, prepared);
  await anvil.mine();
  const seen = (initiateTx: string) =>
    life.eventually(
      () => life.session(sessionId),
      ({ session }) => session.initiateTx === initiateTx,
      `initiateTx ${initiateTx}`,
    );
  const { session, transaction } = await seen(hash);
  assert.deepEqual([session.status, session.completeTx, transaction], ['initialized', '', undefined]);
  const raw = await anvil.request('eth_getRawTransactionByHash', [hash]);
  await anvil.request('anvil_reorg', [1, []]);
  assert.equal((await seen('')).session.status, 'initialized');
  assert.equal(await life.ethereum.balanceOf(token, life.merchantWallet), held);

  // The node forgot both transactions; the payer's wallet resends them.
  const [approval] = prepared.aiView.paymentExecutionGuide.prerequisites;
  assert.ok(approval !== undefined);
  await payer.send(life.ethereum, approval.txRequest);
  await anvil.request('eth_sendRawTransaction', [raw]);
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  await life.eventOf(sessionId, 'session.completed');
  assert.deepEqual([done.session.initiateTx, done.session.completeTx], [hash, hash]);
  assert.deepEqual(typesOf(sessionId), [
    'session.created',
    'session.payment_detected',
    'session.payment_detected',
    'session.paid',
    'session.completed',
  ]);
});

test('once a direct order is signed, no other chain gets one, and its own chain pays once', async () => {
  const usdc = life.ethereum.token('usdc');
  const sessionId = await checkout(life, Number(price));
  const [first, second] = [await fundedPayer(), await fundedPayer()];
  const prepared = [await first.prepare(sessionId, usdc), await second.prepare(sessionId, usdc)];
  for (const each of prepared) assert.equal(await preparedType(each), orderKinds.direct);
  const elsewhere = await fundedPayer(life.base);
  const refused = await elsewhere.ask(
    'POST',
    '/payment/prepare',
    await elsewhere.preparation(sessionId, life.base.token('usdc')),
  );
  assert.deepEqual(
    [refused.code, refused.message],
    [
      100_612,
      'Payment method not available: a payment straight to the merchant can still be made on another chain',
    ],
  );
  const shown = await fetch(`${life.options.origin}${checkoutApi.basePath}/session/${sessionId}`);
  const { data } = (await shown.json()) as { data: { options: { tokenId: string }[] } };
  assert.deepEqual(
    data.options.map(({ tokenId }) => tokenId),
    ['ethereum::usdc', 'ethereum::usdt'],
    'the page offers this chain alone',
  );
  // An order in another token of the chain is held too. It shares the key that the contract accepts only once.
  const usdt = life.ethereum.token('usdt');
  const third = new Payer(life);
  await third.fund(life.ethereum, usdt, price);
  const other = await third.prepare(sessionId, usdt);
  assert.equal(await preparedType(other), orderKinds.vaultPayout);
  const everyone = [
    { payer: first, token: usdc, order: prepared[0] },
    { payer: second, token: usdc, order: prepared[1] },
    { payer: third, token: usdt, order: other },
  ];
  await life.pauseMining();
  for (const { payer, order } of everyone) {
    assert.ok(order !== undefined);
    await payer.execute(life.ethereum, order);
  }
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  const balances = await Promise.all(
    everyone.map(({ payer, token }) => life.ethereum.balanceOf(token, payer.address)),
  );
  assert.deepEqual(
    everyone.filter((_, index) => balances[index] === 0n).map(({ payer }) => payer.address),
    [done.session.payer],
  );
  assert.equal(balances.filter((balance) => balance === price).length, 2);
});

// proves W4.9
test(
  'while another chain has a payable order, the payment is held, and a second payment goes back',
  deepOnly,
  async () => {
    const sessionId = await checkout(life, Number(price));
    const [elsewhere, payer] = [await fundedPayer(life.base), await fundedPayer()];
    const across = await elsewhere.prepare(sessionId, life.base.token('usdc'));
    assert.equal(await preparedType(across), orderKinds.vaultPayout);
    const held = await payer.prepare(sessionId, life.ethereum.token('usdc'));
    assert.equal(await preparedType(held), orderKinds.escrow);
    await life.pauseMining();
    await payer.execute(life.ethereum, held);
    await elsewhere.execute(life.base, across);
    life.mine();
    await life.sessionIn(sessionId, 'completed');
    await life.eventually(
      async () => [
        await life.ethereum.balanceOf(life.ethereum.token('usdc'), payer.address),
        await life.base.balanceOf(life.base.token('usdc'), elsewhere.address),
      ],
      (balances) => balances.filter((balance) => balance === price).length === 1,
      'one of two payments to come back',
    );
  },
);

/** A restricted key as docs/guide/go-live.md has it made. */
async function guideKey(): Promise<string> {
  const guide = readFileSync(new URL('../../../../docs/guide/go-live.md', import.meta.url), 'utf8');
  const named = guide.match(/\*\*Key\.\*\*[^.]*\./)?.[0] ?? '';
  const granted = permissions.filter((permission) => named.includes(`\`${permission}\``));
  const { key } = await life.database.db.transaction((transaction) =>
    createApiKey(transaction, life.options, {
      ...{ merchantId: life.merchantId, kind: 'restricted', permissions: granted },
    }),
  );
  return key;
}

test(
  'the key of the guide sells, and the merchant’s wallet gives a direct payment back in parts',
  deepOnly,
  async () => {
    const token = life.ethereum.token('usdc');
    const payer = await fundedPayer();
    const florin = new Florin(await guideKey(), { baseUrl: life.options.origin });
    const { sessionId } = await florin.checkout.sessions.create({
      settlementToken: token.tokenId,
      lineItems: [{ name: 'Tea', price: usd('5'), quantity: 1 }],
    });
    await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
    await life.sessionIn(sessionId, 'completed');
    const { wallet, address } = new Payer(life);
    await life.ethereum.mint(token, address, price);
    await life.ethereum.anvil.request('anvil_setBalance', [address, '0x56bc75e2d63100000']);
    const { url } = life.ethereum.anvil;
    assert.equal((await florin.sessions.retrieve(sessionId)).session.status, 'completed');
    const account = privateKeyToAccount(wallet.privateKey as Hex);
    for (const [amount, isBack, signer] of [
      [usd('2'), 2_000_000n, createWalletClient({ account, transport: http(url) })],
      [usd('3'), price, wallet.connect(new JsonRpcProvider(url, undefined, { cacheTimeout: -1 }))],
    ] as const) {
      const refund = await florin.refunds.create({ sessionId, amount });
      assert.equal(refund.status, 'requires_signature');
      const { txHash } = await refund.send(signer, { from: address, pollMs: 50 });
      assert.match(txHash, /^0x[0-9a-f]{64}$/);
      await life.eventually(
        () => life.get<Refund>(`/refund/${refund.refundId}`),
        ({ status }) => status === 'completed',
        'a completed refund',
      );
      assert.equal(await life.ethereum.balanceOf(token, payer.address), isBack);
    }
    const over = await life.call('POST', '/refund/create', { sessionId, amount: 1 });
    assert.equal(over.code, 100_701);
  },
);

test(
  'payments to the x402 address and in other tokens are held, and those of an escrow account from its next order on',
  deepOnly,
  async () => {
    const token = life.ethereum.token('usdc');
    const { payer, pay } = x402Client();
    await life.ethereum.mint(token, payer, price);
    const byAddress = await checkout(life, Number(price));
    await pay(`${life.options.origin}/aipay/x402/session/${byAddress}?payer=${payer}`);
    const { transaction } = await life.sessionIn(byAddress, 'completed');
    assert.equal(await orderTypeOf(transaction?.orderId ?? ''), orderKinds.escrow);

    const sessionId = await checkout(life, Number(price));
    await choose('escrow');
    const escrowed = await fundedPayer();
    const prepared = await escrowed.prepare(sessionId, token);
    assert.equal(await preparedType(prepared), orderKinds.escrow);
    await escrowed.execute(life.ethereum, prepared);
    await life.sessionIn(sessionId, 'completed');
    await life.eventOf(sessionId, 'session.completed');
    assert.ok(typesOf(sessionId).includes('session.settling'));
    await choose('direct');
  },
);

// proves W4.7
test('an account without a settlement mode follows the configuration', deepOnly, async () => {
  await choose('');
  const token = life.ethereum.token('usdc');
  const [sessionId, payer] = [await checkout(life, Number(price)), new Payer(life)];
  assert.equal(await preparedType(await payer.prepare(sessionId, token)), orderKinds.escrow);
  await life.stopService();
  (life.options.settlement as { mode?: string }).mode = 'direct';
  await life.startService();
  assert.equal(await preparedType(await payer.prepare(sessionId, token)), orderKinds.direct);
});

test('the books of direct payments sum to zero and agree with the chains', async () => {
  const sums = await ledgerSums(life.database.db);
  assert.deepEqual(
    sums.filter(({ total }) => total !== 0n),
    [],
  );
  const heads = new Map<string, bigint>();
  for (const { anvil, chain } of [life.ethereum, life.base])
    heads.set(chain.name, BigInt((await anvil.request('eth_blockNumber')) as Hex));
  const status = await life.eventually(
    async () => (await (await fetch(`${life.options.origin}/status`)).json()) as BooksStatus,
    ({ chains }) =>
      chains.every(({ chain, reconciledBlock }) => BigInt(reconciledBlock ?? '0') > (heads.get(chain) ?? 0n)),
    'a look at the books',
  );
  assert.equal(status.isBalanced, true);
  const owed = (await ledgerBalances(life.database.db)).filter(({ account }) =>
    account.startsWith('merchant:'),
  );
  assert.deepEqual(owed, []);
});
