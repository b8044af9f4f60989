import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noActions } from '../checkout/actions.ts';
import { initialModel, isAtEnd } from '../checkout/model.ts';
import { payView } from '../checkout/pay-view.ts';
import { flatten, type Tree } from '../checkout/tree.ts';
import { wayView } from '../checkout/way-view.ts';
import { en } from '../text/en.ts';
import { scriptTexts } from '../text/script-texts.ts';
import { depositView } from './deposit-view.ts';
import { elsewhereNotice } from './elsewhere-notice.ts';
import type { PageData, Reader } from './page-data.ts';
import { statusView, wordsOf } from './status.ts';

test('a session is at its end when its status is final and no other money of it will move by itself', () => {
  const exception = {
    kind: 'late',
    tokenId: 'a',
    symbol: 'A',
    decimals: 6,
    amount: '1',
    heldUntil: 0,
    isUnproven: false,
  } as const;
  const cases = [
    ['initialized', [], false],
    ['settlement_pending', [], false],
    ['completed', [], true],
    ['expired', ['back', 'goes'], false],
    ['expired', ['back', 'waits_by_hand'], false],
    ['expired', ['accepted'], false],
    ['completed', ['second'], false],
    ['cancelled', ['back', 'by_hand', 'taken', 'closed'], true],
  ] as const;
  for (const [status, outcomes, isOver] of cases) {
    const exceptions = outcomes.map((outcome) => ({ ...exception, outcome }));
    assert.equal(isAtEnd({ status, exceptions }), isOver, status);
  }
});

test('a fully refunded payment is shown as refunded, and the page does not say that the merchant receives it', () => {
  const state = {
    sessionId: 'sess_1',
    isPayable: false,
    expiresAt: 0,
    amount: '4500000',
    initiateTx: '0xab',
    completeTx: '',
    pendingReason: '',
    paidAt: '2030-01-01T00:00:00.000Z',
    settledAt: '',
    receiptId: '',
    deposits: [],
    exceptions: [],
  };
  const cases = [
    ['paid', '0', false, en.paid, en.paidHint],
    ['paid', '4500000', true, en.refundedInFull, undefined],
    ['settling', '4500000', true, en.refundedInFull, undefined],
    ['settlement_pending', '4500000', true, en.refundedInFull, undefined],
    ['completed', '0', false, en.completed, undefined],
    ['completed', '1000000', false, en.completed, undefined],
    ['completed', '4500000', true, en.refundedInFull, undefined],
  ] as const;
  for (const [status, refunded, isRefunded, title, hint] of cases) {
    const words = wordsOf({ texts: en, linkUrl: '' }, { ...state, status, refunded, isRefunded }, 0);
    assert.deepEqual([words.title, words.hint], [title, hint], `${status} ${refunded}`);
  }
});

test('a payment in doubt is said to be checked, and not how soon it becomes final', () => {
  const payment = {
    ...{ tokenId: 'base::usdc', chainId: '8453', payer: '0x12', isDeposit: false, fee: '0' },
    ...{ amountInToken: '4500000', total: '4500000', confirmations: 3, confirmationsWanted: 5 },
  };
  const doubted = {
    ...state,
    initiateTx: '0xab',
    isPayable: false,
    deposits: [],
    payment,
    receiptTo: 'p•••@e•••.com',
    isInDoubt: true as const,
  };
  const text = textOf(statusView(data, doubted, { now: 0, timeZone: 'UTC' }));
  assert.ok(text.includes(`${en.inDoubt} ${en.inDoubtHint}`), text);
  assert.ok(!text.includes(en.detectedHint.slice(0, 20)), text);
  // It is no receipt, and none was sent, as far as this page knows now.
  assert.ok(text.includes(en.payment) && !text.includes(en.receipt), text);
});

