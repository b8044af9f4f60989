import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { getAddress, isAddress } from 'viem';
import { parseAddress } from './checksum.ts';

/** Addresses with letters in any case: few have a valid checksum by chance. */
const addresses = fc
  .tuple(
    fc.bigInt({ min: 0n, max: 2n ** 160n - 1n }),
    fc.constantFrom('lower', 'upper', 'checksum', 'one letter'),
  )
  .map(([value, spelling]) => {
    const lower = `0x${value.toString(16).padStart(40, '0')}`;
    if (spelling === 'lower') return lower;
    if (spelling === 'upper') return `0x${lower.slice(2).toUpperCase()}`;
    const checksummed = getAddress(lower);
    return spelling === 'checksum'
      ? checksummed
      : checksummed.replace(/[a-f]/, (letter) => letter.toUpperCase());
  });

test('an address is read in lower case and with its checksum, as viem reads it', () => {
  fc.assert(
    fc.property(addresses, (text) => {
      const expected = isAddress(text, { strict: true }) ? getAddress(text) : undefined;
      assert.equal(parseAddress(text), expected);
    }),
    { numRuns: 500 },
  );
});

test('text other than 0x and 40 digits is not an address', () => {
  const text = `0x${'ab'.repeat(20)}`;
  for (const wrong of [
    '',
    '0x',
    text.slice(2),
    `${text}a`,
    text.slice(0, -1),
    text.replace('0x', '0X'),
    `${text}\n`,
  ])
    assert.equal(parseAddress(wrong), undefined);
});
