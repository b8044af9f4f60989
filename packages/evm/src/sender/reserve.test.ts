import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Hex } from 'viem';
import { emitter, eventCall, idOf } from '../../test/emitter.ts';
import { senderWallets } from '../../test/sender-wallets.ts';
import { gasReserve } from './gas-balance.ts';
import { createSender } from './sender.ts';
import type { SendRequest } from './sent.ts';
import { walletOf } from './wallet.ts';

const { database, anvil, chain, told, options, close } = await senderWallets(63_000);
after(close);
const [first, second] = [1, 2].map((number) => walletOf(`0x${`${number}`.repeat(64)}`));
assert.ok(first !== undefined && second !== undefined);
const fund = (address: Hex, wei: bigint) =>
  anvil.request('anvil_setBalance', [address, `0x${wei.toString(16)}`]);
const sender = createSender({ ...options(), wallet: first, otherWallets: [second] });
const call = (purpose: string): SendRequest => ({ purpose, to: emitter, data: eventCall(idOf(1)) });
const plan = (purpose: string) => sender.plan(chain.chainId, call(purpose));

async function walletFor(purpose: string): Promise<Hex | 'withheld' | 'reverted'> {
  const planned = await plan(purpose);
  if (!('reverted' in planned)) return planned.wallet;
  return planned.isWithheld === true ? 'withheld' : 'reverted';
}

test('calls within the reserve are sent while a wallet keeps it; other calls may use it up', async () => {
  const ample = 100n * 10n ** 18n;
  await fund(first.address, ample);
  await fund(second.address, ample);
  const measured = await plan('own');
  assert.ok(!('reverted' in measured));
  // Base fees fall from block to block, and this test mines no block.
  const cost = measured.gasLimit * measured.maxFee;
  const reserve = gasReserve * measured.maxFee;
  await fund(first.address, reserve + cost);
  await fund(second.address, reserve + cost - 1n);
  told.length = 0;
  for (const purpose of ['relay', 'collect', 'add'] as const)
    assert.equal(await walletFor(purpose), first.address);
  const recorded = await plan('relay');
  assert.ok(!('reverted' in recorded));
  await database.db.transaction((transaction) => sender.record(transaction, recorded));
  for (const purpose of ['relay', 'collect', 'add'] as const)
    assert.equal(await walletFor(purpose), 'withheld', 'gas of calls under way is still to be paid');
  for (const purpose of ['own', 'other'] as const) assert.match(await walletFor(purpose), /^0x/);
  assert.deepEqual(told, ['sender.reserve_reached']);
  await fund(second.address, ample);
  assert.equal(await walletFor('relay'), second.address);
  assert.deepEqual(told, ['sender.reserve_reached', 'sender.reserve_kept']);
});
