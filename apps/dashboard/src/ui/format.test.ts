import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  exactDigits,
  exactUsd,
  formatCents,
  formatMoment,
  formatNumber,
  formatRelative,
  formatToken,
  formatUsd,
  parseTime,
  shortAddress,
  shortId,
} from './format.ts';

test('dollars have every digit that counts, in the reader’s locale', () => {
  assert.equal(formatUsd(1_234_500_000, 'en-US'), '$1,234.50');
  assert.equal(formatUsd(1_234_500_000, 'de-DE'), '1.234,50\u00a0$');
  assert.equal(formatUsd(12, 'en-US'), '$0.000012');
  assert.equal(formatUsd(37_111_109, 'en-US'), '$37.111109');
  assert.equal(formatUsd(0, 'en-US'), '$0.00');
  assert.equal(formatUsd('9007199254740993000000', 'en-US'), '$9,007,199,254,740,993.00');
  assert.equal(exactUsd(-1_500_001), '-1.500001 USD');
  assert.deepEqual([0, 1_500_000, 1_234_500, 1].map(exactDigits), [2, 2, 4, 6]);
});

test('rounded cents add up, and less than a cent keeps its digits', () => {
  const cents = (micro: number, isHalfUp = false) => formatCents(micro, { isHalfUp, locale: 'en-US' });
  assert.deepEqual(
    [cents(112_115_320), cents(224_680, true), cents(112_340_000)],
    ['$112.12', '$0.22', '$112.34'],
  );
  assert.deepEqual([cents(7_485_000), cents(15_000, true), cents(7_500_000)], ['$7.48', '$0.02', '$7.50']);
  assert.deepEqual(
    [9_999, -1_005_001, 0].map((micro) => cents(micro)),
    ['$0.009999', '-$1.01', '$0.00'],
  );
});

test('a token’s amount keeps its decimals exact', () => {
  const usdc = { decimals: 6, symbol: 'USDC' };
  assert.equal(formatToken('1234567890', usdc, 'en-US'), '1,234.56789 USDC');
  assert.equal(formatToken('1', { decimals: 18, symbol: 'DAI' }, 'en-US'), '0.000000000000000001 DAI');
});

test('times of the API are UTC, whatever their form', () => {
  const expected = new Date('2026-11-23T20:30:00Z');
  const forms = ['2026-11-23 20:30:00', '2026-11-23T20:30:00.000Z', expected.getTime() / 1_000];
  assert.deepEqual(forms.map(parseTime), [expected, expected, expected]);
  assert.equal(parseTime(''), undefined);
});

test('a near time is told from now on, a far one by its date', () => {
  const now = new Date('2026-11-23T12:00:00Z');
  const at = (text: string) => formatRelative(new Date(text), now, { locale: 'en-US' });
  assert.equal(at('2026-11-23T11:59:55Z'), 'just now');
  assert.equal(at('2026-11-23T11:55:00Z'), '5 minutes ago');
  assert.equal(at('2026-11-25T12:00:00Z'), 'in 2 days');
  assert.equal(formatRelative(new Date(2025, 9, 1), now, { locale: 'en-US' }), 'Oct 1, 2025');
  const moment = formatMoment(new Date(2025, 9, 1, 15, 5), now, 'en-US');
  assert.equal(moment, 'Oct 1, 2025, 3:05 PM');
});

test('what is planned for this moment has not happened yet', () => {
  const now = new Date('2026-11-23T12:00:00Z');
  const at = (text: string, isAhead: boolean) => formatRelative(new Date(text), now, { isAhead });
  assert.equal(at('2026-11-23T12:00:04Z', true), 'in a moment');
  assert.equal(at('2026-11-23T12:00:04Z', false), 'just now');
  assert.equal(at('2026-11-23T12:02:00Z', true), 'in 2 minutes');
});

test('words and months are English in every locale, and digits Latin', () => {
  const now = new Date('2026-11-23T12:00:00Z');
  const said = (locale: string) => [
    formatRelative(new Date('2026-11-23T11:41:00Z'), now, { locale }),
    formatMoment(new Date(2026, 9, 1, 15, 5), now, locale),
    formatNumber(1_234_567.5, {}, locale),
    formatUsd(1_234_500_000, locale),
  ];
  assert.deepEqual(said('de-DE'), ['19 minutes ago', '1 Oct, 15:05', '1.234.567,5', '1.234,50\u00a0$']);
  assert.deepEqual(said('ar-EG'), ['19 minutes ago', '1 Oct, 3:05 pm', '1,234,567.5', '1,234.50\u00a0US$']);
});

test('addresses and ids are shortened to what tells them apart', () => {
  assert.equal(shortAddress(`0x${'ab'.repeat(20)}`), '0xabab…abab');
  assert.equal(shortId('sess_0123456789abcdefABCDEF'), 'sess_…ABCDEF');
});
