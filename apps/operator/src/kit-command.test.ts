import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { metaDataOf } from '@florin/kit';
import { metaDataOf as serviceMetaDataOf, systemClock, systemRandom } from '@florin/server/operator';
import { type Contract, Wallet } from 'ethers';
import { runCli } from './cli.ts';
import {
  anvil,
  authorizedCall,
  channelId,
  day,
  deployment,
  done,
  folder,
  gateway,
  idOf,
  idOnChain,
  lineItems,
  makeOrder,
  merchant,
  now,
  otherMerchant,
  pay,
  payer,
  payerAddress,
  permit2Signed,
  permitted,
  receiptFor,
  relayer,
  salt,
  signOrder,
  startKitChain,
  stopKitChain,
  type TestOrder,
  usdc,
} from './kit-chain.fixture.ts';

before(startKitChain);
after(stopKitChain);

interface Found {
  readonly orderId: string;
  readonly way: string;
  readonly status: string;
  readonly order?: Record<string, string>;
  readonly missing?: string;
}

async function kit(command: string, more: Readonly<Record<string, string>> = {}) {
  const values = { rpc: anvil.url, gateway: deployment.gateway, ...more };
  const args = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
  const outside = { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} };
  const result = await runCli(['kit', command, '--json', ...args], outside);
  const json: unknown = result.stdout === '' ? undefined : JSON.parse(result.stdout);
  return { ...result, json };
}

async function find(more: Readonly<Record<string, string>>): Promise<Found[]> {
  return (await kit('find', more)).json as Found[];
}

function printed(order: TestOrder): Record<string, string> {
  return Object.fromEntries(
    Object.entries(order).map(([name, value]) => [name, String(value).toLowerCase()]),
  );
}

test('a payer finds every payment with its whole order, for every payment method', async () => {
  const orders = Array.from({ length: 6 }, () => makeOrder());
  const [plain, permit, authorized, byPermit2, deposit, relayed] = orders;
  assert.ok(plain && permit && authorized && byPermit2 && deposit && relayed);
  await pay(plain);
  const { v, r, s } = await permitted(permit);
  const asPayer = gateway.connect(payer) as Contract;
  await done(asPayer['payWithPermit']?.(permit, await signOrder(permit), v, r, s));
  await done(relayer.sendTransaction({ to: gateway.target, data: await authorizedCall(authorized) }));
  const permitSignature = await permit2Signed(byPermit2);
  await done(gateway['payWithPermit2']?.(byPermit2, await signOrder(byPermit2), 7n, permitSignature));
  const receiver: unknown = await gateway['receiverOf']?.(idOf(deposit));
  await done((usdc.connect(payer) as Contract)['transfer']?.(receiver, deposit.total));
  await done(gateway['collect']?.(deposit, await signOrder(deposit)));
  // A contract that forwards its calldata, as smart accounts and batches do.
  const forwarder = `0x${'f0'.repeat(20)}`;
  await anvil.request('anvil_setCode', [
    forwarder,
    `0x365f5f375f5f365f5f73${deployment.gateway.slice(2)}5af1`,
  ]);
  await done(
    relayer.sendTransaction({ to: forwarder, data: await authorizedCall(relayed), gasLimit: 1_000_000n }),
  );

  const found = await find({ payer: payerAddress });
  assert.deepEqual(
    found.map(({ orderId, way, order, status }) => ({ orderId, way, order, status })),
    ['pay', 'payWithPermit', 'payWithAuthorization', 'payWithPermit2', 'collect', 'other'].map(
      (way, index) => {
        const order = orders[index];
        assert.ok(order !== undefined);
        return { orderId: idOf(order), way, order: printed(order), status: 'paid' };
      },
    ),
  );
  assert.deepEqual(await find({ channel: channelId }), found);
  assert.deepEqual(await find({ recipient: merchant }), found);
  assert.deepEqual(await find({ recipient: otherMerchant }), []);
});

