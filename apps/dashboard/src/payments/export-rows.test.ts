import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SessionView } from '@florin/protocol/session.ts';
import { exportForms, filtersText } from './export-rows.ts';

/** What the rows read of a payment; the rest of a session is of no account here. */
function viewOf(sessionId: string): SessionView {
  const lineItems = { items: [{ quantity: 2, productData: { productName: '=Tea, "green"' } }] };
  const texts = { status: 'completed', createAt: '2030-01-01 10:00:00', paidToken: '', settlementToken: '' };
  const people = { payer: '', payerEmail: '', recipient: '', initiateTx: '', completeTx: '' };
  const times = { paymentSucceededTime: '2030-01-01 10:05:00', settlementSucceededTime: null };
  const session = { sessionId, ...texts, ...times, ...people, amount: 1_500_000, refundedAmount: 0 };
  return {
    session: { ...session, lineItems, metadata: {} },
    linkName: 'Spring, fair',
  } as unknown as SessionView;
}

function fileOf(format: 'csv' | 'json', pages: readonly (readonly SessionView[])[]): string {
  const { begin, page, end } = exportForms[format];
  return begin + pages.map((views, index) => page(views, index === 0)).join('') + end;
}

test('a payment that went back before it was settled has no fee and no net amount', () => {
  const view = viewOf('sess_1');
  const transaction = { feeValue: 3_000, netValue: 1_497_000 } as SessionView['transaction'];
  const rowOf = (session: object) =>
    JSON.parse(
      fileOf('json', [[{ ...view, transaction, session: { ...view.session, ...session } }] as SessionView[]]),
    )[0];
  const { feeInUSD, netInUSD, refundedInUSD } = rowOf({ refundedAmount: 1_500_000 });
  assert.deepEqual([feeInUSD, netInUSD, refundedInUSD], ['0', '0', '1.5']);
  const settled = rowOf({ refundedAmount: 1_500_000, completeTx: '0x1' });
  assert.deepEqual([settled.feeInUSD, settled.netInUSD], ['0.003', '1.497']);
});

test('the log reads the filters of an export in words, and no more of them than it takes', () => {
  assert.equal(
    filtersText({ status: 'completed', amountFrom: 5, metadata: { order: 'A-17' } }),
    'status: completed, amountFrom: 5, metadata: {"order":"A-17"}',
  );
  assert.equal(filtersText({}), '');
  assert.equal(filtersText({ text: 'a'.repeat(2_000) }).length, 1_000);
});

test('pages make one JSON text of all payments and one CSV, with the same dollars and times', () => {
  const views = ['sess_1', 'sess_2', 'sess_3'].map(viewOf);
  const pages = [views.slice(0, 2), views.slice(2)];
  const json = JSON.parse(fileOf('json', pages)) as Readonly<Record<string, unknown>>[];
  assert.deepEqual(
    json.map(({ sessionId }) => sessionId),
    ['sess_1', 'sess_2', 'sess_3'],
  );
  assert.deepEqual(JSON.parse(fileOf('json', [[]])), []);
  const lines = fileOf('csv', pages).split('\r\n');
  assert.deepEqual([lines.length, lines.at(-1), lines[0]?.startsWith('"sessionId","status"')], [5, '', true]);
  assert.deepEqual(
    lines.slice(1, 4).map((line) => line.split(',')[0]),
    ['"sess_1"', '"sess_2"', '"sess_3"'],
  );
  assert.ok(lines[1]?.startsWith('"sess_1","completed","2030-01-01T10:00:00Z","2030-01-01T10:05:00Z","",'));
  const { createAt, paymentSucceededTime, amountInUSD, metadata } = json[0] ?? {};
  assert.deepEqual(
    [createAt, paymentSucceededTime, amountInUSD, metadata],
    ['2030-01-01T10:00:00Z', '2030-01-01T10:05:00Z', '1.5', {}],
  );
  assert.deepEqual(Object.keys(json[0] ?? {}), lines[0]?.replaceAll('"', '').split(','));
  assert.ok(lines[1]?.includes('"1.5"'));
  assert.ok(lines[1]?.includes('"Spring, fair"'));
  assert.ok(lines[1]?.includes('"2 × =Tea, ""green"""'));
});
