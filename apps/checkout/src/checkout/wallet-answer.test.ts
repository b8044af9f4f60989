import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NextStep, nextStepOf, noHash, type WalletRequest } from './wallet-answer.ts';

const requests: readonly WalletRequest[] = ['connect', 'switch', 'add', 'sign', 'calls', 'send'];

test('every wallet answer has a next step', () => {
  // In the order of the requests above.
  const table: [code: number | undefined, steps: NextStep[]][] = [
    [4001, ['rejected', 'rejected', 'rejected', 'rejected', 'rejected', 'rejected']],
    [-32002, ['walletBusy', 'walletBusy', 'walletBusy', 'walletBusy', 'walletBusy', 'walletBusy']],
    [4100, Array.from(requests, () => 'disconnected')],
    [4900, Array.from(requests, () => 'disconnected')],
    [4200, ['failed', 'wrongNetwork', 'wrongNetwork', 'pay_plainly', 'pay_plainly', 'walletCannotSend']],
    [-32601, ['failed', 'wrongNetwork', 'wrongNetwork', 'pay_plainly', 'pay_plainly', 'walletCannotSend']],
    [-32004, ['failed', 'wrongNetwork', 'wrongNetwork', 'pay_plainly', 'pay_plainly', 'walletCannotSend']],
    [4901, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'failed', 'wrongNetwork']],
    [4902, ['failed', 'add_network', 'wrongNetwork', 'failed', 'failed', 'failed']],
    [-32602, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'pay_plainly', 'failed']],
    [5700, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'pay_plainly', 'failed']],
    [5710, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'pay_plainly', 'failed']],
    [5740, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'pay_plainly', 'failed']],
    [5750, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'pay_plainly', 'failed']],
    [5760, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'pay_plainly', 'failed']],
    [-32603, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'failed', 'failed']],
    [noHash, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'failed', 'unseen']],
    [undefined, ['failed', 'wrongNetwork', 'wrongNetwork', 'failed', 'failed', 'failed']],
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
  assert.equal(nextStepOf('send', { cause: { code: 4001 } }), 'rejected');
  for (const odd of [undefined, null, 'no', 7, { code: '4001' }])
    assert.equal(nextStepOf('send', odd), 'failed');
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
  assert.equal(nextStepOf('calls', new Error('connection lost')), 'failed');
});
