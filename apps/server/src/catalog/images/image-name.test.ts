import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  hostedImageUrl,
  imageFile,
  imageNameKey,
  imageNameOf,
  imageUrlOfSize,
  nameOfHostedUrl,
  parseImageFile,
} from './image-name.ts';

const key = imageNameKey(new Uint8Array(32).fill(7));
const files = [Buffer.from('small'), Buffer.from('large')];
const origin = 'https://pay.example.com';

test('a name depends on the key, the merchant and the content', () => {
  const name = imageNameOf(key, { merchantId: 'mer_a', files });
  assert.match(name, /^[0-9A-Za-z]{22}$/);
  assert.equal(imageNameOf(key, { merchantId: 'mer_a', files: [...files] }), name);
  const others = [
    imageNameOf(imageNameKey(new Uint8Array(32).fill(8)), { merchantId: 'mer_a', files }),
    imageNameOf(key, { merchantId: 'mer_b', files }),
    imageNameOf(key, { merchantId: 'mer_a', files: [Buffer.from('small'), Buffer.from('larger')] }),
    imageNameOf(key, { merchantId: 'mer_a', files: [Buffer.from('smalll'), Buffer.from('arge')] }),
  ];
  assert.equal(new Set([name, ...others]).size, 5);
});

test('a hosted URL leads back to its name in every size', () => {
  const name = imageNameOf(key, { merchantId: 'mer_a', files });
  const url = hostedImageUrl(origin, name);
  assert.equal(url, `${origin}/images/${name}-1280.webp`);
  assert.equal(nameOfHostedUrl(origin, url), name);
  assert.equal(imageUrlOfSize(url, 96), `${origin}/images/${name}-96.webp`);
  assert.equal(nameOfHostedUrl(origin, imageUrlOfSize(url, 96)), name);
  assert.equal(imageUrlOfSize('https://other.example.com/tea.png', 96), 'https://other.example.com/tea.png');
});

test('URLs of other sites are not hosted ones, and malformed ones of ours have no name', () => {
  assert.equal(nameOfHostedUrl(origin, 'https://pay.example.com.evil.test/images/x-96.webp'), undefined);
  assert.equal(nameOfHostedUrl(origin, 'https://shop.example.com/tea.png'), undefined);
  assert.equal(nameOfHostedUrl(origin, `${origin}/images/tea.png`), '');
  assert.equal(nameOfHostedUrl(origin, `${origin}/images/../link/lnk_1`), '');
});

test('only names of our own form are files', () => {
  const name = 'a'.repeat(22);
  assert.deepEqual(parseImageFile(imageFile(name, 640)), { name, size: 640 });
  for (const file of [
    '',
    '..',
    name,
    `${name}.webp`,
    `${name}-640`,
    `${name}-641.webp`,
    `${name}-0640.webp`,
    `${name}-640.webp.tmp`,
    `${name}-640.webp\n`,
    `${name.slice(1)}-640.webp`,
    `../${name.slice(3)}-640.webp`,
    `${name.slice(0, -1)}/-640.webp`,
    `${name.slice(0, -1)}\0-640.webp`,
  ]) {
    assert.equal(parseImageFile(file), undefined, JSON.stringify(file));
  }
});
