import assert from 'node:assert/strict';
import { test } from 'node:test';
import decodeQr from 'qr/decode.js';
import { qrCode, qrPath } from './qr.ts';

const texts = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  'ethereum:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359@8453/transfer?address=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed&uint256=25050000',
  'a',
];

/** The pixels that a camera sees: four for each module, with the quiet zone around. */
function photograph(text: string): { width: number; height: number; data: Uint8Array } {
  const { size, path } = qrPath(qrCode(text));
  const scale = 4;
  const width = size * scale;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y, length] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row += 1) {
      const start = (row * width + Number(x) * scale) * 4;
      for (let pixel = 0; pixel < Number(length) * scale; pixel += 1)
        data.fill(0, start + 4 * pixel, start + 4 * pixel + 3);
    }
  }
  return { width, height: width, data };
}

test('the path of a code is read as its text', () => {
  for (const text of texts) assert.equal(decodeQr(photograph(text)), text);
});

test('the path draws exactly the dark modules, within a quiet zone of four', () => {
  const matrix = qrCode('florin');
  const { size, path } = qrPath(matrix);
  const drawn = new Set<string>();
  for (const [, x = '', y = '', length = ''] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let step = 0; step < Number(length); step += 1) drawn.add(`${Number(x) + step},${y}`);
  }
  const dark = matrix.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x},${y}`] : [])));
  assert.deepEqual([size, [...drawn].sort()], [matrix.length, dark.sort()]);
  assert.ok(
    [...drawn].every((place) => place.split(',').every((at) => Number(at) >= 4 && Number(at) < size - 4)),
  );
});

test('text that does not fit is refused', () => {
  assert.throws(() => qrCode('x'.repeat(2_332)), /Capacity overflow/i);
});
