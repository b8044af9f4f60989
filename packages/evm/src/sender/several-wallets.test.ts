import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { statement } from '@florin/pg';
import { systemClock } from '../../test/context.ts';
import { emitter, eventCall, idOf } from '../../test/emitter.ts';
import { gwei, senderWallets } from '../../test/sender-wallets.ts';
import { defaultSenderSettings, type SenderContext } from './context.ts';
import { checkGas } from './gas-balance.ts';
import { createSender } from './sender.ts';
import { newLoopState, senderRound } from './sender-loop.ts';
import { findPending } from './store.ts';
import { type WalletSigner, walletOf } from './wallet.ts';

const noncesByWallet = statement({
  name: 'lanes_test_nonces',
  parameters: { chainId: 'int8' },
  columns: { wallet: 'text', nonce: 'int8' },
  text: 'select wallet, nonce from sent_transactions where chain_id = :chainId order by wallet, nonce',
});

const { database, anvil, rpc, chain, outcomes, told, options, catchUp, close } = await senderWallets(61_000);
after(close);
const [first, second] = anvil.accounts.map(({ privateKey }) => walletOf(privateKey));
assert.ok(first !== undefined && second !== undefined);
const wallets: readonly [WalletSigner, WalletSigner] = [first, second];
const sender = createSender({ ...options(), wallet: first, otherWallets: [second] });

function contextOf(wallet: WalletSigner, changes: Partial<SenderContext> = {}): SenderContext {
  return { ...options(), wallet, settings: defaultSenderSettings, ...changes };
}

async function send(number: number): Promise<void> {
  const request = { purpose: 'own', to: emitter, data: eventCall(idOf(number)) } as const;
  const plan = await sender.plan(chain.chainId, request);
  assert.ok(!('reverted' in plan));
  const { transactionId } = await database.db.transaction((transaction) => sender.record(transaction, plan));
  await sender.broadcast(transactionId);
}

test('several wallets take turns, each with its own nonces, and all their transactions are followed', async () => {
  for (let number = 1; number <= 6; number += 1) await send(number);
  const rows = await database.db.query(noncesByWallet, { chainId: chain.chainId });
  const expected = wallets
    .map(({ address }) => address.toLowerCase())
    .sort()
    .flatMap((wallet) => [0n, 1n, 2n].map((nonce) => ({ wallet, nonce })));
  assert.deepEqual(rows, expected);
  await anvil.mine(5);
  await catchUp();
  for (const wallet of wallets) await senderRound(contextOf(wallet), chain, newLoopState());
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    Array.from({ length: 6 }, () => 'succeeded'),
  );
});

test('calls recorded together get consecutive nonces in their order, all or none of them', async () => {
  const planned = await Promise.all(
    [21, 22, 23].map((number) =>
      sender.plan(chain.chainId, { purpose: 'own', to: emitter, data: eventCall(idOf(number)) }),
    ),
  );
  const plans = planned.flatMap((plan) =>
    'reverted' in plan ? [] : [{ ...plan, wallet: wallets[0].address }],
  );
  const recordAll = (given: typeof plans) =>
    database.db.transaction((transaction) => sender.recordAll(transaction, given));
  const others = plans.map((plan, index) => ({ ...plan, wallet: wallets[index % 2]?.address ?? '0x' }));
  await assert.rejects(recordAll(others), /cannot be recorded together/);
  assert.deepEqual(await recordAll([]), []);
  const recorded = await recordAll(plans);
  const key = { chainId: chain.chainId, wallet: wallets[0].address, limit: 10 };
  const pending = await findPending(database.db, key);
  assert.deepEqual(
    pending.map(({ transactionId, nonce, data, attempts }) => [
      transactionId,
      nonce,
      data,
      attempts[0]?.txHash,
    ]),
    plans.map(({ data }, index) => {
      const { transactionId, txHash } = recorded[index] ?? {};
      return [transactionId, 3n + BigInt(index), data, txHash];
    }),
  );
  outcomes.length = 0;
  const late = { ...systemClock, now: () => new Date(systemClock.now().getTime() + 2_500) };
  await senderRound(contextOf(wallets[0], { clock: late }), chain, newLoopState());
  await anvil.mine(5);
  await catchUp();
  await senderRound(contextOf(wallets[0]), chain, newLoopState());
  assert.deepEqual(
    outcomes.map(({ transactionId, txHash }) => ({ transactionId, txHash })),
    recorded,
  );
  assert.deepEqual(await findPending(database.db, key), []);
});

test('a stuck transaction is logged once, and once when it is no longer stuck', async () => {
  await anvil.request('anvil_setNextBlockBaseFeePerGas', ['0x1']);
  const request = { purpose: 'own', to: emitter, data: eventCall(idOf(99)) } as const;
  const capped = createSender({ ...options(), wallet: wallets[0], maxFeePerGas: 1_100_000n });
  const plan = await capped.plan(chain.chainId, request);
  assert.ok(!('reverted' in plan));
  await database.db.transaction((transaction) => capped.record(transaction, { ...plan, maxFee: 1_000_000n }));
  const late = { ...systemClock, now: () => new Date(systemClock.now().getTime() + 60_000) };
  const context = contextOf(wallets[0], { maxFeePerGas: 1_100_000n, clock: late });
  const memory = newLoopState();
  told.length = 0;
  for (let round = 0; round < 3; round += 1) await senderRound(context, chain, memory);
  assert.deepEqual(
    told.filter((event) => event.includes('stuck')),
    ['sender.stuck'],
  );
  await senderRound({ ...context, maxFeePerGas: 500n * gwei }, chain, memory);
  assert.deepEqual(
    told.filter((event) => event.includes('stuck')),
    ['sender.stuck', 'sender.not_stuck_any_more'],
  );
});

test('gas for less than three days is logged once, and once when there is enough again', async () => {
  const context = contextOf(wallets[1]);
  const { address } = wallets[1];
  told.length = 0;
  await anvil.request('anvil_setBalance', [address, '0x1']);
  let isLow = (await checkGas(context, chain, rpc, false)) === true;
  assert.equal(isLow, true);
  isLow = (await checkGas(context, chain, rpc, isLow)) === true;
  await anvil.request('anvil_setBalance', [address, '0x56bc75e2d63100000']);
  assert.equal(await checkGas(context, chain, rpc, isLow), false);
  assert.deepEqual(told, ['sender.gas_low', 'sender.gas_enough']);
});
