import assert from 'node:assert/strict';
import test from 'node:test';
import type { Account } from '@florin/protocol/account.ts';
import type { LinkDetail } from '@florin/protocol/link.ts';
import {
  linkDraftOf,
  linkFaults,
  linkUpdateOf,
  newLinkDraft,
  policyTexts,
  totalOf,
  withWallet,
} from './link-draft.ts';
import { previewedOrderOf } from './previewed-order.ts';

const link: LinkDetail = {
  linkId: 'lnk_1',
  linkType: 'fixed',
  linkName: 'Caps',
  accountId: 'acc_1',
  settlementToken: 'base::usdc',
  feeModel: 2,
  amount: 25_000_000,
  payerEmailRequired: 1,
  successUrl: 'https://shop.example.com/thanks',
  cancelUrl: 'https://shop.example.com/cart',
  autoReturn: 'never',
  customSuccessText: 'Thanks',
  customDisabledText: '',
  linkUrl: 'https://pay.example.com/l/1',
  status: 'active',
  versionCode: 'abc',
  exceptionPolicy: { latePayment: 'ask' },
  createAt: '2026-01-01 00:00:00',
  updateAt: '2026-01-01 00:00:00',
  lineItems: {
    items: [
      { lineItemId: 'li_1', itemType: 'product', productId: 'prd_1', quantity: 2, unitPrice: 12_500_000 },
    ],
  },
  accountName: 'Main',
  accountAddress: '0x0000000000000000000000000000000000000001',
  settlementTokenInfo: {
    tokenId: 'base::usdc',
    contractAddress: '',
    name: '',
    symbol: '',
    decimals: 6,
    chainId: '1',
  },
};

test('saving a link with another text for payers keeps all else', () => {
  assert.deepEqual(linkUpdateOf(link, { customDisabledText: 'Sold out' }), {
    linkId: 'lnk_1',
    linkType: 'fixed',
    linkName: 'Caps',
    accountId: 'acc_1',
    settlementToken: 'base::usdc',
    feeModel: 2,
    lineItems: [{ itemType: 'product', productId: 'prd_1', quantity: 2, unitPrice: 12_500_000 }],
    payerEmailRequired: 1,
    successUrl: 'https://shop.example.com/thanks',
    cancelUrl: 'https://shop.example.com/cart',
    autoReturn: 'never',
    customSuccessText: 'Thanks',
    customDisabledText: 'Sold out',
    exceptionPolicy: { latePayment: 'ask' },
  });
});

test('a link with a custom amount keeps the product that it shows', () => {
  const items = [
    { lineItemId: 'li_1', itemType: 'user_priced' as const, productId: 'prd_1', quantity: 1, unitPrice: 0 },
  ];
  const body = linkUpdateOf({ ...link, linkType: 'custom', amount: 0, lineItems: { items } }, {});
  assert.deepEqual(body.lineItems, [{ itemType: 'user_priced', productId: 'prd_1' }]);
});

test('a fixed link needs products, whole quantities and prices', () => {
  const row = { key: 'a', productId: '', quantity: '1.5', price: '-1' };
  const draft = { ...newLinkDraft(), accountId: 'acc_1', settlementToken: 'base::usdc', items: [row] };
  assert.deepEqual(Object.keys(linkFaults(draft)), ['a.productId', 'a.quantity', 'a.unitPrice']);
  assert.equal(totalOf(draft), undefined);
  assert.deepEqual(linkFaults(linkDraftOf(link)), {});
  assert.equal(totalOf(linkDraftOf(link)), 25_000_000);
});

test('an untouched form makes no link: a person chooses the product, and the wallet and the token among several', () => {
  const wallet = (accountId: string, settlementCurrencies: string[]) =>
    ({ accountId, settlementCurrencies }) as unknown as Account;
  const faultsWith = (...accounts: Account[]) =>
    Object.keys(linkFaults(withWallet(newLinkDraft(), accounts))).map((key) => key.replace(/^.*[.]/, ''));
  const one = wallet('acc_1', ['base::usdc']);
  const amount = ['productId', 'unitPrice'];
  assert.deepEqual(faultsWith(one), amount);
  assert.deepEqual(faultsWith(wallet('acc_1', ['base::usdc', 'base::eurc'])), ['settlementToken', ...amount]);
  assert.deepEqual(faultsWith(one, wallet('acc_2', ['base::usdc'])), ['accountId', ...amount]);
});

test('the token is always one that the chosen wallet takes', () => {
  const account = {
    accountId: 'acc_2',
    accountName: 'Other',
    accountAddress: link.accountAddress,
    accountType: 'EVM::ADDR',
    settlementCurrencies: ['base::eurc'],
    version: '1',
    status: 'normal',
    settlementMode: '',
    createAt: '',
    updateAt: '',
  } as const;
  const wallets = [{ ...account, settlementCurrencies: [...account.settlementCurrencies] }];
  const draft = withWallet({ ...linkDraftOf(link), accountId: 'acc_2' }, wallets);
  assert.deepEqual([draft.accountId, draft.settlementToken], ['acc_2', 'base::eurc']);
  assert.equal(withWallet({ ...linkDraftOf(link), accountId: '' }, wallets).accountId, 'acc_2');
  // No other wallet gets the money of a link whose own was removed, unless a person chooses it.
  const removed = withWallet(linkDraftOf(link), wallets);
  assert.deepEqual([removed.accountId, removed.settlementToken], ['', '']);
  assert.deepEqual(Object.keys(linkFaults(removed)), ['accountId']);
});