test('an order that its transaction does not contain is reported as missing, and omitted', async () => {
  const order = makeOrder({ to: otherMerchant });
  const data = (await authorizedCall(order)).slice(2);
  const size = (data.length / 2).toString(16).padStart(4, '0');
  // A contract whose code, not its calldata, holds the call.
  const head = `61${size}6026${'5f39'}5f5f61${size}5f5f73${deployment.gateway.slice(2)}5af100`;
  const holder = `0x${'e0'.repeat(20)}`;
  await anvil.request('anvil_setCode', [holder, `0x${head.padEnd(0x26 * 2, '0')}${data}`]);
  await done(relayer.sendTransaction({ to: holder, gasLimit: 1_000_000n }));
  const [found, ...more] = await find({ recipient: otherMerchant });
  assert.deepEqual(more, []);
  const missing =
    'its transaction does not show the whole order: ask the service, or the wallet that made the payment';
  assert.deepEqual({ ...found, block: 0, transaction: '' }.missing, missing);
  const { json } = await kit('settle', { recipient: otherMerchant });
  assert.deepEqual(json, { transactions: [], skipped: [{ orderId: idOf(order), why: missing }] });
});

test('a merchant settles what the service left for a day, and anyone returns it to its payer after its time', async () => {
  const shop = Wallet.createRandom().address;
  const times = { payBy: now + day, reclaimAt: now + 3n * day };
  const orders = [makeOrder({ to: shop }), makeOrder({ to: shop, ...times })];
  const [toSettle, toReclaim] = orders;
  assert.ok(toSettle && toReclaim);
  for (const order of orders) await pay(order);
  const early = await kit('reclaim', { payer: payerAddress, order: idOf(toReclaim) });
  const from = new Date(Number(times.reclaimAt) * 1_000).toISOString();
  assert.deepEqual(early.json, {
    transactions: [],
    skipped: [{ orderId: idOf(toReclaim), why: `it can be reclaimed from ${from} on` }],
  });
  const soon = await kit('settle', { recipient: shop, order: idOf(toSettle) });
  assert.match(JSON.stringify(soon.json), /"why":"only the service can settle it until 20/);
  await anvil.request('evm_increaseTime', [Number(day)]);
  await anvil.mine();
  const shown = await kit('settle', { recipient: shop, order: idOf(toSettle) });
  const data = gateway.interface.encodeFunctionData('settle', [[toSettle]]);
  assert.deepEqual(shown.json, {
    transactions: [{ to: deployment.gateway.toLowerCase(), data, does: 'settles 1 orders' }],
    skipped: [],
  });
  await kit('settle', { recipient: shop, order: idOf(toSettle), 'key-file': join(folder, 'relayer.key') });
  relayer.reset();
  // The command sends, and does not wait for the block.
  await anvil.mine();
  assert.equal(await usdc['balanceOf']?.(shop), 99_800_000n);

  await anvil.request('evm_increaseTime', [2 * Number(day)]);
  await anvil.mine();
  const late = await kit('settle', { recipient: shop, order: idOf(toReclaim) });
  assert.deepEqual(late.json, {
    transactions: [],
    skipped: [{ orderId: idOf(toReclaim), why: `it can only go back to its payer since ${from}` }],
  });
  const before: unknown = await usdc['balanceOf']?.(payerAddress);
  const reclaimed = await kit('reclaim', {
    ...{ payer: payerAddress, order: idOf(toReclaim), 'key-file': join(folder, 'relayer.key') },
  });
  relayer.reset();
  assert.equal(reclaimed.exitCode, 0, reclaimed.stderr);
  await anvil.mine();
  assert.equal(await usdc['balanceOf']?.(payerAddress), BigInt(String(before)) + 100_000_000n);
  assert.deepEqual(
    (await find({ recipient: shop })).map(({ status }) => status),
    ['settled', 'reclaimed'],
  );
});

test('a receipt is valid as long as nothing in it is changed', async () => {
  const metaData = await metaDataOf(lineItems, salt);
  assert.equal(
    metaData,
    serviceMetaDataOf(lineItems as unknown as Parameters<typeof serviceMetaDataOf>[0], salt),
  );
  const order = makeOrder({ metaData });
  const receipt = await receiptFor(order);
  const path = join(folder, 'receipt.json');
  const verify = async (change: object) => {
    writeFileSync(path, JSON.stringify({ ...receipt, ...change }));
    const { json, exitCode } = await kit('verify', { receipt: path });
    const { findings, status, paid } = json as {
      findings: { what: string; isGood: boolean }[];
      status: string;
      paid?: { block: string };
    };
    const wrong = findings.filter(({ isGood }) => !isGood).map(({ what }) => what);
    return { wrong, status, exitCode, isPaid: paid !== undefined };
  };
  const unpaid = ['the chain knows the order as unknown', 'the chain shows its payment'];
  assert.deepEqual(await verify({}), { wrong: unpaid, status: 'unknown', exitCode: 1, isPaid: false });
  await pay(order);
  const good = { wrong: [], status: 'paid', exitCode: 0, isPaid: true };
  assert.deepEqual(await verify({}), good);
  const [item] = lineItems;
  const bad = (wrong: string[]) => ({ ...good, wrong, exitCode: 1 });
  const commitment = "line items and salt give the order's metaData";
  assert.deepEqual(await verify({ lineItems: [{ ...item, quantity: 1 }] }), bad([commitment]));
  assert.deepEqual(await verify({ salt: `0x${'5b'.repeat(32)}` }), bad([commitment]));
  assert.deepEqual(
    await verify({ order: { ...receipt.order, total: '1' } }),
    bad(['the order gives its id']),
  );
  assert.deepEqual(await verify({ chainId: '1' }), bad(['the receipt is of this chain']));
  assert.deepEqual(await verify({ gateway: usdc.target }), bad(['the receipt is of this gateway']));
  await done(gateway['settle']?.([order]));
  assert.deepEqual(await verify({}), { ...good, status: 'settled' });
});

/** The balances of the order's deposit address, and the transactions that the command would send for them. */
async function rescue(
  order: TestOrder,
  more: Readonly<Record<string, string>> = {},
  chainId = anvil.chainId,
) {
  const path = join(folder, 'order.json');
  writeFileSync(path, JSON.stringify({ ...(await receiptFor(order)), chainId: String(chainId) }));
  const result = await kit('rescue', { order: path, ...more });
  const { sent = [] } = (result.json ?? {}) as { sent?: { transaction: string }[] };
  for (const { transaction } of sent) await payer.provider?.waitForTransaction(transaction);
  return result;
}

test('money that cannot pay its order goes from the deposit address to the refund address, from any sender', async () => {
  const refundAddress = Wallet.createRandom().address;
  const order = makeOrder({ payer: refundAddress, payBy: now + 60n * day });
  const receiver = String(await gateway['receiverOf']?.(idOf(order)));
  const asPayer = usdc.connect(payer) as Contract;
  await done(asPayer['transfer']?.(receiver, 7_000_000n));
  await done(relayer.sendTransaction({ to: receiver, value: 5n }));
  const token = String(usdc.target).toLowerCase();
  const coin = `0x${'00'.repeat(20)}`;
  const to = deployment.gateway.toLowerCase();
  const call = (of: string) => gateway.interface.encodeFunctionData('rescue', [order, of]);
  const sends = (what: string) => `sends ${what} to ${refundAddress.toLowerCase()}`;
  const coins = { to, data: call(coin), does: sends("5 of the chain's coin") };
  // Until its deadline the order's token may still be the payment.
  const end = new Date(Number(now + 60n * day) * 1_000).toISOString();
  const why = `7000000 of ${token}: it can still pay the order: the rest can be rescued after ${end}`;
  assert.deepEqual((await rescue(order)).json, {
    transactions: [coins],
    skipped: [{ orderId: idOf(order), why }],
  });
  // After the payment, further money pays nothing.
  await done(asPayer['transfer']?.(receiver, order.total));
  await done(gateway['collect']?.(order, await signOrder(order)));
  const rest = { to, data: call(token), does: sends(`7000000 of ${token}`) };
  assert.deepEqual((await rescue(order)).json, { transactions: [rest, coins], skipped: [] });
  const sent = await rescue(order, { 'key-file': join(folder, 'relayer.key') });
  relayer.reset();
  assert.equal(sent.exitCode, 0, sent.stderr);
  assert.equal(await usdc['balanceOf']?.(refundAddress), 7_000_000n);
  assert.equal(BigInt(String(await anvil.request('eth_getBalance', [refundAddress, 'latest']))), 5n);
  assert.deepEqual((await rescue(order)).json, { transactions: [], skipped: [] });
});

test('late money, other tokens and money for another chain’s order can all be rescued', async () => {
  const refundAddress = Wallet.createRandom().address;
  const late = makeOrder({ payer: refundAddress, payBy: now - 1n });
  const dai = `0x${'da'.repeat(20)}`;
  const asPayer = usdc.connect(payer) as Contract;
  await done(asPayer['transfer']?.(await gateway['receiverOf']?.(idOf(late)), 3n));
  const { json } = await rescue(late, { 'key-file': join(folder, 'relayer.key') });
  relayer.reset();
  assert.equal((json as { sent: unknown[] }).sent.length, 1);
  assert.equal(await usdc['balanceOf']?.(refundAddress), 3n);

  const wrong = makeOrder({ payer: refundAddress, payBy: now + 60n * day, token: dai });
  await done(asPayer['transfer']?.(await gateway['receiverOf']?.(idOf(wrong)), 4n));
  await anvil.request('anvil_setCode', [dai, '0x5f5f5260205ff3']);
  assert.deepEqual((await rescue(wrong)).json, { transactions: [], skipped: [] });
  const found = (await rescue(wrong, { token: String(usdc.target) })).json as { transactions: unknown[] };
  assert.deepEqual(found.transactions, [
    {
      to: deployment.gateway.toLowerCase(),
      data: gateway.interface.encodeFunctionData('rescue', [wrong, usdc.target]),
      does: `sends 4 of ${String(usdc.target).toLowerCase()} to ${refundAddress.toLowerCase()}`,
    },
  ]);

  const elsewhere = makeOrder({ payer: refundAddress, payBy: now + 60n * day });
  const orderId = idOnChain(elsewhere, 8453n);
  await done(asPayer['transfer']?.(await gateway['receiverOf']?.(orderId), 6n));
  const sent = await rescue(elsewhere, { 'key-file': join(folder, 'relayer.key') }, 8453);
  relayer.reset();
  assert.equal(sent.exitCode, 0, sent.stderr);
  assert.equal(await usdc['balanceOf']?.(refundAddress), 9n);
});

test('the answer of prepare is enough to rescue an unpaid order', async () => {
  const refundAddress = Wallet.createRandom().address;
  const order = makeOrder({ payer: refundAddress, payBy: now - 1n });
  const token = String(usdc.target);
  const asPayer = usdc.connect(payer) as Contract;
  await done(asPayer['transfer']?.(await gateway['receiverOf']?.(idOf(order)), 8n));
  const data = gateway.interface.encodeFunctionData('rescue', [order, token]);
  const txRequest = { chainId: String(anvil.chainId), to: deployment.gateway, data, value: '0' };
  const deposit = { method: 'deposit', recovery: { txRequest, after: String(order.payBy) } };
  const alternatives = [{ method: 'eip5792' }, deposit];
  const path = join(folder, 'prepared.json');
  const prepared = { calldata: '0x', aiView: { paymentExecutionGuide: { alternatives } } };
  writeFileSync(path, JSON.stringify(prepared));
  const does = `sends 8 of ${token.toLowerCase()} to ${refundAddress.toLowerCase()}`;
  assert.deepEqual((await kit('rescue', { order: path })).json, {
    transactions: [{ to: deployment.gateway.toLowerCase(), data, does }],
    skipped: [],
  });
  for (const wrong of [undefined, '0x12', `${data}00`]) {
    const spoiled = { ...deposit, recovery: { txRequest: { ...txRequest, data: wrong } } };
    writeFileSync(path, JSON.stringify({ aiView: { paymentExecutionGuide: { alternatives: [spoiled] } } }));
    assert.equal((await kit('rescue', { order: path })).exitCode, 1);
  }
});

test('a file that is not an order is refused', async () => {
  const path = join(folder, 'no-order.json');
  writeFileSync(path, JSON.stringify({ chainId: '1', order: { total: '1' } }));
  const { json, exitCode } = await kit('rescue', { order: path });
  const reason =
    'this is not an order: an answer of prepare with a deposit address, or chainId and an order with its thirteen members';
  assert.deepEqual(
    { json, exitCode },
    { json: { error: { slug: 'failed', message: `${path} is not a valid order: ${reason}` } }, exitCode: 1 },
  );
});

test('a direct order is settled by the transaction that paid it', async () => {
  const metaData = await metaDataOf(lineItems, `0x${'5d'.repeat(32)}`);
  const order = makeOrder({ metaData, orderType: 1n });
  await pay(order);
  const path = join(folder, 'direct.json');
  writeFileSync(path, JSON.stringify({ ...(await receiptFor(order)), salt: `0x${'5d'.repeat(32)}` }));
  const { json } = await kit('verify', { receipt: path });
  const { status, paid, closed, isValid } = json as Record<string, unknown>;
  assert.deepEqual({ status, isValid, closed }, { status: 'settled', isValid: true, closed: paid });
});

test('an address without a gateway is refused', async () => {
  const { json, exitCode } = await kit('find', { gateway: String(usdc.target), payer: payerAddress });
  assert.deepEqual(
    { json, exitCode },
    {
      json: {
        error: { slug: 'failed', message: `there is no Florin gateway at ${usdc.target} on chain 31337` },
      },
      exitCode: 1,
    },
  );
});
