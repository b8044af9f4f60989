import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimTexts } from '../text/claim/claim-texts.ts';
import { claimEn } from '../text/claim/en.ts';
import { en } from '../text/en.ts';
import { languages } from '../text/languages.ts';
import { claimView } from './claim-view.ts';

const placesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

test('every language has the words of the claim page, with the same placeholders, and copies none from English', () => {
  assert.deepEqual(Object.keys(claimTexts).sort(), languages.map(({ tag }) => tag).sort());
  const english = Object.entries(claimTexts['en'] ?? {});
  for (const [tag, texts] of Object.entries(claimTexts)) {
    const entries = new Map(Object.entries(texts));
    for (const [name, text] of english) {
      assert.deepEqual(placesIn(entries.get(name) ?? ''), placesIn(text), `${tag}.${name}`);
      if (tag !== 'en') assert.notEqual(entries.get(name), text, `${tag}.${name}`);
    }
  }
});

test('addresses that could not be read whole stay shortened, with the reason', () => {
  const place = {
    ...{
      orderId: '0x01',
      chainId: '1',
      chainTitle: 'Ethereum',
      address: '0x12…34',
      refundAddress: '0x56…78',
    },
    ...{ isUnproven: false, tokens: [], money: [] },
  };
  const data = {
    ...{ locale: 'en', words: claimEn, texts: en, sessionId: 'sess_1', title: 'Tea', query: '' },
    ...{ isInDoubt: false, places: [place] },
  };
  const reader = {
    ...{
      wallets: [],
      chosen: {},
      asked: '',
      claim: undefined,
      isBusy: false,
      isAsking: false,
      problem: '',
      sentFor: '',
    },
    ...{ choose() {}, look() {}, send() {} },
  };
  const page = (readProblem: string) => JSON.stringify(claimView(data, 'UTC', { ...reader, readProblem }));
  const failed = page('That is not possible at the moment.');
  assert.match(failed, /"read-problem".*That is not possible at the moment.*0x12…34/);
  assert.doesNotMatch(page(''), /problem/);
  // What the reader can do comes before the rules.
  assert.ok(page('').indexOf(claimEn.look) < page('').indexOf(claimEn.intro));
});
