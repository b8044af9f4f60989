import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { metaDataOf } from '@florin/kit';
import { receipt as receiptSchema } from '@florin/protocol/checkout-order.ts';
import { systemClock, systemRandom } from '@florin/server/operator';
import { runCli } from './cli.ts';
import {
  anvil,
  deployment,
  done,
  folder,
  gateway,
  idOf,
  lineItems,
  makeOrder,
  pay,
  receiptFor,
  startKitChain,
  stopKitChain,
} from './kit-chain.fixture.ts';

before(startKitChain);
after(stopKitChain);

interface Verdict {
  readonly isValid: boolean;
  readonly unvouched: readonly string[];
  readonly unknownVia?: string;
  readonly findings: readonly { readonly what: string; readonly isGood: boolean }[];
}

async function verify(receipt: unknown, where: Readonly<Record<string, string>>) {
  const path = join(folder, 'receipt.json');
  writeFileSync(path, JSON.stringify(receipt));
  const args = Object.entries({ receipt: path, ...where }).flatMap(([name, value]) => [`--${name}`, value]);
  const outside = { environment: {}, clock: systemClock, random: systemRandom, folder: '/', tell: () => {} };
  const { stdout, exitCode } = await runCli(['kit', 'verify', '--json', ...args], outside);
  return {
    exitCode,
    verdict: verdictOf(JSON.parse(stdout)),
    text: async () => (await runCli(['kit', 'verify', ...args], outside)).stdout,
  };
}

/** What was found; undefined where the receipt was refused. */
function verdictOf(printed: unknown): Verdict | undefined {
  return typeof printed === 'object' && printed !== null && 'error' in printed
    ? undefined
    : (printed as Verdict);
}

async function seenIn(event: string, orderId: string): Promise<{ transaction: string; time: string }> {
  const [log] = await gateway.queryFilter(gateway.filters[event]?.(orderId) ?? event);
  assert.ok(log !== undefined);
  const { timestamp } = await log.getBlock();
  return { transaction: log.transactionHash, time: new Date(timestamp * 1_000).toISOString() };
}

/** A receipt with every field of the service, for a paid and settled order. */
async function wholeReceipt(salt: string) {
  const order = makeOrder({ metaData: await metaDataOf(lineItems, salt) });
  const orderId = await pay(order);
  await done(gateway['settle']?.([order]));
  const paid = await seenIn('Paid', orderId);
  const settled = await seenIn('Settled', orderId);
  const ids = { receiptId: 'rcpt_1', sessionId: 'sess_1', payerEmail: 'payer@example.com' };
  const said = { ...ids, merchantName: 'Demo Shop', legalName: 'Demo Shop Ltd' };
  const seen = { paidAt: paid.time, sourceTx: paid.transaction, targetTx: settled.transaction };
  const receipt = { ...(await receiptFor(order)), salt, ...said, ...seen };
  assert.equal(receipt.orderId, idOf(order));
  return receipt;
}

/** Every other value that this member could have. */
function forge(value: unknown): unknown[] {
  if (typeof value === 'number') return [value + 1, String(value)];
  if (typeof value === 'string') {
    const last = value.at(-1) === '1' ? '2' : '1';
    return ['', `${value}1`, `${value.slice(0, -1)}${last}`];
  }
  if (Array.isArray(value)) {
    const changed = value.flatMap((item, at) => forge(item).map((other) => value.with(at, other)));
    return [[], [...value, ...value], ...changed];
  }
  const members = Object.entries(value as Record<string, unknown>);
  const changed = members.flatMap(([name, member]) =>
    forge(member).map((other) => ({ ...(value as object), [name]: other })),
  );
  return [{ ...(value as object), note: 'added' }, ...changed];
}

