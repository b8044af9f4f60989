import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Hex } from 'viem';
import type { SendPlan } from './sent.ts';
import { signingQueue } from './signing-queue.ts';
import { type UnsignedTransaction, type WalletSigner, walletOf } from './wallet.ts';

const key: Hex = `0x${'1'.repeat(64)}`;
const local = walletOf(key);

/** A call that its data identifies. */
function planOf(name: number): SendPlan {
  return {
    ...{ purpose: 'relay', to: local.address, data: `0x${name.toString(16).padStart(2, '0')}` },
    ...{ chainId: 1, wallet: local.address, gasLimit: 21_000n, maxFee: 2n, priorityFee: 1n },
    ...{ baseFee: 1n, nonceFloor: 0n },
  };
}

/** A signer that waits until it is released, and its requests: the call and the nonce. */
function slowWallet() {
  const asked: [name: number, nonce: number][] = [];
  const failing = new Set<number>();
  const released = Promise.withResolvers<void>();
  const wallet: WalletSigner = {
    ...local,
    async signTransaction(transaction: UnsignedTransaction) {
      const name = Number(transaction.data);
      asked.push([name, Number(transaction.nonce)]);
      await released.promise;
      if (failing.has(name)) throw new Error(`the signer refuses ${name}`);
      return local.signTransaction(transaction);
    },
  };
  return { wallet, asked, failing, release: released.resolve };
}

const signedBy = (name: number, nonce: bigint) => local.signTransaction({ ...planOf(name), nonce });

test('while one record is signed, later ones are signed at the following nonces', async () => {
  const { wallet, asked, release } = slowWallet();
  const queue = signingQueue(wallet);
  const first = queue.join([planOf(1)]);
  const second = queue.join([planOf(2), planOf(3)]);
  assert.deepEqual(asked, [], 'no nonce is known yet');
  const signing = first.sign(7n);
  const third = queue.join([planOf(4)]);
  assert.deepEqual(asked, [
    [1, 7],
    [2, 8],
    [3, 9],
    [4, 10],
  ]);
  release();
  assert.deepEqual(await signing, [await signedBy(1, 7n)]);
  first.leave();
  assert.deepEqual(await second.sign(8n), [await signedBy(2, 8n), await signedBy(3, 9n)]);
  second.leave();
  assert.deepEqual(await third.sign(10n), [await signedBy(4, 10n)]);
  third.leave();
  assert.equal(asked.length, 4, 'each is signed once');
});

test('a record that gets another nonce is signed again for it, and so are all later ones', async () => {
  const { wallet, asked, release } = slowWallet();
  release();
  const queue = signingQueue(wallet);
  const [first, second, third] = [1, 2, 3].map((name) => queue.join([planOf(name)]));
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  await first.sign(7n);
  first.leave();
  // Another process has taken two nonces in between.
  assert.deepEqual(await second.sign(10n), [await signedBy(2, 10n)]);
  second.leave();
  assert.deepEqual(await third.sign(11n), [await signedBy(3, 11n)]);
  third.leave();
  assert.deepEqual(asked, [
    [1, 7],
    [2, 8],
    [3, 9],
    [2, 10],
    [3, 11],
  ]);
});

test('a signature that fails fails only its own record, and leaves no nonce gap', async () => {
  const { wallet, failing, release } = slowWallet();
  failing.add(2);
  const queue = signingQueue(wallet);
  const [first, second, third] = [1, 2, 3].map((name) => queue.join([planOf(name)]));
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const signing = first.sign(7n);
  release();
  await signing;
  first.leave();
  await assert.rejects(second.sign(8n), /refuses 2/);
  second.leave();
  // The nonce is assigned again.
  assert.deepEqual(await third.sign(8n), [await signedBy(3, 8n)]);
  third.leave();
});

test('a signer that failed while a record waited is asked again', async () => {
  const { wallet, asked, failing, release } = slowWallet();
  failing.add(2);
  const queue = signingQueue(wallet);
  const first = queue.join([planOf(1)]);
  const second = queue.join([planOf(2)]);
  const signing = first.sign(7n);
  release();
  await signing;
  first.leave();
  await setImmediate();
  failing.clear();
  assert.deepEqual(await second.sign(8n), [await signedBy(2, 8n)]);
  second.leave();
  assert.deepEqual(asked, [
    [1, 7],
    [2, 8],
    [2, 8],
  ]);
});

test('once no record waits, the expected nonce is forgotten, and nothing is signed ahead', async () => {
  const { wallet, asked, release } = slowWallet();
  release();
  const queue = signingQueue(wallet);
  const first = queue.join([planOf(1)]);
  const second = queue.join([planOf(2)]);
  await first.sign(7n);
  // The second record fails before it has a nonce.
  second.leave();
  first.leave();
  queue.join([planOf(3)]);
  assert.deepEqual(asked, [
    [1, 7],
    [2, 8],
  ]);
});

test('no more is signed ahead than a signer accepts at once', async () => {
  const { wallet, asked } = slowWallet();
  const queue = signingQueue(wallet);
  const first = queue.join([planOf(0)]);
  for (let name = 1; name <= 40; name += 1) queue.join([planOf(name)]);
  void first.sign(0n);
  assert.equal(asked.length, 17);
});

test('in any storage order, each record has a signature of its own calls at its own nonce', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    let state = seed;
    const below = (limit: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state % limit;
    };
    const { wallet, release } = slowWallet();
    release();
    const queue = signingQueue(wallet);
    const open: { name: number; ticket: ReturnType<typeof queue.join> }[] = [];
    let nonce = 0n;
    for (let step = 0; step < 30; step += 1) {
      if (below(2) === 0) {
        const name = step + 1;
        open.push({ name, ticket: queue.join([planOf(name)]) });
        continue;
      }
      const [record] = open.splice(below(Math.max(open.length, 1)), 1);
      if (record === undefined) continue;
      if (below(4) !== 0) {
        nonce += BigInt(below(3) === 0 ? 1 : 0);
        assert.deepEqual(await record.ticket.sign(nonce), [await signedBy(record.name, nonce)]);
        // Stored, or rolled back.
        nonce += BigInt(below(3) === 0 ? 0 : 1);
      }
      record.ticket.leave();
    }
  }
});
