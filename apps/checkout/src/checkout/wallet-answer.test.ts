import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NextStep, nextStepOf, noHash, type WalletRequest } from './wallet-answer.ts';

const requests: readonly WalletRequest[] = ['connect', 'switch', 'add', 'sign', 'calls', 'send'];

test('every wallet answer has a next step', () => {
  // In the order of the requests above.
  const table: [code: number | undefined, steps: NextStep[]][] = [
    [4001, ['declined', 'declined', 'declined', 'declined', 'declined', 'declined']],
    [-32002, ['busy', 'busy', 'busy', 'busy', 'busy', 'busy']],
    [4100, Array.from(requests, () => 'connect_again')],
    [4900, Array.from(requests, () => 'connect_again')],
    [4200, ['tell', 'change_by_hand', 'change_by_hand', 'pay_plainly', 'pay_plainly', 'use_address']],
    [-32601, ['tell', 'change_by_hand', 'change_by_hand', 'pay_plainly', 'pay_plainly', 'use_address']],
    [-32004, ['tell', 'change_by_hand', 'change_by_hand', 'pay_plainly', 'pay_plainly', 'use_address']],
    [4901, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'tell', 'change_by_hand']],
    [4902, ['tell', 'add_network', 'change_by_hand', 'tell', 'tell', 'tell']],
    [-32602, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'pay_plainly', 'tell']],
    [5700, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'pay_plainly', 'tell']],
    [5710, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'pay_plainly', 'tell']],
    [5740, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'pay_plainly', 'tell']],
    [5750, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'pay_plainly', 'tell']],
    [5760, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'pay_plainly', 'tell']],
    [-32603, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'tell', 'tell']],
    [noHash, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'tell', 'check_wallet']],
    [undefined, ['tell', 'change_by_hand', 'change_by_hand', 'tell', 'tell', 'tell']],
  ];
  for (const [code, steps] of table) {
    const error = Object.assign(new Error('refused'), code === undefined ? {} : { code });
    assert.deepEqual(
      requests.map((request) => nextStepOf(request, error)),
      steps,
      String(code),
    );
  }
});

test('the deciding code may be inside another error', () => {
  const wrapped = { code: -32603, data: { originalError: { code: 4902 } } };
  assert.equal(nextStepOf('switch', wrapped), 'add_network');
  assert.equal(nextStepOf('send', { cause: { code: 4001 } }), 'declined');
  for (const odd of [undefined, null, 'no', 7, { code: '4001' }])
    assert.equal(nextStepOf('send', odd), 'tell');
});

test('only a wallet that does not know signatures is asked for a transaction at once', () => {
  for (let code = -33_000; code < 6_000; code += 1) {
    const isUnknown = [4200, -32_601, -32_004].includes(code);
    assert.equal(nextStepOf('sign', { code }) === 'pay_plainly', isUnknown, String(code));
  }
});

test('a request that may have moved money is never repeated automatically', () => {
  for (let code = -33_000; code < 6_000; code += 1) {
    assert.notEqual(nextStepOf('send', { code }), 'pay_plainly', String(code));
  }
  assert.equal(nextStepOf('calls', new Error('connection lost')), 'tell');
});
