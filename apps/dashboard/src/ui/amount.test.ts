import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseUsd, typedUsd, usdFault } from './amount.ts';

const locales = [
  'en-US',
  'de-DE',
  'de-CH',
  'fr-FR',
  'es-ES',
  'pl-PL',
  'pt-PT',
  'hi-IN',
  'ar-EG',
  'fa-IR',
  'ja-JP',
];

test('typed dollars are read in the reader’s locale, never a thousand times off', () => {
  const read = (locale: string) =>
    ['1.234', '1,234', '12,50', '12.50', '1.234,50 $', '$1,234.50'].map((typed) => parseUsd(typed, locale));
  const [cents, large] = [12_500_000, 1_234_500_000];
  assert.deepEqual(read('en-US'), [undefined, 1_234_000_000, cents, cents, large, large]);
  assert.deepEqual(read('de-DE'), [1_234_000_000, undefined, cents, cents, large, large]);
  assert.deepEqual(read('ar-EG'), read('en-US'));
});

test('what a field holds at first is read back as the same amount, in every locale', () => {
  const amounts = fc.oneof(
    fc.bigInt({ min: 1n, max: 9_000_000_000_000_000n }),
    fc.bigInt({ min: 1n, max: 9_999_999n }).map((thousandths) => thousandths * 1_000n),
  );
  const property = fc.property(fc.constantFrom(...locales), amounts, (locale, amount) => {
    assert.equal(parseUsd(typedUsd(amount, locale), locale), Number(amount));
  });
  fc.assert(property, { numRuns: 60 });
  assert.deepEqual([typedUsd(18_900_000, 'de-DE'), typedUsd(3_333_000, 'en-US')], ['18,90', '3.3330']);
});

test('an amount that is refused names the limit that it breaks, and how it can be read', () => {
  const say = (typed: string, locale = 'en-US', most?: number) =>
    usdFault(typed, { locale, ...(most === undefined ? {} : { most }) });
  assert.deepEqual(
    ['1.234', '', 'ten', '-3', '0', '0.0000001', '10000000.01', '99999999999', '10,000,000'].map((typed) =>
      say(typed),
    ),
    [
      '1.234 can mean two amounts. Write 1,234.00 or 1.2340.',
      'Write an amount, as 12.50.',
      'This is no amount. Write it as 12.50.',
      'Write an amount above zero, without a minus.',
      'Write an amount above zero.',
      'Too many digits: an amount has at most 6 after the decimal sign.',
      'Too large: at most $10,000,000.00.',
      'Too large: at most $10,000,000.00.',
      undefined,
    ],
  );
  assert.equal(say('1,234', 'de-DE'), '1,234 can mean two amounts. Write 1.234,00 or 1,2340.');
  assert.equal(say('40', 'en-US', 37_111_109), 'Too large: at most $37.111109.');
});
