import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckoutOption } from '@florin/protocol/checkout-state.ts';
import { en } from '../text/en.ts';
import { scriptTexts } from '../text/script-texts.ts';
import { noActions } from './actions.ts';
import type { CheckoutData } from './data.ts';
import { initialModel } from './model.ts';
import { shortView } from './short-view.ts';
import { flatten, type PageElement, type Tree } from './tree.ts';

const option: CheckoutOption = {
  ...{ tokenId: 'base::odd', chainId: '8453', chainTitle: 'Base', symbol: 'A&B/ü#', decimals: 6 },
  ...{ amountInToken: '25150000', total: '25150000', fee: '0' },
  ...({ status: 'available', secondsToFinal: 1 } as const),
};

const elementsOf = (tree: Tree): PageElement[] =>
  flatten(tree).flatMap((item) => (typeof item === 'string' ? [] : [item, ...elementsOf(item.children)]));

/** Where the link to get more of the token leads; undefined where there is none. */
function fundingAt(fundingUrl: string | undefined): string | undefined {
  const data: CheckoutData = {
    ...{
      locale: 'en',
      texts: scriptTexts(en, { hasAmount: true, hasEmail: true, isOfAgent: false }),
      agentApi: '',
      amount: '',
    },
    ...{ title: '', isFeeOnTop: false, isEmailRequired: false, intendedPayer: '', options: [option] },
    ...{ drawings: { file: '', keys: [] }, fundingUrl },
  };
  const payer = `0x${'d4'.repeat(20)}`;
  const model = { ...initialModel(data), payer, balances: { [option.tokenId]: '150000' } };
  const found = elementsOf(shortView(model, option, noActions)).find(
    ({ attributes }) => attributes['id'] === 'funding',
  );
  return found?.attributes['href'];
}

test('the operator’s bridge is told who needs how much of what and where, and no text of ours breaks its address', () => {
  const template = 'https://bridge.example/{CHAIN_ID}/{TOKEN}?to={ADDRESS}&amount={AMOUNT}&more={AMOUNT}';
  assert.equal(
    fundingAt(template),
    `https://bridge.example/8453/A%26B%2F%C3%BC%23?to=0x${'d4'.repeat(20)}&amount=25.00&more=25.00`,
  );
  assert.equal(fundingAt('https://bridge.example'), 'https://bridge.example');
  assert.equal(fundingAt(undefined), undefined);
});