test('the policy for short and late transfers is typed, and what is empty is the operator’s', () => {
  const typed = {
    latePayment: 'accept',
    lateHours: '24',
    underpaidPercent: '0.5',
    underpaidAmount: '0',
  } as const;
  const policy = { latePayment: 'accept', lateHours: 24, underpaidPpm: 5_000, underpaidAmount: 0 };
  assert.deepEqual(linkUpdateOf(link, typed).exceptionPolicy, policy);
  const { latePayment, lateHours, underpaidPercent, underpaidAmount } = linkDraftOf({
    ...link,
    exceptionPolicy: policy as NonNullable<LinkDetail['exceptionPolicy']>,
  });
  assert.deepEqual({ latePayment, lateHours, underpaidPercent, underpaidAmount }, typed);
  assert.equal('exceptionPolicy' in linkUpdateOf(link, { latePayment: '' }), false);
  const wrong = { lateHours: '169', underpaidPercent: '10.1', underpaidAmount: '1.234' };
  assert.deepEqual(Object.keys(linkFaults({ ...linkDraftOf(link), ...wrong })), Object.keys(wrong));
});

test('limits are kept by a save, and an end is typed in local time', () => {
  const limited = { ...link, maxPayments: 20, activeUntil: 1_900_000_030 };
  const { maxPayments, activeUntil } = linkUpdateOf(limited, { linkName: 'Hats' });
  assert.deepEqual([maxPayments, activeUntil], [20, 1_900_000_030]);
  const typed = linkUpdateOf(limited, { maxPayments: ' 7 ', activeUntil: '2030-05-01T18:30' });
  const local = new Date(2030, 4, 1, 18, 30).getTime() / 1000;
  assert.deepEqual([typed.maxPayments, typed.activeUntil], [7, local]);
  const cleared = linkUpdateOf(limited, { maxPayments: '', activeUntil: '' });
  assert.deepEqual(['maxPayments' in cleared, 'activeUntil' in cleared], [false, false]);
  const wrong = linkFaults({ ...linkDraftOf(link), maxPayments: '0', activeUntil: 'soon' });
  assert.deepEqual(Object.keys(wrong), ['maxPayments', 'activeUntil']);
});

test('the preview shows what is typed, and no price where none can be read', () => {
  const draft = linkDraftOf(link);
  const shown = { title: 'Caps', settlementToken: 'base::usdc', isFeeOnTop: true, isEmailRequired: true };
  const item = { productId: 'prd_1', name: '', quantity: 2, value: '25000000' };
  assert.deepEqual(previewedOrderOf(draft, 'Caps'), { ...shown, amount: '25000000', items: [item] });
  const rows = (changed: object) => draft.items.map((row) => ({ ...row, ...changed }));
  const without = (changed: object) => previewedOrderOf({ ...draft, items: rows(changed) }, 'Caps').items;
  assert.deepEqual(without({ price: 'twelve' }), [{ ...item, value: '' }]);
  assert.deepEqual(without({ quantity: '' }), [{ ...item, quantity: 1, value: '' }]);
  assert.deepEqual(without({ productId: '' }), []);
  assert.deepEqual(without({ quantity: '99999', price: '999999999' }), [
    { ...item, quantity: 99_999, value: '999999999999999' },
  ]);
  assert.deepEqual(previewedOrderOf({ ...draft, linkType: 'custom', shownProductId: 'prd_2' }, 'Tips'), {
    ...{ ...shown, title: 'Tips', amount: '' },
    items: [{ productId: 'prd_2', name: '', quantity: 1, value: '' }],
  });
});

test('the page of a link says what becomes of short and late transfers, also where the operator chose it', () => {
  const policy = {
    latePayment: 'ask',
    lateHours: 24,
    underpaidPpm: 20_000,
    underpaidAmount: 500_000,
  } as const;
  assert.deepEqual(policyTexts(policy), [
    ['Money that comes late', 'You decide on each, within 24 hours'],
    ['May be short by', '2 %, and by no more than $0.50'],
  ]);
  assert.deepEqual(policyTexts(undefined), [
    ['Money that comes late', 'As the operator chose'],
    ['May be short by', 'As the operator chose'],
  ]);
  const operators = {
    latePayment: 'return',
    lateHours: 1,
    underpaidPpm: 10_000,
    underpaidAmount: 500_000,
  } as const;
  assert.deepEqual(policyTexts(undefined, operators), [
    ['Money that comes late', 'As the operator chose: it goes back to the payer'],
    ['May be short by', 'As the operator chose: 1 %, and by no more than $0.50'],
  ]);
  assert.deepEqual(policyTexts({ latePayment: 'ask', underpaidPpm: 0 }, operators), [
    ['Money that comes late', 'You decide on each, within 1 hour'],
    ['May be short by', '0 %, and by no more than $0.50'],
  ]);
});
