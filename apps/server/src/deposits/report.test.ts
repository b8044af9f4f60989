import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { systemClock } from '#outside/clock.ts';
import { type Log, silentLog } from '#telemetry/log.ts';
import { newReports, reportRevert } from './report.ts';

const logged: unknown[] = [];
const log: Log = { ...silentLog, info: (event, fields) => void logged.push([event, fields?.['data']]) };
let reporter = { clock: systemClock, log, reports: newReports() };
beforeEach(() => {
  logged.length = 0;
  reporter = { clock: systemClock, log, reports: newReports() };
});

const deposit = { orderId: '0x01', chainId: 1, move: 'collect', token: '0x0a' };

test('a deposit whose collection would revert is logged once, however often it is checked', () => {
  for (let times = 0; times < 3; times += 1) reportRevert(reporter, deposit, '0xaa');
  assert.deepEqual(logged, [['deposits.would_revert', '0xaa']]);
});

test('another reason to revert is logged once more', () => {
  for (const data of ['0xaa', '0xbb', '0xbb', '0xaa']) reportRevert(reporter, deposit, data);
  assert.deepEqual(
    logged,
    ['0xaa', '0xbb', '0xaa'].map((data) => ['deposits.would_revert', data]),
  );
});

test('each deposit, move and token is logged on its own', () => {
  const others = [{ orderId: '0x02' }, { move: 'rescue' }, { token: '0x0b' }];
  for (const other of [{}, ...others]) reportRevert(reporter, { ...deposit, ...other }, '0xaa');
  assert.equal(logged.length, 4);
});

test('the newest thousand deposits are remembered', () => {
  for (let order = 0; order <= 1_000; order += 1)
    reportRevert(reporter, { ...deposit, orderId: `${order}` }, '0xaa');
  logged.length = 0;
  reportRevert(reporter, { ...deposit, orderId: '1000' }, '0xaa');
  assert.deepEqual([reporter.reports.reverts.size, logged], [1_000, []]);
  reportRevert(reporter, { ...deposit, orderId: '0' }, '0xaa');
  assert.equal(logged.length, 1);
});