test('every forged field of a receipt is refused, or listed as unconfirmed', async () => {
  const receipt = await wholeReceipt(`0x${'7a'.repeat(32)}`);
  assert.deepEqual(Object.keys(receipt).sort(), Object.keys(receiptSchema.properties).sort());
  const onChain = { rpc: anvil.url, gateway: deployment.gateway };
  const only = ['legalName', 'merchantName', 'payerEmail', 'receiptId', 'sessionId'];
  for (const [where, unvouched] of [
    [onChain, only],
    [{}, [...only, 'paidAt', 'sourceTx', 'targetTx'].sort()],
  ] as const) {
    const honest = await verify(receipt, where);
    const text = await honest.text();
    assert.equal(honest.exitCode, 0, text);
    assert.deepEqual([...(honest.verdict?.unvouched ?? [])].sort(), unvouched);
    for (const name of unvouched) assert.match(text, new RegExp(`^not vouched for: .*\\b${name}\\b`, 'm'));
    for (const [name, value] of Object.entries(receipt)) {
      for (const other of forge(value)) {
        const { exitCode, verdict } = await verify({ ...receipt, [name]: other }, where);
        const isNamed = verdict?.unvouched.includes(name) === true;
        assert.ok(exitCode === 1 || isNamed, `${name} may be ${JSON.stringify(other)}`);
        if (unvouched.includes(name)) assert.equal(exitCode, 0);
      }
    }
  }
});

test('an unknown field is listed as unconfirmed', async () => {
  const receipt = { ...(await wholeReceipt(`0x${'7b'.repeat(32)}`)), refundedTo: 'me' };
  const { verdict } = await verify(receipt, {});
  assert.ok(verdict?.unvouched.includes('refundedTo'));
});

test('without a node a receipt is checked by itself only, and no payment is claimed', async () => {
  const receipt = await wholeReceipt(`0x${'7c'.repeat(32)}`);
  const honest = await verify(receipt, {});
  assert.equal(honest.exitCode, 0);
  const text = await honest.text();
  assert.match(
    text,
    /^the receipt is consistent; only its chain can show whether it was paid: give --rpc and --gateway$/m,
  );
  assert.doesNotMatch(text, /holds|settled/);
});

test('one chain does not confirm the transaction of a settlement on another', async () => {
  const salt = `0x${'7d'.repeat(32)}`;
  const order = makeOrder({
    metaData: await metaDataOf(lineItems, salt),
    ...{ orderType: 2n, targetChain: 10n, via: deployment.vault },
  });
  const orderId = await pay(order);
  const { transaction, time } = await seenIn('Paid', orderId);
  const receipt = { ...(await receiptFor(order)), salt, paidAt: time, sourceTx: transaction };
  const where = { rpc: anvil.url, gateway: deployment.gateway };
  const { verdict, exitCode } = await verify({ ...receipt, targetTx: `0x${'ab'.repeat(32)}` }, where);
  assert.deepEqual([exitCode, verdict?.unvouched], [0, ['targetTx']]);
});

test('an order that leaves through a contract that the operator does not publish is refused', async () => {
  const salt = `0x${'7e'.repeat(32)}`;
  const metaData = await metaDataOf(lineItems, salt);
  const order = makeOrder({ metaData, orderType: 2n, targetChain: 10n, via: deployment.vault });
  const receipt = { ...(await receiptFor(order)), salt };
  const finding = 'the order leaves through a published contract';
  const judged = async (where: Readonly<Record<string, string>>) => {
    const { exitCode, verdict } = await verify(receipt, where);
    const isGood = verdict?.findings.find(({ what }) => what === finding)?.isGood;
    return { exitCode, isGood, unknownVia: verdict?.unknownVia };
  };
  const vault = deployment.vault.toLowerCase();
  assert.deepEqual(await judged({}), { exitCode: 0, isGood: undefined, unknownVia: vault });
  const published = { via: `${deployment.gateway}, ${deployment.vault}` };
  assert.deepEqual(await judged(published), { exitCode: 0, isGood: true, unknownVia: undefined });
  const others = { via: deployment.gateway };
  assert.deepEqual(await judged(others), { exitCode: 1, isGood: false, unknownVia: undefined });
  assert.match(
    await (await verify(receipt, {})).text(),
    new RegExp(`^leaves through ${vault}: compare it`, 'm'),
  );
  const onChain = { rpc: anvil.url, gateway: deployment.gateway };
  await pay(order);
  assert.equal((await judged({ ...onChain, ...others })).exitCode, 1);
  assert.equal((await judged({ ...onChain, ...published })).exitCode, 0);
});
