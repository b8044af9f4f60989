import assert from 'node:assert/strict';
import { test } from 'node:test';
import { colorOf, warningsOf } from './color.ts';

test('a colour is typed with or without its sign; anything else is none', () => {
  assert.equal(colorOf(' #1A2B3C '), '#1a2b3c');
  assert.equal(colorOf('1a2b3c'), '#1a2b3c');
  assert.equal(colorOf(''), '');
  assert.equal(colorOf('#fff'), undefined);
  assert.equal(colorOf('red'), undefined);
});

test('a colour that is hard to read on a page is warned of, with what the page shows instead', () => {
  assert.deepEqual(
    warningsOf('#0b6b4d').map(({ scheme }) => scheme),
    ['dark'],
  );
  assert.deepEqual(
    warningsOf('#ffff00').map(({ scheme }) => scheme),
    ['light'],
  );
  for (const { shown } of warningsOf('#777777')) assert.match(shown, /^#[0-9a-f]{6}$/);
});
