import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { statement } from '@florin/pg';
import fc from 'fast-check';
import type { Clock } from '#outside/clock.ts';
import { type Log, silentLog } from '#telemetry/log.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { type AskedGas, type GasTotals, gasAlarm, gasOffers, takeGas } from './relayed-gas.ts';

const emptyAll = statement({
  name: 'relayed_gas_test_empty',
  text: 'delete from relayed_gas',
});
const hourMs = 3_600_000;
const totals: GasTotals = { payments: { perMerchant: 100, all: 250 }, returns: { perMerchant: 10, all: 25 } };

let database: TestDatabase;
let now: number;
const clock: Clock = { now: () => new Date(now), monotonicMs: () => now, sleep: async () => {} };
before(async () => {
  database = await testDatabase();
});
after(() => database.close());
beforeEach(async () => {
  now = Date.UTC(2030, 0, 1, 0, 30);
  await database.db.query(emptyAll);
});

function take(asked: Partial<AskedGas> = {}, gas = 10n): Promise<string> {
  const whole: AskedGas = { merchantId: 'one', chainId: 1, kind: 'payments', gas, ...asked };
  return database.db.transaction((transaction) => takeGas(transaction, { clock, totals }, whole));
}

test('a merchant’s gas ends at its total even when requested concurrently, and other merchants keep theirs', async () => {
  const answers = await Promise.all(Array.from({ length: 15 }, () => take()));
  assert.equal(answers.filter((answer) => answer === 'within').length, 10);
  assert.ok(answers.every((answer) => answer === 'within' || answer === 'merchant_used_up'));
  assert.equal(await take({ merchantId: 'two' }, 100n), 'within');
  assert.equal(await take({ merchantId: 'three' }, 51n), 'all_used_up');
  assert.equal(await take({ merchantId: 'three' }, 50n), 'within');
  assert.deepEqual([await take({ chainId: 2 }), await take({ kind: 'returns' })], ['within', 'within']);
});

test('gas that is owed counts and is not refused', async () => {
  assert.equal(await take({}, 100n), 'within');
  assert.equal(await take({ isOwed: true }), 'within');
  assert.equal(await take({ merchantId: 'two' }, 141n), 'merchant_used_up');
  for (const merchantId of ['two', 'three']) await take({ merchantId }, 70n);
  assert.equal(await take({ merchantId: 'two' }, 1n), 'all_used_up');
});

test('within any 24 hours neither one merchant nor all merchants together spend more than their totals', async () => {
  const step = fc.record({
    merchantId: fc.constantFrom('one', 'two', 'three', 'four'),
    gas: fc.bigInt({ min: 1n, max: 60n }),
    waitMs: fc.integer({ min: 0, max: 5 * hourMs }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      await database.db.query(emptyAll);
      const spent: { at: number; merchantId: string; gas: bigint }[] = [];
      for (const { merchantId, gas, waitMs } of steps) {
        now += waitMs;
        if ((await take({ merchantId }, gas)) !== 'within') continue;
        spent.push({ at: now, merchantId, gas });
        const day = spent.filter(({ at }) => at > now - 24 * hourMs);
        const sum = (of: typeof day) => of.reduce((total, item) => total + item.gas, 0n);
        assert.ok(sum(day) <= 250n);
        assert.ok(sum(day.filter((item) => item.merchantId === merchantId)) <= 100n);
      }
      now += 25 * hourMs;
      assert.equal(await take({}, 100n), 'within', 'a day later all of it is there again');
    }),
    { numRuns: 15 },
  );
});

test('the log warns once before a total is exhausted, and once when half of it is free again', async () => {
  const told: string[] = [];
  const log: Log = {
    ...silentLog,
    error: (event, _error, fields) => void told.push(`${event} ${fields?.['merchantId']}`),
    info: (event, fields) => void told.push(`${event} ${fields?.['merchantId']}`),
  };
  const look = gasAlarm({ db: database.db, clock, log, totals });
  await take({}, 74n);
  await look();
  assert.deepEqual(told, []);
  await take({}, 1n);
  for (let times = 0; times < 2; times += 1) await look();
  assert.deepEqual(told, ['gas.running_out one']);
  for (const merchantId of ['two', 'three']) await take({ merchantId }, 60n);
  await look();
  assert.deepEqual(told.slice(1), ['gas.running_out all']);
  now += 26 * hourMs;
  await look();
  assert.deepEqual(told.slice(2), ['gas.available one', 'gas.available all']);
});

test('gasless payments are offered until nine tenths of the total are spent', async () => {
  const offers = gasOffers({ db: database.db, clock, totals });
  await take({}, 90n);
  await offers.refresh();
  assert.deepEqual(
    [offers.isOffered(1, 'one'), offers.isOffered(2, 'one'), offers.isOffered(1, 'two')],
    [false, true, true],
  );
  for (const merchantId of ['two', 'three']) await take({ merchantId }, 70n);
  await offers.refresh();
  assert.deepEqual([offers.isOffered(1, 'four'), offers.isOffered(2, 'four')], [false, true]);
});
