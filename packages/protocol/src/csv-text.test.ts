import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inertText } from './csv-text.ts';

test('no spreadsheet runs a text as a formula, in full width either', () => {
  for (const text of ['=1+1', '+1', '-1', '@now', '\tx', '\rx', '＝1+1', '＋1', '－1', '＠now'])
    assert.equal(inertText(text), `'${text}`);
  for (const text of ['', 'Tea', '1=1', 'a＝b', "'=1"]) assert.equal(inertText(text), text);
});
