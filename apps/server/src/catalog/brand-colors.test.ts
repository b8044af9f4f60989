import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backgrounds, brandColorsOf, contrastOf, leastContrast } from '@florin/protocol/brand-colors.ts';
import fc from 'fast-check';
import { style } from '#http/checkout/style.ts';

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

test('text in and on a merchant’s colour is readable in light and dark, for every colour', () => {
  fc.assert(
    fc.property(color, (given) => {
      const colors = brandColorsOf(given);
      for (const mode of ['light', 'dark'] as const) {
        const { accent, onAccent } = colors[mode];
        const least = Math.min(
          contrastOf(onAccent, accent),
          ...backgrounds[mode].map((background) => contrastOf(accent, background)),
        );
        assert.ok(least >= leastContrast, `${given} ${mode}: ${least}`);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a readable colour is left unchanged', () => {
  assert.deepEqual(brandColorsOf('#0B6B4D'), {
    light: { accent: '#0b6b4d', onAccent: '#ffffff' },
    dark: { accent: '#609f8b', onAccent: '#000000' },
  });
  assert.deepEqual(brandColorsOf('#ffe600').dark, { accent: '#ffe600', onAccent: '#000000' });
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
