import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '#db/words.ts';

test('words have neither accents nor capitals, so that people find names as they type them', () => {
  assert.deepEqual(wordsOf('José Ñandú, STRASSE Straße'), ['jose', 'nandu', 'strasse', 'strasse']);
  assert.deepEqual(wordsOf('Đặng Øyvind Łódź İstanbul ılık'), ['dang', 'oyvind', 'lodz', 'istanbul', 'ilik']);
  assert.deepEqual(wordsOf('ΚΏΣΤΑΣ Κώστας Йорк'), ['κωστασ', 'κωστασ', 'иорк']);
});

test('the marks of other scripts stay, since they are parts of their letters', () => {
  assert.deepEqual(wordsOf('हिन्दी ガラス 한국어'), ['हिन्दी', 'ガラス', '한국어']);
});
