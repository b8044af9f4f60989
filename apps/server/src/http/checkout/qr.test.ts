import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { qrCode, qrPath } from './qr.ts';

/** Decoded by another library (jsQR 1.4) when they were written down, as were codes of all lengths from 1 to 213 bytes. */
const proven: readonly [text: string, modules: number, hash: string][] = [
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 29, 'b86de281ece0c993'],
  [
    'ethereum:0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359@8453/transfer?address=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed&uint256=25050000',
    49,
    'c6187518f9b04b03',
  ],
  ['a', 21, 'e8ab680854e4019c'],
];

test('codes are those that another library has read', () => {
  for (const [text, modules, hash] of proven) {
    const matrix = qrCode(text);
    const bits = matrix.map((row) => row.map((isDark) => (isDark ? 1 : 0)).join('')).join('\n');
    assert.deepEqual(
      [matrix.length, createHash('sha256').update(bits).digest('hex').slice(0, 16)],
      [modules, hash],
    );
  }
});

test('the path draws exactly the dark modules, within a quiet zone of four', () => {
  const matrix = qrCode('florin');
  const { size, path } = qrPath(matrix);
  const drawn = new Set<string>();
  for (const [, x = '', y = '', length = ''] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    for (let step = 0; step < Number(length); step += 1)
      drawn.add(`${Number(x) + step - 4},${Number(y) - 4}`);
  }
  const dark = matrix.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x},${y}`] : [])));
  assert.deepEqual([size, [...drawn].sort()], [matrix.length + 8, dark.sort()]);
});

test('what does not fit is refused', () => {
  assert.throws(() => qrCode('x'.repeat(214)), RangeError);
});
