import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from './en.ts';
import { chooseLanguage, languages } from './languages.ts';

const placesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

test('every language has every text, with the same placeholders, and copies none from English', () => {
  const names = Object.keys(en) as (keyof typeof en)[];
  for (const { tag, texts } of languages) {
    assert.deepEqual(Object.keys(texts).sort(), [...names].sort(), tag);
    for (const name of names) assert.deepEqual(placesIn(texts[name]), placesIn(en[name]), `${tag}.${name}`);
    const copied = names.filter(
      (name) => tag !== 'en' && texts[name] === en[name] && /[a-z]{4}/.test(en[name].replace(/\{\w+\}/g, '')),
    );
    assert.deepEqual(copied, [], tag);
  }
});

test('the language is the chosen one, else the browser’s best match among ours', () => {
  const cases: [chosen: string | undefined, accepted: string | undefined, tag: string][] = [
    [undefined, undefined, 'en'],
    ['de', 'fr', 'de'],
    ['xx', 'fr-CA', 'fr'],
    [undefined, 'nl, it;q=0.3, pt-BR;q=0.8', 'pt'],
    [undefined, 'zh-Hant-TW', 'zh'],
    [undefined, 'ja;q=0, es;q=0.1', 'es'],
    [undefined, '*;q=0.5', 'en'],
    ['<script>', ';;;q=,,', 'en'],
  ];
  for (const [chosen, accepted, tag] of cases)
    assert.equal(chooseLanguage(chosen, accepted).tag, tag, `${chosen} ${accepted}`);
});
