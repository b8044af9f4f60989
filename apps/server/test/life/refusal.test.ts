import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { depositWayOf, type PreparedOrder } from '@florin/protocol/checkout-order.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start();
});
after(() => life.close());

async function fundedPayer(): Promise<Payer> {
  const payer = new Payer(life);
  await payer.fund(life.ethereum, life.ethereum.token('usdc'), 50_000_000n);
  return payer;
}

async function receiptStatus(txHash: string): Promise<string | undefined> {
  const receipt = (await life.ethereum.anvil.request('eth_getTransactionReceipt', [txHash])) as {
    status: string;
  } | null;
  return receipt?.status;
}

test('a cancelled session cannot be prepared, and nothing can pay it', async () => {
  const payer = await fundedPayer();
  const sessionId = await checkout(life, 1_000_000);
  const preparation = await payer.preparation(sessionId, life.ethereum.token('usdc'));
  assert.deepEqual(await life.post('/session/checkout/cancel', { sessionId }), { success: true });
  assert.equal((await payer.ask('POST', '/payment/prepare', preparation)).code, 100205);
  assert.equal((await life.session(sessionId)).session.status, 'cancelled');
  assert.equal((await life.call('POST', '/session/checkout/cancel', { sessionId })).code, 100205);
});

// proves S3.4, S7.5, W4.1
test('a session with a signed order cannot be cancelled', async () => {
  const payer = await fundedPayer();
  const sessionId = await checkout(life, 1_000_000);
  await payer.prepare(sessionId, life.ethereum.token('usdc'));
  assert.equal((await life.call('POST', '/session/checkout/cancel', { sessionId })).code, 100207);
  assert.deepEqual(
    [(await life.session(sessionId)).session.signedOnce, (await life.session(sessionId)).session.status],
    [1, 'initialized'],
  );
});

// proves W4.15
test('of two payers of one session exactly one pays, and the money of the other never moves', async () => {
  const token = life.ethereum.token('usdc');
  const payers = [await fundedPayer(), await fundedPayer()];
  const sessionId = await checkout(life, 2_000_000);
  const prepared = await Promise.all(payers.map((payer) => payer.prepare(sessionId, token)));
  const hashes: string[] = [];
  for (const [index, payer] of payers.entries()) {
    const reply = prepared[index];
    assert.ok(reply !== undefined);
    hashes.push(await payer.execute(life.ethereum, reply));
  }
  life.mine();
  await life.sessionIn(sessionId, 'completed');
  await life.pauseMining();
  const statuses = await Promise.all(hashes.map(receiptStatus));
  assert.deepEqual([...statuses].sort(), ['0x0', '0x1']);
  const balances = await Promise.all(payers.map((payer) => life.ethereum.balanceOf(token, payer.address)));
  assert.deepEqual([...balances].sort(), [48_000_000n, 50_000_000n]);
});

// proves W4.17
test('a second payment by the same payer reverts, and prepare says that the session is paid', async () => {
  const token = life.ethereum.token('usdc');
  const payer = await fundedPayer();
  const sessionId = await checkout(life, 3_000_000);
  const prepared = await payer.prepare(sessionId, token);
  await payer.execute(life.ethereum, prepared);
  const again = await payer.preparation(sessionId, token);
  const { txRequest } = prepared.aiView.paymentExecutionGuide.executionRequest;
  const approval = prepared.aiView.paymentExecutionGuide.prerequisites[0];
  assert.ok(approval !== undefined);
  life.mine();
  await life.sessionIn(sessionId, 'completed');
  assert.equal((await payer.ask('POST', '/payment/prepare', again)).code, 100204);
  await payer.send(life.ethereum, approval.txRequest);
  const second = await payer.send(life.ethereum, txRequest);
  assert.equal(
    await life.eventually(
      () => receiptStatus(second),
      (status) => status !== undefined,
      'a receipt',
    ),
    '0x0',
  );
  await life.pauseMining();
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 47_000_000n);
});

test('a payer cannot pay another payer’s order', async () => {
  const token = life.ethereum.token('usdc');
  const [payer, thief] = [await fundedPayer(), await fundedPayer()];
  const sessionId = await checkout(life, 1_000_000);
  const prepared = await payer.prepare(sessionId, token);
  const hash = await thief.execute(life.ethereum, prepared);
  await life.ethereum.anvil.mine();
  assert.equal(await receiptStatus(hash), '0x0');
});

