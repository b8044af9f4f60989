import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimTexts } from './claim/claim-texts.ts';
import { claimEn } from './claim/en.ts';
import { en } from './en.ts';
import { chooseLanguage, languages } from './languages.ts';
import { mailTexts } from './mail.ts';

const placesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();

test('every language has every text of the pages and e-mails, with the same placeholders, and copies none from English', () => {
  for (const { tag, texts } of languages) {
    assertTranslated(tag, en, texts);
    assertTranslated(tag, mailTexts('en'), mailTexts(tag));
    assertTranslated(tag, claimEn, claimTexts[tag] ?? {});
  }
});

function assertTranslated(
  tag: string,
  english: Readonly<Record<string, string>>,
  texts: Readonly<Record<string, string>>,
): void {
  const names = Object.keys(english);
  assert.deepEqual(Object.keys(texts).sort(), [...names].sort(), tag);
  const copied = names.filter((name) => {
    const [source = '', text = ''] = [english[name], texts[name]];
    assert.deepEqual(placesIn(text), placesIn(source), `${tag}.${name}`);
    // French has the same word for a transaction.
    return (
      tag !== 'en' &&
      text === source &&
      /[a-z]{4}/.test(source.replace(/\{\w+\}/g, '')) &&
      name !== 'transaction'
    );
  });
  assert.deepEqual(copied, [], tag);
}

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

test('every language has the punctuation of its own', () => {
  const foreign: Readonly<Record<string, RegExp>> = {
    // A sign that a line may begin with, because only a plain space stands before it.
    fr: / [:;!?]|[^\u00a0]:$/,
    // Half as wide as the characters beside it.
    ja: /[(),;!?]|: | :|\.$/,
    zh: /[(),;!?]|: | :|\.$/,
    ar: /[,;?]/,
    // In these no space stands before an ellipsis.
    ...Object.fromEntries(['en', 'es', 'pt', 'it', 'tr'].map((tag) => [tag, / …| [:;!?]/])),
  };
  const found = languages.flatMap(({ tag, texts }) =>
    Object.entries({ ...texts, ...mailTexts(tag), ...claimTexts[tag] })
      .filter(([, text]) => foreign[tag]?.test(text))
      .map(([name, text]) => `${tag}.${name}: ${text}`),
  );
  assert.deepEqual(found, []);
});
