import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { chooseCoding, codeAsset, codePage } from './compression.ts';

test('a client gets the best coding of those in its header', () => {
  const cases: [accepted: string | undefined, coding: string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['*', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['GZIP;q=1.0, BR ; q=0.1', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.000, gzip; q=0', 'identity'],
    ['broken;;q=, brr, x-gzip', 'identity'],
  ];
  for (const [accepted, coding] of cases) assert.equal(chooseCoding(accepted), coding, accepted);
});

test('every coding decodes to the same text, and is smaller', async () => {
  const text = 'Grüner Tee — 緑茶. '.repeat(500);
  const unpack = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Buffer) => bytes };
  const asset = await codeAsset(text);
  for (const coding of ['br', 'gzip', 'identity'] as const) {
    const page = await codePage(text, coding);
    assert.equal(page.coding, coding);
    for (const bytes of [page.bytes, asset[coding]]) {
      assert.equal(unpack[coding](bytes).toString(), text);
      assert.ok(coding === 'identity' || bytes.length < 1_000, `${coding}: ${bytes.length}`);
    }
  }
});

test('a small page is not compressed', async () => {
  assert.deepEqual(await codePage('short', 'br'), { coding: 'identity', bytes: Buffer.from('short') });
});
