import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventBody } from './event-body.ts';

function body(dataJson: string, shortDataJson?: () => string): string {
  const { head, tail } = eventBody({
    eventId: 'evt_1',
    type: 'order.paid',
    at: new Date('2026-01-02T03:04:05.006Z'),
    dataJson,
    shortDataJson,
  });
  return `${head}7${tail}`;
}

test('a body of up to 64 KiB keeps its data unchanged', () => {
  const data = JSON.stringify({ note: 'x'.repeat(60_000) });
  assert.equal(
    body(data, () => '{}'),
    `{"id":"evt_1","type":"order.paid","apiVersion":"v1","timestamp":"2026-01-02T03:04:05.006Z","sequence":7,"data":${data}}`,
  );
});

// proves W6.9
test('the largest body that keeps its data has 64 KiB with the longest sequence, and one byte more takes the short data', () => {
  const dataOf = (length: number) => JSON.stringify({ note: 'é'.repeat(100) + 'x'.repeat(length) });
  const longestOf = (length: number) =>
    Buffer.byteLength(body(dataOf(length))) - 1 + '9223372036854775807'.length;
  const length = 65_536 - longestOf(0);
  const short = '{"n":1.0e400,"n":2}';
  const [largest, larger] = [length, length + 1].map((size) => body(dataOf(size), () => short));
  assert.ok(largest?.endsWith(`,"data":${dataOf(length)}}`));
  assert.ok(larger?.endsWith(`"sequence":7,"data":${short},"truncated":true}`));
});

test('an event without short data keeps its data, however large', () => {
  const data = JSON.stringify({ note: 'x'.repeat(70_000) });
  assert.ok(body(data).endsWith(`,"data":${data}}`));
});
