import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openHttpRpc } from '@florin/evm';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import { encodeFunctionData } from 'viem';
import { ledgerBalances } from '#ledger/entry.ts';
import { receiverOf } from '#orders/receiver.ts';
import { hasReturnedNothing, returnReader } from '#refunds/signing.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { type AgentReply, alternative, Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start();
  life.mine();
});
after(() => life.close());

interface Submitted extends AgentReply {
  readonly txHash: string;
  readonly status: string;
}

const submit = async (payer: Payer, { path, body }: { path: string; body: object }) =>
  (await payer.ask('POST', path, body)) as Submitted;

const coinOf = async (chain: LifeChain, address: Hex) =>
  BigInt((await chain.anvil.request('eth_getBalance', [address, 'latest'])) as Hex);

// proves W8.1
test('a payer without gas pays by one signature, and repeats of it are one payment', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await life.ethereum.mint(token, payer.address, 5_000_000n);
  const sessionId = await checkout(life, 5_000_000);
  const request = await payer.signed(alternative(await payer.prepare(sessionId, token), 'eip3009'));
  const replies = await Promise.all(Array.from({ length: 8 }, () => submit(payer, request)));
  assert.deepEqual([...new Set(replies.map(({ code }) => code))], [0]);
  assert.equal(new Set(replies.map(({ txHash }) => txHash)).size, 1);
  assert.deepEqual([replies[0]?.sessionId, replies[0]?.status], [sessionId, 'submitted']);

  const done = await life.sessionIn(sessionId, 'completed');
  assert.deepEqual([done.session.payer, done.transaction?.sourceTx], [payer.address, replies[0]?.txHash]);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 0n);
  assert.equal(await coinOf(life.ethereum, payer.address), 0n);
  const late = await life.eventually(
    () => submit(payer, request),
    ({ status }) => status !== 'submitted',
    'the end of the submission',
  );
  assert.deepEqual([late.code, late.txHash, late.status], [0, replies[0]?.txHash, 'succeeded']);
});

test('a token without its own signatures is paid through Permit2, which may take exactly the amount', async () => {
  const token = life.ethereum.token('usdt');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 9_000_000n);
  const sessionId = await checkout(life, 4_000_000, 'ethereum::usdt');
  const first = await payer.prepare(sessionId, token);
  const { gasless, calls = [] } = alternative(first, 'permit2');
  assert.deepEqual([gasless, calls.length], [false, 1]);
  for (const call of calls) await payer.send(life.ethereum, call);
  const standing = await life.eventually(
    () => payer.prepare(sessionId, token),
    (prepared) => alternative(prepared, 'permit2').gasless,
    'an allowance of Permit2',
  );
  assert.equal(
    standing.aiView.paymentExecutionGuide.order.orderId,
    first.aiView.paymentExecutionGuide.order.orderId,
  );
  const reply = await submit(payer, await payer.signed(alternative(standing, 'permit2')));
  assert.equal(reply.code, 0, reply.message);
  await life.sessionIn(sessionId, 'completed');
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 5_000_000n);
});

/** Pays by Permit2, with its approval first; returns the gas of the service's transaction. */
async function gasByPermit2(payer: Payer, price: number): Promise<number> {
  const token = life.ethereum.token('usdt');
  const sessionId = await checkout(life, price, 'ethereum::usdt');
  const { calls = [] } = alternative(await payer.prepare(sessionId, token), 'permit2');
  for (const call of calls) await payer.send(life.ethereum, call);
  const prepared = await life.eventually(
    () => payer.prepare(sessionId, token),
    (found) => alternative(found, 'permit2').gasless,
    'an allowance of Permit2',
  );
  const reply = await submit(payer, await payer.signed(alternative(prepared, 'permit2')));
  assert.equal(reply.code, 0, reply.message);
  await life.sessionIn(sessionId, 'completed');
  const receipt = await life.ethereum.anvil.request('eth_getTransactionReceipt', [reply.txHash]);
  return Number((receipt as { gasUsed: string }).gasUsed);
}

test(
  'every payment through Permit2 after a payer’s first costs less, because its nonce word is already in use',
  deepOnly,
  async () => {
    const payer = new Payer(life);
    await payer.fund(life.ethereum, life.ethereum.token('usdt'), 9_000_000n);
    const first = await gasByPermit2(payer, 4_000_000);
    const second = await gasByPermit2(payer, 4_000_000);
    // A word that was empty costs 22,100 gas, one in use 5,000; calldata differs by some bytes.
    assert.ok(first - second > 15_000, `${first} and ${second} gas`);
  },
);

// proves W8.1
test('a signature and a transaction for one order in the same block pay it once', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 12_000_000n);
  const sessionId = await checkout(life, 6_000_000);
  const prepared = await payer.prepare(sessionId, token);
  const request = await payer.signed(alternative(prepared, 'eip3009'));
  await life.pauseMining();
  assert.equal((await submit(payer, request)).code, 0);
  const guide = prepared.aiView.paymentExecutionGuide;
  const priorityFee = 50_000_000_000n;
  for (const { txRequest } of [...guide.prerequisites, guide.executionRequest])
    await payer.send(life.ethereum, txRequest, { priorityFee });
  life.mine();
  const done = await life.sessionIn(sessionId, 'completed');
  assert.equal(done.session.payer, payer.address);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 6_000_000n);
  const after = await life.eventually(
    () => submit(payer, request),
    ({ status }) => status !== 'submitted',
    'the end of the submission',
  );
  // The payment failed on the chain, so it is refused like any other payment of a paid session.
  assert.equal(after.code, 100204);
});

