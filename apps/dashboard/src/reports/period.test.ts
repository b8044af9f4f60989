import assert from 'node:assert/strict';
import { test } from 'node:test';
import { latestMonths, monthTimes, periodOfDays, periodOfMonth, periodText } from './period.ts';

const at = (text: string) => Date.parse(text) / 1_000;

test('months and days are whole ones of UTC', () => {
  const december = periodOfMonth('2026-12');
  assert.deepEqual(december, { from: at('2026-12-01T00:00Z'), to: at('2027-01-01T00:00Z') });
  assert.equal(december && periodText(december), '2026-12-01 to 2026-12-31');
  assert.deepEqual(periodOfDays('2026-02-28', '2026-02-28'), {
    from: at('2026-02-28T00:00Z'),
    to: at('2026-03-01T00:00Z'),
  });
  assert.deepEqual(latestMonths(new Date('2026-01-31T23:00:00Z')).slice(0, 2), ['2026-01', '2025-12']);
});

test('what is no period is refused in words', () => {
  for (const wrong of ['2026-13', '2026-00', '', '26-01']) assert.equal(periodOfMonth(wrong), undefined);
  assert.equal(periodOfDays('', '2026-01-01'), 'Choose both days.');
  assert.equal(periodOfDays('2026-01-02', '2026-01-01'), 'The last day is before the first.');
  assert.equal(typeof periodOfDays('2026-01-01', '2026-04-10'), 'object');
  assert.equal(periodOfDays('2026-01-01', '2026-04-11'), 'Choose at most 100 days.');
});

test('a period is cut where months begin', () => {
  const times = monthTimes({ from: at('2026-11-15T00:00Z'), to: at('2027-01-03T00:00Z') });
  assert.deepEqual(
    times,
    ['2026-11-15', '2026-12-01', '2027-01-01', '2027-01-03'].map((day) => at(`${day}T00:00Z`)),
  );
});
