import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { languages } from '../text/languages.ts';
import { parseAmount, problemOfAmount, writeAmount } from './amount.ts';

/** The meaning of a typed text in short: dollars, `wrong`, or the two readings of an unclear text. */
function meaningOf(locale: string, typed: string): string {
  const dollars = (amount: bigint) => String(Number(amount) / 1e6);
  const read = parseAmount(locale, typed);
  if (read.kind === 'unclear') return read.readings.map(dollars).join(' or ');
  return read.kind === 'amount' ? dollars(read.amount) : 'wrong';
}

const tags = languages.map(({ tag }) => tag);
const withCommaForCents = ['de', 'fr', 'es', 'pt', 'it', 'tr'];
const withPointForCents = ['en', 'ja', 'zh', 'ar'];

test('a text with one meaning in every language is read as that', () => {
  const cases: [typed: string, meaning: string][] = [
    ['25', '25'],
    [' 25.00 ', '25'],
    ['25,00', '25'],
    ['10,5', '10.5'],
    ['10.5', '10.5'],
    ['25.', '25'],
    ['25,', '25'],
    ['0.000001', '0.000001'],
    ['0,125', '0.125'],
    ['0.125', '0.125'],
    ['1,000.00', '1000'],
    ['1.000,00', '1000'],
    ['1,000,000', '1000000'],
    ['1.000.000', '1000000'],
    ['1 000', '1000'],
    ['1\u00a0000,50', '1000.5'],
    ['1\u202f000.50', '1000.5'],
    ["1'000", '1000'],
    ['1’000.50', '1000.5'],
    ['12345.67', '12345.67'],
    ['99999999999', '99999999999'],
    ['٢٥', '25'],
    ['١٬٠٠٠', '1000'],
    ['١٬٠٠٠٫٥٠', '1000.5'],
    ['١٫٢٥٠', '1.25'],
    ['۱۲٫۵', '12.5'],
    ['１，０００．５０', '1000.5'],
  ];
  for (const [typed, meaning] of cases)
    for (const tag of tags) assert.equal(meaningOf(tag, typed), meaning, `${tag}: ${typed}`);
});

test('one separator before three digits means thousands where the language groups with it, and is unclear elsewhere', () => {
  for (const tag of withPointForCents) {
    assert.equal(meaningOf(tag, '1,000'), '1000', tag);
    assert.equal(meaningOf(tag, '12,500'), '12500', tag);
    assert.equal(meaningOf(tag, '1.000'), '1000 or 1', tag);
    assert.equal(meaningOf(tag, '1000,000'), '1000000 or 1000', tag);
    assert.equal(meaningOf(tag, '1,0000'), '10000 or 1', tag);
    assert.equal(meaningOf(tag, '1 000,000'), '1000000 or 1000', tag);
    assert.equal(meaningOf(tag, '1.000,500'), '1000500 or 1000.5', tag);
    assert.equal(meaningOf(tag, '1,000.500'), '1000.5', tag);
  }
  for (const tag of withCommaForCents) {
    assert.equal(meaningOf(tag, '1,000'), '1000 or 1', tag);
    assert.equal(meaningOf(tag, '1.000,500'), '1000.5', tag);
    if (tag === 'fr') continue;
    assert.equal(meaningOf(tag, '1.000'), '1000', tag);
    assert.equal(meaningOf(tag, '1000.000'), '1000000 or 1000', tag);
  }
  assert.equal(meaningOf('fr', '1.000'), '1000 or 1');
});

test('a text that is not an amount is refused in every language', () => {
  const refused = [
    ...['', '0', '0.00', '1.0000001', '-5', '5 USD', '1e3', '1234567890123', '.5', '1,,0', '1, 5', '12 34'],
    ...[
      '1,00,000',
      '1,000.000.000',
      '1 000 00',
      "1'00",
      '1٬00',
      '1٫5٫5',
      '٫',
      '½',
      'NaN',
      '1 000'.repeat(40),
    ],
  ];
  for (const typed of refused)
    for (const tag of tags) assert.equal(meaningOf(tag, typed), 'wrong', `${tag}: ${typed}`);
});

test('an amount that the page writes is read as the same amount, in every language', () => {
  const amounts = fc.oneof(
    fc.bigInt({ min: 1n, max: 99_999_999_999_999n }),
    fc.bigInt({ min: 1n, max: 99_999_999_999n }).map((thousandths) => thousandths * 1_000n),
    fc.bigInt({ min: 1n, max: 99_999_999n }).map((dollars) => dollars * 1_000_000n),
  );
  const property = fc.property(fc.constantFrom(...tags), amounts, (tag, amount) => {
    assert.deepEqual(parseAmount(tag, writeAmount(tag, amount)), { kind: 'amount', amount });
  });
  fc.assert(property, { numRuns: 2_000 });
});

test('no text means an amount in one language and a thousand times that in another', () => {
  const characters = fc.constantFrom(...'0123456789.,', ' ', '’', '٫', '٬', '٣');
  const texts = fc.array(characters, { minLength: 1, maxLength: 12 }).map((all) => all.join(''));
  const property = fc.property(texts, (text) => {
    const read = withCommaForCents.map((tag) => parseAmount(tag, text));
    const others = withPointForCents.map((tag) => parseAmount(tag, text));
    for (const one of read) {
      for (const other of others) {
        if (one.kind === 'amount' && other.kind === 'amount') assert.equal(one.amount, other.amount, text);
      }
    }
  });
  fc.assert(property, { numRuns: 20_000 });
});

test('an unclear amount is refused with both ways to type it', () => {
  const texts = { amountWrong: 'wrong', amountUnclear: '{first} or {second}' };
  const say = (locale: string, typed: string) =>
    problemOfAmount({ locale, texts }, parseAmount(locale, typed));
  assert.deepEqual(
    [say('en', '1.000'), say('de', '1,000'), say('en', 'x'), say('en', '1,000')],
    ['1,000.00 or 1.00', '1.000,00 or 1,00', 'wrong', ''],
  );
});
