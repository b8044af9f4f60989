import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '#db/words.ts';

test('words have neither accents nor capitals, so that people find names as they type them', () => {
  assert.deepEqual(wordsOf('José Ñandú, STRASSE Straße'), ['jose', 'nandu', 'strasse', 'strasse']);
  assert.deepEqual(wordsOf('Đặng Øyvind Łódź İstanbul ılık'), ['dang', 'oyvind', 'lodz', 'istanbul', 'ilik']);
  assert.deepEqual(wordsOf('ΚΏΣΤΑΣ Κώστας Йорк'), ['κωστασ', 'κωστασ', 'иорк']);
});

test('the marks of other scripts stay, since they are parts of their letters', () => {
  assert.deepEqual(wordsOf('हिन्दी 한국어'), ['हिन्दी', '한국어']);
});

test('a part of a Chinese or Japanese text has the words of the text, or beginnings of them', () => {
  assert.deepEqual(wordsOf('緑茶セットA3'), ['緑茶', '茶セ', 'セッ', 'ット', 'ト', 'a3']);
  assert.deepEqual(wordsOf('茶'), ['茶']);
  // Half-width forms become the usual ones.
  assert.deepEqual(wordsOf('ｾｯﾄ ㈱'), ['セッ', 'ット', 'ト', '株']);
  assert.deepEqual(wordsOf('新茶2030年版'), ['新茶', '茶', '2030', '年版', '版']);
  const text = '有機栽培の緑茶セット';
  const words = wordsOf(text);
  const signs = [...text];
  for (let begin = 0; begin < signs.length; begin += 1)
    for (let end = begin + 1; end <= signs.length; end += 1) {
      const part = signs.slice(begin, end).join('');
      const missing = wordsOf(part).filter((word) => !words.some((each) => each.startsWith(word)));
      assert.deepEqual([part, missing], [part, []]);
    }
});
