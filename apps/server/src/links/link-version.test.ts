import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isId } from '@florin/protocol/id.ts';
import type { LineItem } from '@florin/protocol/line-item.ts';
import { autoReturns, shopReturnOf } from '@florin/protocol/shop-return.ts';
import fc from 'fast-check';
import { type LinkTerms, linkVersionOf } from './link-version.ts';

const text = fc.string({ maxLength: 8 });
const item: fc.Arbitrary<LineItem> = fc.record({
  lineItemId: text,
  itemType: fc.constantFrom('product' as const, 'user_priced' as const),
  productId: text,
  quantity: fc.integer({ min: 1, max: 10_000 }),
  unitPrice: fc.integer({ min: 0, max: 10_000_000_000_000 }),
  productData: fc.record({
    productName: text,
    productDescription: text,
    imageUrl: text,
    attributes: fc.array(fc.record({ name: text, value: text }), { maxLength: 2 }),
    status: text,
  }),
});
const terms: fc.Arbitrary<LinkTerms> = fc.record({
  linkId: text,
  linkType: fc.constantFrom('fixed' as const, 'custom' as const),
  linkName: text,
  account: fc.record({ accountId: text, version: text }),
  settlementToken: text,
  feeModel: fc.constantFrom(1 as const, 2 as const),
  payerEmailRequired: fc.boolean(),
  successUrl: text,
  cancelUrl: text,
  autoReturn: fc.constantFrom(...autoReturns),
  customSuccessText: text,
  customDisabledText: text,
  items: fc.array(item, { minLength: 1, maxLength: 3 }),
});

/** The terms that a payer agrees to, without the ids and states that the version leaves out. */
function agreedTo(value: LinkTerms): unknown {
  return {
    ...value,
    account: { ...value.account },
    items: value.items.map(({ lineItemId: _, productData, ...rest }) => {
      const { status: __, ...shown } = productData ?? { status: '' };
      return { ...rest, productData: shown };
    }),
  };
}

function isEqual(left: unknown, right: unknown): boolean {
  try {
    assert.deepStrictEqual(left, right);
    return true;
  } catch {
    return false;
  }
}

test('a version is an id', () => {
  fc.assert(fc.property(terms, (value) => isId('linkVersion', linkVersionOf(value))));
});

// proves S9.2
test('two links have the same version exactly when payers agree to the same terms', () => {
  fc.assert(
    fc.property(terms, terms, (left, right) => {
      assert.equal(linkVersionOf(left) === linkVersionOf(right), isEqual(agreedTo(left), agreedTo(right)));
    }),
  );
});

// proves W2.13
test('changing any agreed field changes the version', () => {
  fc.assert(
    fc.property(terms, terms, (base, other) => {
      for (const key of Object.keys(base) as (keyof LinkTerms)[]) {
        const edited = { ...base, [key]: other[key] };
        assert.equal(
          linkVersionOf(edited) === linkVersionOf(base),
          isEqual(agreedTo(edited), agreedTo(base)),
          key,
        );
      }
    }),
  );
});

// proves S9.2, W2.13
test('each agreed term alone changes the version', () => {
  const link: LinkTerms = {
    linkId: 'lnk_1',
    linkType: 'fixed',
    linkName: 'Tea',
    account: { accountId: 'acc_1', version: 'acv_1' },
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    payerEmailRequired: false,
    successUrl: '',
    ...shopReturnOf({}),
    customSuccessText: '',
    customDisabledText: '',
    items: [],
  };
  const productData = { productName: 'Tea', productDescription: '', imageUrl: '', attributes: [] };
  const sold = {
    lineItemId: 'li_1',
    itemType: 'product',
    productId: 'prd_1',
    quantity: 1,
    unitPrice: 5,
  } as const;
  const withItem = (change: Partial<LineItem> = {}, data: Partial<typeof productData> | object = {}) => ({
    ...link,
    items: [{ ...sold, productData: { ...productData, ...data }, ...change }],
  });
  const edited: LinkTerms[] = [
    withItem(),
    { ...withItem(), linkId: 'lnk_2' },
    { ...withItem(), linkType: 'custom' },
    { ...withItem(), linkName: 'Coffee' },
    { ...withItem(), account: { accountId: 'acc_2', version: 'acv_1' } },
    { ...withItem(), account: { accountId: 'acc_1', version: 'acv_2' } },
    { ...withItem(), settlementToken: 'base::usdc' },
    { ...withItem(), feeModel: 2 },
    { ...withItem(), payerEmailRequired: true },
    { ...withItem(), successUrl: 'https://shop.example.com/' },
    { ...withItem(), cancelUrl: 'https://shop.example.com/' },
    { ...withItem(), autoReturn: 'never' },
    { ...withItem(), customSuccessText: 'Thanks' },
    { ...withItem(), customDisabledText: 'Later' },
    withItem({ itemType: 'user_priced' }),
    withItem({ productId: 'prd_2' }),
    withItem({ quantity: 2 }),
    withItem({ unitPrice: 6 }),
    withItem({}, { productName: 'Coffee' }),
    withItem({}, { productDescription: 'Black' }),
    withItem({}, { imageUrl: 'https://shop.example.com/tea.webp' }),
    withItem({}, { attributes: [{ name: 'size', value: 'L' }] }),
    withItem({}, { attributes: [{ name: 'size', value: 'S' }] }),
  ];
  assert.equal(new Set(edited.map(linkVersionOf)).size, edited.length);
});

// proves W2.13
test('ids of line items and statuses of products do not change the version', () => {
  fc.assert(
    fc.property(terms, text, text, (value, lineItemId, status) => {
      const items = value.items.map((entry) => ({
        ...entry,
        lineItemId,
        ...(entry.productData === undefined ? {} : { productData: { ...entry.productData, status } }),
      }));
      assert.equal(linkVersionOf({ ...value, items }), linkVersionOf(value));
    }),
  );
});

test('the order of line items is part of the version', () => {
  fc.assert(
    fc.property(terms, item, (value, extra) => {
      const forward = { ...value, items: [...value.items, { ...extra, productId: 'last' }] };
      const backward = { ...value, items: forward.items.toReversed() };
      assert.equal(
        linkVersionOf(forward) === linkVersionOf(backward),
        isEqual(agreedTo(forward), agreedTo(backward)),
      );
    }),
  );
});

// proves W2.13
test('a policy for short and late deposits is part of the version; without one the version stays', () => {
  fc.assert(
    fc.property(terms, fc.integer({ min: 0, max: 100_000 }), (value, underpaidPpm) => {
      const version = linkVersionOf({ ...value, exceptionPolicy: { underpaidPpm } });
      assert.notEqual(version, linkVersionOf(value));
      assert.notEqual(
        version,
        linkVersionOf({ ...value, exceptionPolicy: { underpaidPpm: underpaidPpm + 1 } }),
      );
    }),
  );
});

test('each limit of a link is part of the version; without limits the version stays', () => {
  const seconds = fc.integer({ min: 1, max: 9_999_999_998 });
  fc.assert(
    fc.property(terms, fc.integer({ min: 1, max: 999_999 }), seconds, (value, maxPayments, end) => {
      const limited = [
        value,
        { ...value, maxPayments },
        { ...value, maxPayments: maxPayments + 1 },
        { ...value, activeUntil: new Date(end * 1000) },
        { ...value, activeUntil: new Date((end + 1) * 1000) },
      ];
      assert.equal(new Set(limited.map(linkVersionOf)).size, limited.length);
      assert.equal(
        linkVersionOf({ ...value, maxPayments: undefined, activeUntil: undefined }),
        linkVersionOf(value),
      );
    }),
  );
});
