import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostedImagePath } from './hosted-image.ts';

test('a hosted image is read from this origin in the size that is shown; another one is not read', () => {
  const path = '/images/0aZ-1280.webp';
  assert.equal(hostedImagePath(`http://127.0.0.1:4000${path}`, 96), '/images/0aZ-96.webp');
  assert.equal(hostedImagePath(`https://pay.example.com${path}`, 320), '/images/0aZ-320.webp');
  for (const url of ['', 'https://shop.example.com/mug.png', `https://a.example${path}?x=1`])
    assert.equal(hostedImagePath(url, 96), undefined);
});
