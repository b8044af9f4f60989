import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimTexts } from '../text/claim/claim-texts.ts';
import { languages } from '../text/languages.ts';

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
