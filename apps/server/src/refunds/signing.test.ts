import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Queryable, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { cancelRefund } from './cancellation.ts';
import { createRefund, findRefund } from './refund.ts';
import { endSigning, findSigning, readSigning, reportSigning, startSigning } from './signing.ts';

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

const token = 'ethereum::usdc';
const deps = () => ({ ...world.moves, chains: world.chains });
const account = `0x${'a'.repeat(40)}`;
const txHash = `0x${'b'.repeat(64)}`;
const inTransaction = <T>(work: (transaction: Transaction) => Promise<T>) =>
  world.database.db.transaction(work);

/** A settled payment of one dollar, and refunds of it that wait for a wallet. */
async function openRefunds(...amounts: readonly number[]) {
  const order = await world.signOrder(await world.openSession(token), token);
  for (const name of ['Paid', 'Settled'] as const) {
    await world.mine('ethereum', [name, order, {}]);
    await world.mineFinal('ethereum');
  }
  const { merchantId } = await world.session(order.sessionId);
  const refundIds: string[] = [];
  for (const amount of amounts) {
    const body = { sessionId: order.sessionId, amount };
    const made = inTransaction((transaction) => createRefund(transaction, deps(), { merchantId, body }));
    refundIds.push((await made).refundId);
  }
  const [refundId = '', otherId = ''] = refundIds;
  return { order, merchantId, refundId, otherId };
}

async function showReturn(order: StoredOrder, value: number, total: number): Promise<void> {
  const values = { value: String(value), refundedTotal: String(total) };
  await world.mine('ethereum', ['SettlementRefunded', order, values]);
  await world.mineFinal('ethereum');
}

/** `done`, or the name of the refusal. */
async function said(work: Promise<unknown>, done = 'done'): Promise<string> {
  try {
    await work;
    return done;
  } catch (error) {
    if (error instanceof Refusal) return error.slug;
    throw error;
  }
}

/** One member's page: starts signings of a refund, and reads who signs. */
function page(userId: string, { merchantId, refundId }: { merchantId: string; refundId: string }) {
  const signingId = randomUUID();
  const signer = { merchantId, userId, refundId, signingId };
  return {
    signingId,
    /** `started`, or the name of the refusal. */
    start: (insteadOf = '') =>
      said(
        inTransaction((transaction) => startSigning(transaction, deps(), { ...signer, account, insteadOf })),
        'started',
      ),
    report: (held = signingId) =>
      said(
        inTransaction((transaction) => reportSigning(transaction, { ...signer, signingId: held, txHash })),
      ),
    end: (held = signingId) =>
      said(inTransaction((transaction) => endSigning(transaction, { ...signer, signingId: held }))),
    read: () => findSigning(world.database.db, { merchantId, refundId, userId }),
  };
}

test('one member signs a refund at a time, and the other sees who', async () => {
  const refund = await openRefunds(400_000);
  const [ada, bob] = [page('usr_ada', refund), page('usr_bob', refund)];
  assert.equal(await ada.read(), undefined);
  assert.equal(await ada.start(), 'started');
  assert.equal(await bob.start(), 'refund_being_signed');
  const seen = await bob.read();
  assert.deepEqual(
    [seen?.signingId, seen?.refundId, seen?.isMine, seen?.account, seen?.txHash],
    [ada.signingId, refund.refundId, false, account, ''],
  );
  await ada.report();
  assert.deepEqual([(await ada.read())?.isMine, (await bob.read())?.txHash], [true, txHash]);
});

test('of members who start in the same moment exactly one signs', async () => {
  const refund = await openRefunds(400_000);
  const pages = Array.from({ length: 8 }, (_none, index) => page(`usr_${index}`, refund));
  const answers = await Promise.all(pages.map((each) => each.start()));
  assert.deepEqual(answers.toSorted(), [...Array(7).fill('refund_being_signed'), 'started']);
});

test('two refunds of one payment are not signed at once either', async () => {
  const { otherId, ...refund } = await openRefunds(400_000, 300_000);
  const [ada, bob] = [page('usr_ada', refund), page('usr_bob', { ...refund, refundId: otherId })];
  assert.equal(await ada.start(), 'started');
  assert.equal(await bob.start(), 'refund_being_signed');
  assert.equal((await bob.read())?.refundId, refund.refundId);
});

test('a signing that moved nothing ends, and only by its own page', async () => {
  const refund = await openRefunds(400_000);
  const [ada, bob] = [page('usr_ada', refund), page('usr_bob', refund)];
  await ada.start();
  await bob.end();
  assert.equal(await bob.start(), 'refund_being_signed');
  // Bob read the id, but the signing is Ada's.
  assert.equal(await bob.end(ada.signingId), 'refund_being_signed');
  assert.equal(await bob.report(ada.signingId), 'refund_being_signed');
  assert.equal((await ada.read())?.txHash, '');
  assert.deepEqual([await ada.end(), await ada.end()], ['done', 'done']);
  assert.equal(await ada.report(), 'refund_being_signed');
  assert.equal(await bob.start(), 'started');
  assert.equal(await ada.report(), 'refund_being_signed');
  assert.equal((await ada.read())?.txHash, '');
});

test('a repeated start keeps what is known of its transaction', async () => {
  const refund = await openRefunds(400_000);
  const ada = page('usr_ada', refund);
  await ada.start();
  await ada.report();
  assert.equal(await ada.start(), 'started');
  assert.equal((await ada.read())?.txHash, txHash);
});

