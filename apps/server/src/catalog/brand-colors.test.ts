import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  backgrounds,
  brandColorsOf,
  contrastOf,
  groundColorsOf,
  leastContrast,
} from '@florin/protocol/brand-colors.ts';
import fc from 'fast-check';
import { style } from '#http/checkout/style.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('links in a merchant’s colour and text on it are readable in light and dark, for every colour', () => {
  fc.assert(
    fc.property(color, (given) => {
      const { accent, onAccent, links } = brandColorsOf(given);
      assert.equal(accent, given);
      assert.ok(contrastOf(onAccent, accent) >= leastContrast, `${given}: ${onAccent}`);
      for (const mode of ['light', 'dark'] as const) {
        const least = Math.min(...backgrounds[mode].map((background) => contrastOf(links[mode], background)));
        assert.ok(least >= leastContrast, `${given} ${mode}: ${least}`);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('text on a merchant’s background is readable, for every background', () => {
  fc.assert(
    fc.property(color, (given) => {
      const { ground, ink, soft } = groundColorsOf(given);
      assert.equal(ground, given);
      const least = Math.min(contrastOf(ink, ground), contrastOf(soft, ground));
      assert.ok(least >= leastContrast, `${given}: ${ink} ${soft} ${least}`);
    }),
    { numRuns: 2_000 },
  );
});

test('a readable colour is left unchanged', () => {
  assert.deepEqual(brandColorsOf('#0B6B4D'), {
    ...{ accent: '#0b6b4d', onAccent: '#ffffff' },
    links: { light: '#0b6b4d', dark: '#609f8b' },
  });
  const yellow = brandColorsOf('#ffe600');
  assert.deepEqual([yellow.onAccent, yellow.links.dark], ['#000000', '#ffe600']);
});

test('contrast follows WCAG: its minimum is 1, black and white have 21', () => {
  assert.deepEqual([contrastOf('#000000', '#ffffff'), contrastOf('#123456', '#123456')], [21, 1]);
  // The value that all WCAG tools give.
  assert.equal(contrastOf('#777777', '#ffffff').toFixed(2), '4.48');
});

test('the backgrounds used in the calculation are those of the page', () => {
  const cardsAndPage = [...backgrounds.light.slice(0, 2), ...backgrounds.dark.slice(0, 2)];
  const written = style.replaceAll('#fff;', '#ffffff;');
  assert.deepEqual(
    cardsAndPage.filter((background) => !written.includes(`: ${background};`)),
    [],
  );
});
