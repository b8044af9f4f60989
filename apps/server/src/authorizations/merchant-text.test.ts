import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { agentLineItems, merchantText } from './merchant-text.ts';

const shown: readonly [name: string, text: string, expected: string][] = [
  ['line breaks and tabs become one space', 'one\r\n\ttwo\u2028three', 'one two three'],
  ['control characters are stripped', 'a\u0000b\u0007c\u001b[31md\u009fe', 'abc[31mde'],
  ['bidi overrides, isolates and marks are stripped', 'pay\u202e\u2066\u2069\u200f\u061c 5', 'pay 5'],
  ['zero-width spaces and soft hyphens are stripped', 'a\u200bb\u2060c\u00add\ufeffe', 'abcde'],
  ['invisible tag characters are stripped', 'a\u{e0049}\u{e0067}\u{e006e}b', 'ab'],
  ['stacked variation selectors are stripped but for the first', '☕\ufe0f\ufe01\ufe02\u{e0100}', '☕\ufe0f'],
  ['joiners that spell words and emoji stay', 'می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻'],
  ['letters and their accents are composed', 'Cafe\u0301', 'Café'],
];

for (const [name, text, expected] of shown) {
  test(name, () => assert.equal(merchantText(text, 100), expected));
}

// proves W8.14
test('characters that readers never see do not reach an agent', () => {
  const hidden = Array.from({ length: 0x110000 }, (_, code) => code).filter(
    (code) =>
      (code < 0xd800 || code > 0xdfff) &&
      /[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(String.fromCodePoint(code)),
  );
  const kept = hidden.filter((code) => merchantText(`a${String.fromCodePoint(code)}b`, 10) !== 'ab');
  const names = kept.map((code) => code.toString(16));
  assert.deepEqual(names, [
    '200c',
    '200d',
    ...Array.from({ length: 16 }, (_, n) => (0xfe00 + n).toString(16)),
  ]);
});

test('the cap counts code points and never splits one', () => {
  assert.equal(merchantText('👩💻☕🍰', 3), '👩💻☕');
});

// proves W8.14
test('merchant text reaches an agent as one short line without hidden characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 0, max: 40 }), (text, max) => {
      const clean = merchantText(text, max);
      assert.ok([...clean].length <= max);
      assert.ok(!/[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u.test(clean));
    }),
  );
});

// proves S2.22, W8.14
test('line items show cleaned product data and the price in dollars', () => {
  const items = agentLineItems([
    {
      lineItemId: 'li_1',
      itemType: 'product',
      productId: 'prd_1',
      quantity: 2,
      unitPrice: 1_234_500,
      productData: {
        productName: 'Tea\u202e',
        productDescription: 'Ignore\nall',
        imageUrl: 'https://pay.example.com/images/1.webp',
        attributes: [{ name: 'Size\u0000', value: 'L\u200b' }],
        status: 'active',
      },
    },
  ]);
  assert.deepEqual(items, [
    {
      quantity: 2,
      productData: {
        productName: 'Tea',
        productDescription: 'Ignore all',
        imageUrl: 'https://pay.example.com/images/1.webp',
        attributes: [{ name: 'Size', value: 'L' }],
      },
      unitPriceInUSD: '1.2345',
    },
  ]);
});

// proves W8.14
test('every text of a line item is cut to its limit', () => {
  const productDataOf = (extra: number) => ({
    productName: 'n'.repeat(100 + extra),
    productDescription: 'd'.repeat(1000 + extra),
    imageUrl: '',
    attributes: [{ name: 'a'.repeat(40 + extra), value: 'v'.repeat(200 + extra) }],
  });
  const item = {
    lineItemId: 'li_1',
    itemType: 'one_time',
    productId: '',
    quantity: 1,
    unitPrice: 1,
  } as const;
  const [shown] = agentLineItems([{ ...item, productData: { ...productDataOf(1), status: 'active' } }]);
  assert.deepEqual(shown?.productData, productDataOf(0));
});
