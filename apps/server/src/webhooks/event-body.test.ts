import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  eventBody,
  fitsInEvent,
  maxBodyBytes,
  sessionOfCreated,
  withoutProductData,
  withoutSecrets,
} from './event-body.ts';

const item = {
  lineItemId: 'li_1',
  productData: { productName: 'A "} quoted, [name', status: 'active' },
  quantity: 2,
};

function body(dataJson: string): string {
  const { head, tail } = eventBody({
    eventId: 'evt_1',
    type: 'session.paid',
    at: new Date('2026-01-02T03:04:05.006Z'),
    dataJson,
  });
  return `${head}7${tail}`;
}

test('a body of up to 64 KiB keeps its data untouched', () => {
  const data = JSON.stringify({ session: { lineItems: { items: [item] }, note: 'x'.repeat(60_000) } });
  assert.equal(
    body(data),
    `{"id":"evt_1","type":"session.paid","apiVersion":"v1","timestamp":"2026-01-02T03:04:05.006Z","sequence":7,"data":${data}}`,
  );
});

// proves W6.9
test('a body over 64 KiB drops productData and says so, and keeps the metadata byte for byte', () => {
  const metadata =
    '{"productData":1,"productData":2, "n":1.0e400,"lineItems":{"items":[{"productData":"kept"}]}}';
  const items = Array.from({ length: 100 }, () => ({
    ...item,
    productData: { productDescription: 'é'.repeat(500) },
  }));
  const data = `{"session":{"lineItems":${JSON.stringify({ items })},"metadata":${metadata}},"transaction":{"orderId":"0x1"}}`;
  const kept = JSON.stringify({ items: items.map(({ productData: _, ...rest }) => rest) });
  const text = body(data);
  assert.equal(
    text.slice(text.indexOf(',"data":')),
    `,"data":{"session":{"lineItems":${kept},"metadata":${metadata}},"transaction":{"orderId":"0x1"}},"truncated":true}`,
  );
  assert.equal(Buffer.byteLength(text) <= maxBodyBytes, true);
});

// proves W6.9
test('the largest body that keeps its data has 64 KiB with the longest sequence, and one byte more is too much', () => {
  const dataOf = (length: number) =>
    JSON.stringify({ session: { lineItems: { items: [item] }, note: 'x'.repeat(length) } });
  const longestOf = (length: number) =>
    Buffer.byteLength(body(dataOf(length))) - 1 + '9223372036854775807'.length;
  const length = 65_536 - longestOf(0);
  const [largest, larger] = [body(dataOf(length)), body(dataOf(length + 1))];
  assert.ok(largest.endsWith(`,"data":${dataOf(length)}}`));
  assert.deepEqual([larger.includes('productData'), larger.endsWith(',"truncated":true}')], [false, true]);
});

test('dropping productData from any JSON leaves what parsing and deleting it would leave', () => {
  const items = fc.array(
    fc.dictionary(fc.constantFrom('productData', 'a', 'b"', 'lineItems'), fc.jsonValue({ maxDepth: 2 })),
  );
  const object = fc.record({ lineItems: fc.record({ items }), metadata: fc.jsonValue() });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), object), fc.constantFrom(0, 2), (data, space) => {
      const expected = structuredClone(data);
      for (const value of Object.values(expected))
        for (const one of value.lineItems.items) delete one['productData'];
      assert.deepEqual(
        JSON.parse(withoutProductData(JSON.stringify(data, undefined, space))),
        JSON.parse(JSON.stringify(expected)),
      );
    }),
    { numRuns: 500 },
  );
});

test('hiding what a reader may not see changes those values alone', () => {
  const metadata = '{"clientCode":"kept","payerEmail":"kept", "n":1.0e400,"n":2}';
  const text = (code: string, email: string, url: string) =>
    body(
      `{"session":{"clientCode":"${code}","payerEmail":"${email}","paymentUrl":"${url}","metadata":${metadata}},` +
        '"transaction":{"payerEmail":"kept"}}',
    );
  const whole = text('a\\"b', 'payer@example.com', 'https://x.example/checkout/s#a');
  const cases = [
    [true, true, whole],
    [true, false, text('a\\"b', '', 'https://x.example/checkout/s#a')],
    [false, true, text('****', 'payer@example.com', 'https://x.example/checkout/s')],
    [false, false, text('****', '', 'https://x.example/checkout/s')],
  ] as const;
  for (const [showClientCode, showPayerEmail, expected] of cases) {
    assert.equal(withoutSecrets(whole, { showClientCode, showPayerEmail }), expected);
  }
  const other = body('{"product":{"clientCode":"kept"}}');
  assert.equal(withoutSecrets(other, { showClientCode: false, showPayerEmail: false }), other);
});

test('a session is read back from its first event byte for byte', () => {
  fc.assert(
    fc.property(
      fc.jsonValue(),
      fc.constantFrom('', ',"sequence":1,"data":{"session":', '}}'),
      (value, text) => {
        const session = `{"metadata":${JSON.stringify({ value, text })}}`;
        const event = { eventId: 'evt_1', type: 'session.created', at: new Date(0) } as const;
        const { head, tail } = eventBody({ ...event, dataJson: `{"session":${session}}` });
        assert.equal(sessionOfCreated(`${head}1${tail}`), session);
      },
    ),
  );
});

test('no session is read from a later event, nor from one that was shortened', () => {
  const event = { eventId: 'evt_1', type: 'session.created', at: new Date(0) } as const;
  const whole = eventBody({ ...event, dataJson: '{"session":{}}' });
  assert.throws(() => sessionOfCreated(`${whole.head}2${whole.tail}`));
  const productName = 'x'.repeat(maxBodyBytes);
  const long = JSON.stringify({
    session: { lineItems: { items: [{ a: 1, productData: { productName } }] } },
  });
  const { head, tail } = eventBody({ ...event, dataJson: long });
  assert.throws(() => sessionOfCreated(`${head}1${tail}`));
});

test('what fits in an event is never shortened, whatever letters it is of', () => {
  const event = { eventId: `evt_${'0'.repeat(22)}`, type: 'session.created', at: new Date(0) } as const;
  for (const letter of ['x', 'ä', '茶', '😀']) {
    let dataJson = `{"session":"${letter.repeat(30_000)}"}`;
    while (!fitsInEvent(dataJson)) dataJson = dataJson.replace(letter.repeat(20), '');
    const { tail } = eventBody({ ...event, dataJson });
    assert.equal(tail, `,"data":${dataJson}}`);
  }
});
