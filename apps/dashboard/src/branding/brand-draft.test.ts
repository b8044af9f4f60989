import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainLook } from '@florin/protocol/brand-look.ts';
import { type Brand, draftOf, isChanged, previewedLook, savedOf, unsavedImages } from './brand-draft.ts';

const brand: Brand = {
  ...{ logoUrl: 'https://pay.example/images/a-1280.webp', darkLogoUrl: '', iconUrl: '' },
  ...{ ...plainLook, color: '#112233', embedOrigins: [], updateAt: '' },
};
const draft = draftOf(brand);

test('a draft is saved trimmed and with whole colours, and not at all with half a colour', () => {
  const typed = { ...draft, color: 'AABBCC', legalName: ' Tea GmbH ', termsUrl: ' https://a.example/t ' };
  const embedOrigins = [' https://shop.example', ''];
  assert.deepEqual(savedOf({ ...typed, embedOrigins }), {
    ...draft,
    ...{ color: '#aabbcc', legalName: 'Tea GmbH', termsUrl: 'https://a.example/t' },
    embedOrigins: ['https://shop.example'],
  });
  assert.equal(savedOf({ ...draft, background: '#12' }), undefined);
});

test('only what would be saved counts as a change', () => {
  assert.equal(isChanged({ ...draft, color: '112233 ' }, brand), false);
  assert.equal(isChanged({ ...draft, cornerRadius: 4 }, brand), true);
  assert.equal(isChanged({ ...draft, color: '#1' }, brand), true);
});

test('the preview shows stored images and whole addresses alone', () => {
  const typed = { ...draft, color: '#1', supportUrl: 'https://', termsUrl: 'https://a.example/t' };
  const { color, supportUrl, termsUrl, hasLogo, hasIcon } = previewedLook(typed, brand);
  assert.deepEqual(
    { color, supportUrl, termsUrl, hasLogo, hasIcon },
    { color: '#112233', supportUrl: '', termsUrl: 'https://a.example/t', hasLogo: true, hasIcon: false },
  );
  assert.equal(unsavedImages(typed, brand), false);
  const other = { ...draft, iconUrl: 'https://a.example/i.png' };
  assert.deepEqual([previewedLook(other, brand).hasIcon, unsavedImages(other, brand)], [false, true]);
});