const deposit = {
  ...{ tokenId: 'base::usdc', chainId: '8453', symbol: 'USDC', decimals: 6 },
  ...{
    addressEnd: 'a1B2',
    amountInToken: '4000000',
    finalInToken: '0',
    missingInToken: '500000',
    payUntil: 1_000,
  },
};
const option = {
  ...{ tokenId: 'base::usdc', chainId: '8453', chainTitle: 'Base', symbol: 'USDC' },
  ...{ decimals: 6, amountInToken: '4500000', total: '4500000', fee: '0', secondsToFinal: 1 },
  status: 'available' as const,
};
const data: PageData = {
  ...{
    locale: 'en',
    texts: en,
    agentApi: '',
    linkUrl: '',
    title: '',
    merchant: '',
    items: [],
    drawings: { file: '', keys: [] },
  },
  ...{ amount: '', isFeeOnTop: false, isEmailRequired: false, intendedPayer: '', recipient: '' },
  ...{ settlementChainId: '', settledIn: '', options: [option], explorers: {} },
  ...{ legalName: '', scheme: 'device' as const, links: [] },
};
const state = {
  ...{ sessionId: 'sess_1', status: 'initialized' as const, isPayable: true, expiresAt: 2_000 },
  ...{
    amount: '4500000',
    initiateTx: '',
    completeTx: '',
    pendingReason: '',
    paidAt: '',
    settledAt: '',
    receiptId: '',
  },
  ...{ exceptions: [], refunded: '0', isRefunded: false },
};
const textOf = (tree: Tree): string =>
  flatten(tree)
    .map((item) => (typeof item === 'string' ? item : textOf(item.children)))
    .join(' ');

test('a short deposit is shown with what is missing, on which network and until when, while it can be completed', () => {
  const shown = (missingInToken: string, reader: Reader) =>
    textOf(statusView(data, { ...state, deposits: [{ ...deposit, missingInToken }] }, reader));
  const timeZone = 'UTC';
  const text = shown('500000', { now: 999, timeZone });
  assert.match(
    text,
    /4\.00\sUSDC has arrived\. Send 0\.50\sUSDC more to the same address\. The address ends in a1B2\. Only on the Base network/,
  );
  assert.match(text, /Jan 1, 1970.*12:16/);
  for (const [missing, reader] of [
    ['0', { now: 999, timeZone }],
    ['500000', { now: 1_000, timeZone }],
  ] as const)
    assert.doesNotMatch(shown(missing, reader), /has arrived/);
});

test('money that went back is named with its transaction, and a page that shows an address says once that it waits', () => {
  const back = {
    ...{ kind: 'overpaid' as const, tokenId: 'base::usdc', symbol: 'USDC', decimals: 6, amount: '1500000' },
    ...{ outcome: 'back' as const, heldUntil: 0, isUnproven: false },
    returned: { tx: `0x${'5e'.repeat(32)}`, chainId: '8453' },
  };
  const shownDeposit = {
    ...{ address: `0x${'11'.repeat(20)}`, tokenId: 'base::usdc', amountInToken: '4500000' },
    ...{ orderId: '0x1', refundTo: '', transferUri: '', payUntil: 1_000 },
  };
  const explorers = { 8453: 'https://explorer.example' };
  const reader = { now: 999, timeZone: 'UTC' };
  const shown = { ...state, deposits: [], exceptions: [back], shownDeposit };
  const tree = statusView({ ...data, explorers }, shown, reader);
  const text = textOf(tree);
  assert.match(text, /1\.50\sUSDC was too much and went back\./);
  assert.match(text, /Return transaction 0x5e5e…5e5e/);
  assert.ok(JSON.stringify(tree).includes(`https://explorer.example/tx/${back.returned.tx}`));
  assert.equal(text.split('Pay until').length - 1, 1);
});

test('a receipt leads to each transaction in the explorer of its own chain, and nowhere where none is known', () => {
  const [initiateTx, completeTx] = [`0x${'1a'.repeat(32)}`, `0x${'2b'.repeat(32)}`];
  const payment = {
    ...{ tokenId: 'base::usdc', chainId: '8453', payer: '0x12', isDeposit: false, fee: '0' },
    ...{ amountInToken: '4500000', total: '4500000', confirmations: 3, confirmationsWanted: 3 },
  };
  const shown = {
    ...state,
    ...{ status: 'completed' as const, initiateTx, completeTx, payment, deposits: [] },
    ...{ paidAt: '2030-01-01T00:00:00.000Z', settledAt: '2030-01-01T00:01:00.000Z' },
  };
  const linksWith = (explorers: Readonly<Record<string, string>>) => {
    // The settlement token is none that the payer could choose.
    const tree = statusView({ ...data, settlementChainId: '1', explorers }, shown, {
      now: 0,
      timeZone: 'UTC',
    });
    return linksIn(tree).map(({ href, target, rel, 'aria-label': name }) => [href, target, rel, name]);
  };
  const to = ['_blank', 'noreferrer'];
  assert.deepEqual(linksWith({ 8453: 'https://base.example', 1: 'https://ethereum.example' }), [
    [`https://base.example/tx/${initiateTx}`, ...to, 'Open in the explorer: Payment transaction'],
    [`https://ethereum.example/tx/${completeTx}`, ...to, 'Open in the explorer: Settlement transaction'],
  ]);
  assert.deepEqual(linksWith({ 10: 'https://other.example' }), []);
});

