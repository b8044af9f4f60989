import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { languages } from '../text/languages.ts';
import { editOf, groupTyped, parseAmount, problemOfAmount, writeAmount } from './amount.ts';

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

/** Types key by key at the end of the field. */
function typeInto(locale: string, keys: string): string {
  let shown = '';
  for (const key of keys) {
    const text = shown + key;
    shown = groupTyped(locale, shown, { text, caret: text.length }, 'typed').text;
  }
  return shown;
}

test('group separators are inserted while the payer types, and a typed separator stays', () => {
  assert.deepEqual(
    ['1000', '1234567.89', '1,000', '10,5', '1000,50', '1.000.000'].map((keys) => typeInto('en', keys)),
    ['1,000', '1,234,567.89', '1,000', '10,5', '1000,50', '1.000.000'],
  );
  assert.deepEqual(
    ['1000', '1234567,89', '10.5', '1000.50'].map((keys) => typeInto('de', keys)),
    ['1.000', '1.234.567,89', '10.5', '1000.50'],
  );
  assert.equal(typeInto('fr', '1234567,89'), '1\u202f234\u202f567,89');
});

test('text typed key by key means the same as text entered at once', () => {
  const keys = fc.array(fc.constantFrom(...'0123456789.,'), { minLength: 1, maxLength: 10 });
  const property = fc.property(fc.constantFrom(...tags), keys, (tag, pressed) => {
    const [slow, atOnce] = [
      parseAmount(tag, typeInto(tag, pressed.join(''))),
      parseAmount(tag, pressed.join('')),
    ];
    if (slow.kind === 'amount' && atOnce.kind === 'amount')
      assert.equal(slow.amount, atOnce.amount, pressed.join(''));
  });
  fc.assert(property, { numRuns: 20_000 });
});

test('the caret stays behind the same digit while group separators move', () => {
  // `|` is the caret.
  const edit = (locale: string, shown: string, typed: string) => {
    const edited = { text: typed.replace('|', ''), caret: typed.indexOf('|') };
    const how = edited.text.length > shown.length ? 'typed' : 'deleted';
    const { text, caret } = groupTyped(locale, shown, edited, how);
    return `${text.slice(0, caret)}|${text.slice(caret)}`;
  };
  assert.deepEqual(
    [
      edit('en', '1,234', '1,2934|'),
      edit('en', '1,234', '9|1,234'),
      edit('en', '1,234', '1,2|4'),
      edit('en', '1,234', '1|234'),
      edit('en', '12,345.67', '12,|45.67'),
      edit('en', '1,234', '|'),
    ],
    ['12,934|', '9|1,234', '12|4', '1|,234', '1,2|45.67', '|'],
  );
});

/** The field's text after a text replaces a part of it in one event. */
function replaceIn(
  locale: string,
  shown: string,
  { from, to, by }: { readonly from: number; readonly to: number; readonly by: string },
): string {
  const edited = { text: `${shown.slice(0, from)}${by}${shown.slice(to)}`, caret: from + by.length };
  const how = editOf({ inputType: 'insertText', data: by });
  return groupTyped(locale, shown, edited, how).text;
}

test('a text that replaces an older amount keeps its own meaning', () => {
  const over = (locale: string, shown: string, by: string) =>
    replaceIn(locale, shown, { from: 0, to: shown.length, by });
  assert.deepEqual(
    ['0,5', '2,5', '1.000,00', '1,00', '1,0', ','].map((by) => over('en', '1,000.00', by)),
    ['0,5', '2,5', '1.000,00', '1,00', '1,0', ','],
  );
  assert.equal(over('de', '1.000,00', '0.5'), '0.5');
  const fields = fc.array(fc.constantFrom(...'0123456789.,'), { maxLength: 9 });
  const texts = fc.array(fc.constantFrom(...'0123456789.,', ' ', '\u202f', '٫', 'x'), {
    minLength: 1,
    maxLength: 9,
  });
  const property = fc.property(fc.constantFrom(...tags), fields, texts, (tag, keys, text) => {
    const by = text.join('');
    const field = over(tag, typeInto(tag, keys.join('')), by);
    assert.deepEqual(parseAmount(tag, field), parseAmount(tag, by), `${tag}: ${by}`);
  });
  fc.assert(property, { numRuns: 20_000 });
});

test('a text pasted between digits means what the field then shows', () => {
  const fields = fc.array(fc.constantFrom(...'0123456789.,'), { maxLength: 9 });
  const texts = fc.array(fc.constantFrom(...'0123456789.,'), { minLength: 2, maxLength: 6 });
  const property = fc.property(
    fc.constantFrom(...tags),
    fields,
    texts,
    fc.nat(12),
    fc.nat(12),
    (tag, keys, text, start, length) => {
      const shown = typeInto(tag, keys.join(''));
      const from = Math.min(start, shown.length);
      const to = Math.min(from + length, shown.length);
      const by = text.join('');
      const whole = `${shown.slice(0, from)}${by}${shown.slice(to)}`;
      const field = replaceIn(tag, shown, { from, to, by });
      assert.deepEqual(parseAmount(tag, field), parseAmount(tag, whole), `${tag}: ${whole}`);
    },
  );
  fc.assert(property, { numRuns: 20_000 });
});

test('a typed separator stays, regardless of the text that it replaces', () => {
  for (const [tag, sign] of [
    ['en', ','],
    ['de', '.'],
  ] as const) {
    const shown = writeAmount(tag, 1_000_000_000n);
    assert.equal(replaceIn(tag, shown, { from: 1, to: shown.length, by: sign }), `1${sign}`, tag);
  }
});

test('an edit is a single key, a deletion, or a pasted text', () => {
  const edits = [
    ['insertText', '5', 'typed'],
    ['insertText', '0,5', 'whole'],
    ['insertText', null, 'whole'],
    ['insertFromPaste', '5', 'whole'],
    ['insertReplacementText', '0,5', 'whole'],
    ['insertCompositionText', '5', 'whole'],
    ['historyUndo', null, 'whole'],
    ['deleteContentBackward', null, 'deleted'],
    ['deleteByCut', null, 'deleted'],
    [undefined, undefined, 'whole'],
  ] as const;
  for (const [inputType, data, how] of edits) assert.equal(editOf({ inputType, data }), how, inputType);
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
