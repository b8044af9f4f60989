import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differenceOf } from './difference.ts';

test('an act shows the fields that it changed, by their path', () => {
  const before = '{"name":"Tea","prices":[5,7],"status":"active"}';
  const after = '{"name":"Green tea","prices":[5],"status":"active","image":{"url":"x"}}';
  assert.deepEqual(differenceOf(before, after), [
    { path: 'name', before: 'Tea', after: 'Green tea' },
    { path: 'image.url', before: undefined, after: 'x' },
    { path: 'prices[1]', before: '7', after: undefined },
  ]);
  assert.deepEqual(differenceOf('', '{"a":null}'), [{ path: 'a', before: undefined, after: 'null' }]);
  assert.deepEqual(differenceOf('', ''), []);
});
