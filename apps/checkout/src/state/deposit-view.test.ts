import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import { flatten, type Tree } from '../checkout/tree.ts';
import { en } from '../text/en.ts';
import { depositView } from './deposit-view.ts';
import type { PageData } from './page-data.ts';

const token = { tokenId: 'ethereum::usdc', chainId: '1', symbol: 'USDC', decimals: 6 };
const option = {
  ...token,
  ...{ chainTitle: 'Ethereum', amountInToken: '4500000', total: '4500000', fee: '0' },
  ...({ status: 'available', secondsToFinal: 1 } as const),
};
const data: PageData = {
  ...{
    locale: 'en',
    texts: en,
    agentApi: '',
    drawings: { file: '', keys: [] },
    title: '',
    amount: '4500000',
  },
  ...{ isFeeOnTop: false, isEmailRequired: false, intendedPayer: '', merchant: 'Tea', legalName: 'Tea' },
  ...{ scheme: 'device', links: [], items: [], linkUrl: '', recipient: '', settlementChainId: '' },
  ...{ settledIn: '', explorers: {}, options: [option] },
};
const address = '0x1111111111111111111111111111111111111111';
const state: CheckoutState = {
  ...{ sessionId: 'sess_1', status: 'initialized', isPayable: true, expiresAt: 2_000_000_000 },
  ...{ amount: '4500000', initiateTx: '', completeTx: '', pendingReason: '', paidAt: '', settledAt: '' },
  ...{ receiptId: '', deposits: [], exceptions: [], refunded: '0', isRefunded: false },
  shownDeposit: {
    ...{ orderId: '0x1', tokenId: token.tokenId, address, refundTo: '0x2222…2222', transferUri: '' },
    ...{ amountInToken: '4500000', payUntil: 2_000_000_000 },
  },
};

/** The panel's amounts after an arrival: its heading, the text to copy, and whether it has a code with the amount. */
function shownWith(arrived: number): [heading: string, copied: string, hasTransferCode: boolean] {
  const deposit = {
    ...token,
    ...{ addressEnd: '1111', amountInToken: `${arrived}`, finalInToken: '0' },
    ...{ missingInToken: `${4_500_000 - arrived}`, payUntil: 2_000_000_000 },
  };
  let [heading, copied] = ['', ''];
  let hasTransferCode = false;
  const look = (tree: Tree) => {
    for (const item of flatten(tree)) {
      if (typeof item === 'string') continue;
      const { tag, attributes, children } = item;
      if (tag === 'h2') heading = flatten(children).join('');
      if (attributes['id'] === 'copy-amount') copied = String(attributes['data-text']);
      if (attributes['id'] === 'code-wallet') hasTransferCode = true;
      look(children);
    }
  };
  const deposits = arrived === 0 ? [] : [deposit];
  look(depositView(data, { ...state, deposits }, { now: 1, timeZone: 'UTC' }));
  return [heading, copied, hasTransferCode];
}

test('after a partial transfer, the panel asks only for the missing amount', () => {
  assert.deepEqual(shownWith(0), ['Send exactly 4.50\u00a0USDC', '4.50', true]);
  const partial = '2.00\u00a0USDC has arrived. Send 2.50\u00a0USDC more to the same address.';
  assert.deepEqual(shownWith(2_000_000), [partial, '2.50', false]);
  assert.deepEqual(shownWith(4_500_000), ['Send exactly 4.50\u00a0USDC', '4.50', true]);
});
