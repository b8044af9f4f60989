import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merchantTools } from './merchant-tools.ts';
import { payTool } from './pay-tool.ts';
import { payerTools } from './payer-tools.ts';
import { refusedArguments } from './tool.ts';

const neverAsked = () => assert.fail('nothing is asked here');
const tools = new Map(
  [...payerTools(neverAsked), ...merchantTools(neverAsked)].map((tool) => [tool.name, tool]),
);

function refusalOf(name: string, input: Record<string, string | number>) {
  const tool = tools.get(name) ?? assert.fail(name);
  const answer = refusedArguments(tool, input);
  if (answer === undefined) return undefined;
  assert.equal(answer.isError, true);
  return [answer.value['code'], answer.value['message']];
}

test('an argument that a tool does not have is refused, also by tools that only read', () => {
  const input = { page: 1, size: 2, status: 'paid' };
  assert.deepEqual(refusalOf('merchant_list_sessions', input), [
    400_101,
    'Invalid field: status is not a known field',
  ]);
});

test('an argument that a tool requires is refused when it is absent', () => {
  assert.deepEqual(refusalOf('status', {}), [400_101, 'Invalid field: sessionId is required']);
  assert.deepEqual(refusalOf('status', { session: 'sess_1' }), [
    400_101,
    'Invalid field: sessionId is required, and session is not a known field',
  ]);
});

test('a text with an unpaired surrogate is refused', () => {
  assert.deepEqual(refusalOf('get_link', { linkId: '\ud800' }), [
    400_101,
    'Invalid field: linkId must be Unicode text, without unpaired surrogates',
  ]);
});

test('the arguments of a tool’s schema pass', () => {
  assert.equal(refusalOf('merchant_list_sessions', { page: 1, size: 2 }), undefined);
});

test('pay needs a key for each purchase, and refuses an empty one before it asks anything', async () => {
  const sign = neverAsked;
  const account = { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', signTypedData: sign } as const;
  const pay = payTool({ account, maxAmount: 1n });
  const url = 'http://127.0.0.1:9/link/lnk_x';
  assert.equal(refusedArguments(pay, { url })?.value['message'], 'Invalid field: idempotencyKey is required');
  for (const idempotencyKey of ['', 7]) {
    const { isError, value } = await pay.run({ url, idempotencyKey });
    assert.deepEqual(
      [isError, value['code'], value['message']],
      [true, 400_101, 'Invalid field: idempotencyKey must be text that is not empty, one for each purchase'],
    );
  }
});

test('a list without page and size is read from its beginning', async () => {
  const asked: string[] = [];
  const listing = merchantTools(async ({ path }) => {
    asked.push(path);
    return JSON.stringify({ code: 0, message: 'success', data: {} });
  }).find(({ name }) => name === 'merchant_list_sessions');
  assert.equal(refusalOf('merchant_list_sessions', {}), undefined);
  await listing?.run({});
  await listing?.run({ page: 2, size: 5 });
  assert.deepEqual(asked, ['/payment/v1/session/list/all/1/20', '/payment/v1/session/list/all/2/5']);
});
