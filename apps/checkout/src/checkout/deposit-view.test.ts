import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../text/en.ts';
import { type Actions, noActions } from './actions.ts';
import { depositView } from './deposit-view.ts';
import { type DepositView, initialModel } from './model.ts';
import { flatten, type Tree } from './tree.ts';

const code = { size: 1, path: '' };
const deposit: DepositView = {
  address: '0x1111111111111111111111111111111111111111',
  refundAddress: '0x2222222222222222222222222222222222222222',
  addressCode: code,
  transferUri: '',
  transferCode: code,
  payUntil: '2000000000',
  amountInToken: '4500000',
  arrived: '0',
  option: {
    tokenId: 'ethereum::usdc',
    chainId: '1',
    chainTitle: 'Ethereum',
    symbol: 'USDC',
    decimals: 6,
    amountInToken: '4500000',
    total: '4500000',
    fee: '0',
    status: 'available',
    secondsToFinal: 1,
  },
};
const model = initialModel({
  ...{
    locale: 'en',
    texts: en,
    agentApi: '',
    drawings: { file: '', keys: [] },
    title: '',
    options: [],
    amount: '',
  },
  ...{ isFeeOnTop: false, isEmailRequired: false, intendedPayer: '' },
});

/**
 * The panel's amounts after a partial arrival: its heading, the copied text, and whether it has a code with the amount.
 */
function shownWith(arrived: string): [heading: string, copied: string, hasTransferCode: boolean] {
  let copied = '';
  const actions: Actions = {
    ...noActions,
    copy: (text) => {
      copied = text;
    },
  };
  let heading = '';
  let hasTransferCode = false;
  const look = (tree: Tree) => {
    for (const item of flatten(tree)) {
      if (typeof item === 'string') continue;
      const { tag, attributes, children, on } = item;
      if (tag === 'h2') heading = flatten(children).join('');
      if (attributes['id'] === 'copy-amount') on?.['click']?.(undefined);
      if (attributes['id'] === 'code-wallet') hasTransferCode = true;
      look(children);
    }
  };
  look(depositView(model, { ...deposit, arrived }, actions));
  return [heading, copied, hasTransferCode];
}

test('after a partial transfer, the panel asks only for the missing amount', () => {
  assert.deepEqual(shownWith('0'), ['Send exactly 4.50 USDC', '4.50', true]);
  assert.deepEqual(shownWith('2000000'), ['Send exactly 2.50 USDC', '2.50', false]);
  assert.deepEqual(shownWith('4500000'), ['Send exactly 4.50 USDC', '4.50', true]);
});