/** The attributes of the links below a tree. */
function linksIn(tree: Tree): Readonly<Record<string, string>>[] {
  return flatten(tree).flatMap((item) => {
    if (typeof item === 'string') return [];
    return [...(item.tag === 'a' ? [item.attributes] : []), ...linksIn(item.children)];
  });
}

test('beside an address, the page says what has arrived at another one, and what to send there or here', () => {
  const panel = {
    address: '0x1111111111111111111111111111111111111111',
    tokenId: 'base::usdc',
    amountInToken: '4500000',
    ...{ orderId: '0x1', refundTo: '', transferUri: '', payUntil: 1_000 },
  };
  const said = (...deposits: (typeof deposit)[]) =>
    textOf(elsewhereNotice(data, panel, { ...state, deposits }));
  assert.equal(
    said(deposit),
    '4.00\u00a0USDC has already arrived at another address, which ends in a1B2. To complete that payment, send 0.50\u00a0USDC more ' +
      'to that address. Show this address again If you send to the address below instead, send the whole 4.50\u00a0USDC. The other 4.00\u00a0USDC then goes ' +
      'back to its refund address.',
  );
  assert.equal(
    said({ ...deposit, amountInToken: '4500000', missingInToken: '0' }),
    'The whole amount, 4.50\u00a0USDC, has already arrived at another address. Send nothing more.',
  );
  assert.equal(said(), '');
  // The panel's own address has its own words.
  assert.equal(said({ ...deposit, addressEnd: '1111' }), '');
  const elsewhere = { ...deposit, addressEnd: '1111', tokenId: 'ethereum::usdc' };
  assert.match(said(elsewhere), /^4\.00\sUSDC has already arrived at another address/);
});

test('a payer reads before the choice and while waiting how long the network takes', () => {
  const slow = { ...option, secondsToFinal: 900 };
  const shown = { ...data, options: [slow] };
  const model = initialModel({
    ...shown,
    texts: scriptTexts(en, { hasAmount: true, hasEmail: true, isOfAgent: false }),
  });
  assert.match(textOf(wayView(model, slow, noActions)), /about 15 minutes/);
  // Without a wallet in this browser, it stands beside what is accepted; for those who send to an address, in its panel.
  const link = { linkId: 'lnk_1', version: 'ver_1', isCustom: false };
  const without = { ...model, data: { ...model.data, link }, wallets: [] };
  assert.match(textOf(payView(without, noActions, 0, undefined)), /Base: USDC\s+· about 15 minutes/);
  const address = '0x1111111111111111111111111111111111111111';
  const shownDeposit = {
    ...{ orderId: '0x1', tokenId: slow.tokenId, address, refundTo: '0x2222…2222', transferUri: '' },
    ...{ amountInToken: '4500000', payUntil: 2_000_000_000 },
  };
  const panel = depositView(shown, { ...state, deposits: [], shownDeposit }, { now: 0, timeZone: 'UTC' });
  assert.match(textOf(panel), /Base · about 15 minutes/);
  const { tokenId, chainId, amountInToken, total, fee } = slow;
  const payment = {
    ...{ tokenId, chainId, amountInToken, total, fee, payer: '', isDeposit: false },
    ...{ confirmations: 3, confirmationsWanted: 64 },
  };
  const seen = { ...state, initiateTx: '0xab', deposits: [], payment };
  const text = textOf(statusView(shown, seen, { now: 0, timeZone: 'UTC' }));
  assert.match(text, /confirmation 3 of about 64\. Base · about 15 minutes/);
});
