import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import fc from 'fast-check';
import { removeAccount } from '#merchants/account.ts';
import { unixSeconds } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addPaidSession, happen, takeBack } from '../../test/harness/payment-fixture.ts';
import { addUpHours } from './hour-sums.ts';
import { sumAccounts, sumPeriods } from './period-sums.ts';

const payments = statement({
  name: 'account_sums_test_payments',
  parameters: { merchantId: 'text' },
  columns: {
    account_id: 'text',
    paid_token: 'text',
    settlement_token: 'text',
    paid_at: 'timestamptz?',
    settled_at: 'timestamptz?',
    total_value: 'int8',
    fee_value: 'int8',
    net_value: 'int8',
  },
  text: `select s.account_id, s.paid_token, s.settlement_token, s.payment_succeeded_at as paid_at,
     s.settlement_succeeded_at as settled_at, o.total_value, o.fee_value, o.net_value
   from sessions s join orders o on o.order_id = s.order_id where s.merchant_id = :merchantId and s.pending_reason <> 'payment_reorged'`,
});
const refunds = statement({
  name: 'account_sums_test_refunds',
  parameters: { merchantId: 'text' },
  columns: { account_id: 'text', paid_token: 'text', at: 'timestamptz', amount: 'int8' },
  text: `select s.account_id, s.paid_token, r.updated_at as at, r.amount
   from refunds r join sessions s on s.session_id = r.session_id
   where r.merchant_id = :merchantId and r.status = 'completed'`,
});

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const hour = 3_600;
const day = 24 * hour;

/** Every payment and refund added up one by one. */
async function naiveSums(merchantId: string, times: readonly number[], accountId: string) {
  const { db } = world.database;
  const none = { fee_value: 0n, net_value: 0n };
  const moves = [
    ...(await db.query(payments, { merchantId })).flatMap((row) => [
      { ...row, kind: 'received', token: row.paid_token, at: row.paid_at },
      { ...row, kind: 'settled', token: row.settlement_token, at: row.settled_at },
    ]),
    ...(await db.query(refunds, { merchantId })).map((row) => ({
      ...{ ...row, ...none, kind: 'refunded', token: row.paid_token, total_value: row.amount },
    })),
  ];
  const sums = new Map<string, { count: number; total: bigint; fee: bigint; net: bigint }>();
  for (const move of moves) {
    const at = move.at?.getTime();
    const period = times.findIndex(
      (time, index) =>
        at !== undefined && at >= time * 1_000 && at < (times[index + 1] ?? Number.NEGATIVE_INFINITY) * 1_000,
    );
    if (period < 0 || (accountId !== '' && move.account_id !== accountId)) continue;
    const key = [period, move.account_id, move.token, move.kind].join(' ');
    const { count, total, fee, net } = sums.get(key) ?? { count: 0, total: 0n, fee: 0n, net: 0n };
    sums.set(key, {
      count: count + 1,
      total: total + move.total_value,
      fee: fee + move.fee_value,
      net: net + move.net_value,
    });
  }
  return sums;
}