test('any changed byte of the signed order makes the payment revert', async () => {
  const token = life.ethereum.token('usdc');
  const payer = await fundedPayer();
  const sessionId = await checkout(life, 1_000_000);
  const prepared = await payer.prepare(sessionId, token);
  const { txRequest } = prepared.aiView.paymentExecutionGuide.executionRequest;
  // The word of `to`: the fifth of the order, after the selector.
  const start = 2 + 8 + 64 * 4;
  const data = `${txRequest.data.slice(0, start)}${payer.address.slice(2).padStart(64, '0')}${txRequest.data.slice(start + 64)}`;
  const hash = await payer.send(life.ethereum, { ...txRequest, data });
  await life.ethereum.anvil.mine();
  assert.equal(await receiptStatus(hash), '0x0');
});

test('every door refuses our contracts and deposit addresses as payers, and changes nothing', async () => {
  const { origin } = life.options;
  const token = life.ethereum.token('usdc');
  const sessionId = await checkout(life, 1_000_000);
  const asking = async (payer: string) => {
    const response = await fetch(`${origin}/checkout/api/prepare`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId, payer, tokenId: token.tokenId, payerEmail: '' }),
    });
    return (await response.json()) as { code: number; data: PreparedOrder };
  };
  const offering = async (payer: string) =>
    (await (await fetch(`${origin}/aipay/x402/session/${sessionId}?payer=${payer}`)).json()) as {
      code: number;
    };
  const { gateway, vault } = life.ethereum.chain;
  for (const own of [gateway, vault, token.address]) {
    assert.equal((await asking(own)).code, 100611);
    assert.equal((await offering(own)).code, 100611);
  }
  assert.equal((await life.session(sessionId)).session.signedOnce, 0);
  const prepared = await asking(new Payer(life).address);
  const deposit = depositWayOf(prepared.data)?.address;
  assert.ok(deposit !== undefined, 'the payer is offered a deposit address');
  assert.equal((await asking(deposit)).code, 100611);
  assert.equal((await offering(deposit)).code, 100611);
});

// proves S3.3, W4.13
test('an expired session cannot be paid on chain, and closes by the chain’s time', async () => {
  const token = life.ethereum.token('usdc');
  const payer = await fundedPayer();
  const sessionId = await checkout(life, 1_000_000);
  const prepared = await payer.prepare(sessionId, token);
  const guide = prepared.aiView.paymentExecutionGuide;
  const approval = guide.prerequisites[0];
  assert.ok(approval !== undefined);
  await payer.send(life.ethereum, approval.txRequest);
  await life.ethereum.anvil.mine();
  const { expirationTime } = (await life.session(sessionId)).session;
  assert.equal(guide.order.deadline, String(expirationTime));
  // A block at the deadline would still count; the next one is a second later.
  const timestamp = Number(guide.order.deadline) + 1;
  await life.ethereum.anvil.request('evm_setNextBlockTimestamp', [timestamp]);
  const hash = await payer.send(life.ethereum, guide.executionRequest.txRequest);
  await life.ethereum.anvil.mine();
  assert.equal(await receiptStatus(hash), '0x0');
  assert.equal(
    (await life.session(sessionId)).session.status,
    'initialized',
    'not before the block is final',
  );
  life.mine();
  await life.sessionIn(sessionId, 'expired');
  await life.eventOf(sessionId, 'session.expired');
  await life.pauseMining();
  assert.equal(await life.ethereum.balanceOf(token, payer.address), 50_000_000n);
});

// proves W4.14
test('a payment in a block at the deadline still counts', async () => {
  const token = life.ethereum.token('usdc');
  const payer = await fundedPayer();
  const head = (await life.ethereum.anvil.request('eth_getBlockByNumber', ['latest', false])) as {
    timestamp: string;
  };
  // Earlier stories moved the chain's clock ahead, so the deadline is after that time.
  const expirationTime = Math.max(Number(head.timestamp), Math.floor(Date.now() / 1000)) + 3_600;
  const session = await life.post<{ sessionId: string }>('/session/checkout/create', {
    accountId: life.accountId,
    settlementToken: token.tokenId,
    expirationTime,
    lineItems: [
      { itemType: 'one_time', quantity: 1, unitPrice: 1_000_000, productData: { productName: 'Late' } },
    ],
  });
  const prepared = await payer.prepare(session.sessionId, token);
  const guide = prepared.aiView.paymentExecutionGuide;
  assert.equal(guide.order.deadline, String(expirationTime));
  const approval = guide.prerequisites[0];
  assert.ok(approval !== undefined);
  await payer.send(life.ethereum, approval.txRequest);
  await life.ethereum.anvil.mine();
  await life.ethereum.anvil.request('evm_setNextBlockTimestamp', [expirationTime]);
  const hash = await payer.send(life.ethereum, guide.executionRequest.txRequest);
  await life.ethereum.anvil.mine();
  assert.equal(await receiptStatus(hash), '0x1');
  life.mine();
  await life.sessionIn(session.sessionId, 'completed');
  await life.pauseMining();
});