// proves W7.1
test('a payment that a signature cannot make is refused before anything is sent', async () => {
  const [usdc, usdt] = [life.ethereum.token('usdc'), life.ethereum.token('usdt')];
  const payer = new Payer(life);
  const sessionId = await checkout(life, 3_000_000);
  const prepared = await payer.prepare(sessionId, usdc);
  const request = await payer.signed(alternative(prepared, 'eip3009'));
  assert.equal((await submit(payer, request)).code, 100611);
  const foreign = await new Payer(life).signed(alternative(prepared, 'eip3009'));
  assert.equal((await submit(payer, foreign)).code, 100601);
  const overUsdt = await checkout(life, 3_000_000, 'ethereum::usdt');
  const { orderId } = (await payer.prepare(overUsdt, usdt)).aiView.paymentExecutionGuide.order;
  const body = { ...request.body, sessionId: overUsdt, orderId };
  assert.equal((await submit(payer, { ...request, body })).code, 100612);
  const mixedUp = { ...request.body, sessionId: overUsdt };
  assert.equal((await submit(payer, { ...request, body: mixedUp })).code, 400101);
  const small = await checkout(life, 500_000);
  const unworthy = await payer.prepare(small, usdc);
  assert.throws(() => alternative(unworthy, 'eip3009'), /is not offered/);
  assert.equal(
    (await submit(payer, { ...request, body: { ...request.body, sessionId: 'sess_x' } })).code,
    100201,
  );
});

test('the deposit address of an order is the one that its gateway computes', async () => {
  const token = life.base.token('usdc');
  const prepared = await new Payer(life).prepare(await checkout(life, 1_000_000, 'base::usdc'), token);
  const orderId = prepared.aiView.paymentExecutionGuide.order.orderId as Hex;
  const { gateway } = life.base.chain;
  const data = encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'receiverOf', args: [orderId] });
  const answer = (await life.base.anvil.request('eth_call', [{ to: gateway, data }, 'latest'])) as string;
  assert.equal(receiverOf(gateway, orderId).toLowerCase(), `0x${answer.slice(26)}`);
});

/** The service's assets and debts: a refund from the merchant's own money changes none of them. */
async function ownBooks() {
  const balances = await ledgerBalances(life.database.db);
  return balances.filter(({ account }) => /^(gateway|merchant|fees|vault|float)\b/.test(account));
}

// proves W9.6
test('after the settlement the merchant’s wallet can give the payer part of the payment back', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 8_000_000n);
  const sessionId = await checkout(life, 8_000_000);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, token));
  await life.sessionIn(sessionId, 'completed');
  const books = await ownBooks();
  const refund = await life.post<Refund>('/refund/create', { sessionId, amount: 3_000_000 });
  assert.equal(refund.status, 'requires_signature');

  const wallet = new Payer(life);
  await wallet.fund(life.ethereum, token, 3_000_000n);
  const requests = [...(refund.prerequisites ?? []).map(({ txRequest }) => txRequest), refund.txRequest];
  for (const request of requests) if (request !== undefined) await wallet.send(life.ethereum, request);
  const completed = await life.eventually(
    () => life.get<Refund>(`/refund/${refund.refundId}`),
    ({ status }) => status === 'completed',
    'a completed refund',
  );
  assert.match(completed.txHash, /^0x[0-9a-f]{64}$/);
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 3_000_000n);
  const { session } = await life.get<{ session: { status: string; refundedAmount: number } }>(
    `/session/${sessionId}`,
  );
  assert.deepEqual([session.status, session.refundedAmount], ['completed', 3_000_000]);
  assert.deepEqual(await ownBooks(), books);

  // What a page tells of its wallet is compared with the chain.
  const { chains, clock, log } = life.options;
  const { chainId, rpcUrls: urls } = life.ethereum.chain;
  const rpc = openHttpRpc({ chainId, urls, clock, log });
  const rpcOf = () => rpc;
  const told = (txHash: string) =>
    hasReturnedNothing(life.database.db, { chains, rpcOf }, { orderId: refund.orderId, txHash });
  const { initiateTx } = (await life.session(sessionId)).session;
  assert.deepEqual(
    [await told(completed.txHash), await told(initiateTx), await told(`0x${'1'.repeat(64)}`), await told('')],
    [false, true, false, false],
  );
  // Of members who look again and again, one asks the chain in five seconds.
  let time = Date.now();
  const asked: number[] = [];
  const read = returnReader({
    ...{ chains, clock: { now: () => new Date(time) } },
    rpcOf: (id) => {
      asked.push(id);
      return rpc;
    },
  });
  const look = () => read(life.database.db, { orderId: refund.orderId, txHash: initiateTx });
  assert.deepEqual([await look(), await look(), asked.length], [true, true, 1]);
  time += 5_000;
  assert.deepEqual([await look(), asked.length], [true, 2]);
  await rpc.close();
});