test('sums of periods equal each payment and refund added up, by account and in all, added to their hour or not', async () => {
  const fate = fc.constantFrom('paid', 'settled', 'returned');
  const payment = fc.record({
    fate,
    // A reorg below finality takes it back, and perhaps it returns.
    loss: fc.constantFrom('none', 'lost', 'regained'),
    isOther: fc.boolean(),
    isAdded: fc.boolean(),
    laterMs: fc.oneof(
      fc.integer({ min: 0, max: hour * 1_000 }),
      fc.integer({ min: 0, max: 2 * day * 1_000 }),
    ),
  });
  // Periods begin in the hours of payments: with the hour, or where clocks are half an hour apart from it.
  const begins = fc.record({
    at: fc.constantFrom(0, hour / 2, 17),
    near: fc.array(fc.record({ payment: fc.nat(4), hours: fc.integer({ min: 0, max: 1 }) }), {
      maxLength: 5,
    }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { minLength: 1, maxLength: 5 }),
      begins,
      async (made, { at, near }) => {
        const merchantId = await world.addMerchant();
        const key = await world.addKey(merchantId);
        const accounts = [await world.addAccount(merchantId), await world.addAccount(merchantId)] as const;
        const paidAt: number[] = [];
        const hourOfClock = () => Math.floor(unixSeconds(world.clock.now()) / hour) * hour;
        for (const { fate, loss, isOther, isAdded, laterMs } of made) {
          const accountId = accounts[isOther ? 1 : 0];
          paidAt.push(hourOfClock());
          const { order, sessionId } = await addPaidSession(world, { key, accountId });
          if (fate === 'settled') await happen(world, order, 'Settled');
          if (fate === 'returned') await world.send('POST', '/refund/create', { key, body: { sessionId } });
          if (fate === 'returned') await happen(world, order, 'Refunded');
          if (isAdded)
            while (await world.database.db.transaction((transaction) => addUpHours(transaction, 2)));
          if (fate !== 'returned' && loss !== 'none') await takeBack(world, order);
          if (fate !== 'returned' && loss === 'regained') await happen(world, order, 'Paid');
          if (fate === 'settled' && loss === 'regained') await happen(world, order, 'Settled');
          world.clock.time += laterMs;
        }
        const inner = near.map(({ payment, hours }) => (paidAt[payment] ?? 0) + hours * hour + at);
        const ends = [(paidAt[0] ?? 0) - day + at, hourOfClock() + day + at];
        const times = [...new Set([...inner.filter((time) => time > day), ...ends])].toSorted(
          (left, right) => left - right,
        );
        for (const accountId of ['', accounts[0]]) {
          const { sums } = await sumAccounts(world.database.db, world, { merchantId, times, accountId });
          const shown = sums.map((row) => [
            [row.period, row.accountId, row.tokenId, row.kind].join(' '),
            {
              count: row.count,
              total: BigInt(row.totalValue),
              fee: BigInt(row.feeValue),
              net: BigInt(row.netValue),
            },
          ]);
          assert.deepEqual(
            new Map(shown as [string, object][]),
            await naiveSums(merchantId, times, accountId),
          );
          if (accountId !== '') continue;
          const { received, settled } = await sumPeriods(world.database.db, { merchantId, times });
          assert.equal(
            received.reduce((sum, row) => sum + row.payments, 0),
            made.filter(({ fate, loss }) => fate === 'returned' || loss !== 'lost').length,
          );
          const ofKind = (kind: string) => sums.filter((row) => row.kind === kind);
          assert.deepEqual(received, withoutAccounts(ofKind('received'), ['totalValue']));
          assert.deepEqual(settled, withoutAccounts(ofKind('settled'), ['feeValue', 'netValue']));
        }
      },
    ),
    { numRuns: 8 },
  );
});

type AccountSum = Awaited<ReturnType<typeof sumAccounts>>['sums'][number];

/** The same sums without their accounts, in their order. */
function withoutAccounts(
  rows: readonly AccountSum[],
  names: readonly ('totalValue' | 'feeValue' | 'netValue')[],
) {
  const groups = Object.entries(Object.groupBy(rows, ({ period, tokenId }) => `${period} ${tokenId}`));
  return groups.map(([, group = []]) => ({
    period: group[0]?.period,
    tokenId: group[0]?.tokenId,
    payments: group.reduce((sum, row) => sum + row.count, 0),
    ...Object.fromEntries(
      names.map((name) => [name, String(group.reduce((sum, row) => sum + BigInt(row[name]), 0n))]),
    ),
  }));
}

test('the sums of an account that was removed have its name', async () => {
  const merchantId = await world.addMerchant();
  const { db } = world.database;
  const key = await world.addKey(merchantId);
  const accountId = await world.addAccount(merchantId);
  await addPaidSession(world, { key, accountId });
  const { accountName } = await db.transaction((transaction) =>
    removeAccount(transaction, { ...world, random: systemRandom }, { merchantId, accountId }),
  );
  const now = unixSeconds(world.clock.now());
  const { sums } = await sumAccounts(db, world, { merchantId, times: [now - day, now + day] });
  assert.deepEqual(
    sums.map((row) => [row.accountId, row.accountName]),
    [[accountId, accountName]],
  );
});

test('times in disorder or too far apart and an unknown account are refused', async () => {
  const merchantId = await world.addMerchant();
  const { db } = world.database;
  for (const times of [
    [day, day],
    [2 * day, day],
    [day, 102 * day],
  ])
    await assert.rejects(sumAccounts(db, world, { merchantId, times }), { slug: 'field_invalid' });
  const unknown = { merchantId, times: [day, 2 * day], accountId: 'acc_none' };
  await assert.rejects(sumAccounts(db, world, unknown), { slug: 'account_not_found' });
});
