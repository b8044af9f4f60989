import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { decodeFunctionData, erc20Abi } from 'viem';
import { approvalsOf } from './approval.ts';

const gateway: Hex = `0x${'a1'.repeat(20)}`;
const permit2: Hex = `0x${'b2'.repeat(20)}`;
const address: Hex = `0x${'c3'.repeat(20)}`;
const token = (symbol: string) => ({ address, symbol, decimals: 6 });

/** The allowances that the approvals set, one after the other; each call must be to the token and without value. */
function allowancesOf(symbol: string, allowance: bigint | undefined, spender?: Hex): readonly bigint[] {
  const to = spender ?? gateway;
  const chain = { chainId: 8_453, gateway };
  const approvals = approvalsOf({
    chain,
    token: token(symbol),
    amount: 5n,
    allowance,
    ...(spender && { spender }),
  });
  return approvals.map(({ txRequest: { data, ...call } }) => {
    assert.deepEqual(call, { chainId: '8453', to: address, value: '0' });
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data: data as Hex });
    assert.equal(functionName, 'approve');
    const [spent, amount] = args ?? [];
    assert.equal(String(spent).toLowerCase(), to);
    return BigInt(String(amount));
  });
}

type Rule = readonly [name: string, symbol: string, allowance: bigint | undefined, set: readonly bigint[]];
const rules: readonly Rule[] = [
  ['no approval when the allowance suffices', 'USDC', 5n, []],
  ['no approval when the allowance is larger', 'USDT', 6n, []],
  ['an approval of exactly the amount without an allowance', 'USDC', 0n, [5n]],
  ['an approval of exactly the amount when the allowance is too small', 'USDC', 4n, [5n]],
  ['an approval of exactly the amount when the allowance is unknown', 'USDC', undefined, [5n]],
  ['no reset of an allowance of zero', 'USDT', 0n, [5n]],
  ['a reset before Tether’s allowance changes', 'USDT', 4n, [0n, 5n]],
  ['a reset when Tether’s allowance is unknown', 'USDT', undefined, [0n, 5n]],
  ['a reset for Tether’s newer symbols', 'USD₮0', 4n, [0n, 5n]],
];

for (const [name, symbol, allowance, set] of rules)
  test(`${symbol}: ${name}`, () => {
    assert.deepEqual(allowancesOf(symbol, allowance), set);
    assert.deepEqual(allowancesOf(symbol, allowance, permit2), set);
  });