test('a signing is replaced only by who names it, and once', async () => {
  const refund = await openRefunds(400_000);
  const [ada, bob, eve] = [page('usr_ada', refund), page('usr_bob', refund), page('usr_eve', refund)];
  await ada.start();
  await ada.report();
  const answers = await Promise.all([bob.start(ada.signingId), eve.start(ada.signingId)]);
  assert.deepEqual(answers.toSorted(), ['refund_being_signed', 'started']);
  assert.equal((await ada.read())?.txHash, '');
  assert.equal(await ada.start(ada.signingId), 'refund_being_signed');
});

test('the final return ends the signing, and a return of another amount does not', async () => {
  const { order, otherId, ...refund } = await openRefunds(400_000, 300_000);
  const [ada, bob] = [page('usr_ada', refund), page('usr_bob', { ...refund, refundId: otherId })];
  await ada.start();
  await showReturn(order, 5, 5);
  assert.equal(await bob.start(), 'refund_being_signed');
  await showReturn(order, 400_000, 400_005);
  assert.equal(await ada.read(), undefined);
  assert.equal(await ada.start(), 'refund_not_possible');
  assert.equal(await bob.start(), 'started');
});

test('a return that becomes final while a page reads who signs never reads as a refund to sign', async () => {
  const { order, merchantId, refundId } = await openRefunds(600_000);
  const one = page('usr_one', { merchantId, refundId });
  await one.start();
  const { db } = world.database;
  // The chain is final between the first query of the read and the others.
  let isFinal = false;
  const queryable: Queryable = {
    query: async (asked, ...values) => {
      const rows = await db.query(asked, ...values);
      if (!isFinal) {
        isFinal = true;
        await showReturn(order, 600_000, 600_000);
      }
      return rows;
    },
  };
  const { status, signing } = await readSigning(queryable, { merchantId, refundId, userId: 'usr_one' });
  assert.deepEqual([status, signing], ['completed', undefined]);
});

test('of two refunds of one amount the one is completed that a wallet was asked to sign', async () => {
  const { order, otherId, ...refund } = await openRefunds(400_000, 400_000);
  const newer = page('usr_ada', { ...refund, refundId: otherId });
  await newer.start();
  await showReturn(order, 400_000, 400_000);
  assert.equal(await newer.read(), undefined);
  assert.equal(await newer.start(), 'refund_not_possible');
  assert.equal(await page('usr_bob', refund).start(), 'started');
});

test('a signing of a refund that fails ends with it', async () => {
  const { order, otherId, ...refund } = await openRefunds(300_000, 700_000);
  await page('usr_ada', { ...refund, refundId: otherId }).start();
  await showReturn(order, 400_000, 400_000);
  assert.equal(await page('usr_bob', refund).read(), undefined);
});

/** A member withdraws the refund, and names the signing that the page shows. */
const withdraw = ({ merchantId, refundId }: { merchantId: string; refundId: string }, despite: string) =>
  said(
    inTransaction(async (transaction) => {
      await cancelRefund(transaction, deps(), { merchantId, refundId, despite });
    }),
  );

test('a refund whose wallet never answered is withdrawn by whoever saw its signing, which then still warns', async () => {
  const { order, otherId, ...refund } = await openRefunds(400_000, 300_000);
  const [ada, bob] = [page('usr_ada', refund), page('usr_bob', { ...refund, refundId: otherId })];
  await ada.start();
  // Bob has seen another signing than the one that is open.
  assert.equal(await withdraw(refund, bob.signingId), 'refund_being_signed');
  assert.equal((await bob.read())?.isWithdrawn, false);
  assert.equal(await withdraw(refund, ada.signingId), 'done');
  assert.equal(await ada.start(), 'refund_not_possible');
  // The open question in the first wallet bars the next signing, and another return does not end it.
  await showReturn(order, 5, 5);
  const seen = await bob.read();
  assert.deepEqual([seen?.refundId, seen?.isWithdrawn, seen?.txHash], [refund.refundId, true, '']);
  assert.equal(await bob.start(), 'refund_being_signed');
  // Its page hears from the wallet late.
  assert.equal(await ada.report(), 'done');
  assert.equal((await bob.read())?.txHash, txHash);
  await showReturn(order, 400_000, 400_005);
  const after = await findRefund(world.database.db, deps(), refund);
  assert.equal(after.status, 'completed');
  assert.notEqual(after.cancelledAt, '');
  assert.equal((await world.session(order.sessionId)).refundedAmount, 400_005n);
  assert.equal(await bob.start(), 'started');
});

test('a wallet that declines after its refund was withdrawn ends the signing', async () => {
  const { otherId, ...refund } = await openRefunds(400_000, 300_000);
  const [ada, bob] = [page('usr_ada', refund), page('usr_bob', { ...refund, refundId: otherId })];
  await ada.start();
  await withdraw(refund, ada.signingId);
  assert.equal(await ada.end(), 'done');
  assert.equal(await bob.start(), 'started');
});

test('another merchant sees and starts nothing', async () => {
  const refund = await openRefunds(400_000);
  const stranger = page('usr_eve', { ...refund, merchantId: 'mer_other' });
  assert.equal(await stranger.start(), 'refund_not_found');
  await assert.rejects(stranger.read(), { slug: 'refund_not_found' });
  assert.equal(await stranger.end(), 'refund_not_found');
});
