import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFunctionData, erc20Abi } from 'viem';
import { permit2Address } from '#chains/shared-contract.ts';
import type { TokenSigning } from '#contracts/token-signing.ts';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { fixtureOrder } from '../../test/harness/order-fixture.ts';
import { alternativesOf, type PaymentWays } from './alternatives.ts';

const [chain] = fixtureChains.all;
const [usdc] = fixtureChains.tokens;
if (chain === undefined || usdc === undefined) throw new Error('no chain');
const payment = { chainId: '31337', to: chain.gateway, data: '0x01', value: '0' };

function waysOf(signing: TokenSigning | undefined, permit2Allowance = 0n): PaymentWays {
  if (chain === undefined || usdc === undefined) throw new Error('no chain');
  const { gateway } = chain;
  const order = { ...fixtureOrder, gateway, order: { ...fixtureOrder.order, token: usdc.address } };
  const standing = { signing, permit2Allowance, usedNonces: 0n };
  return { order, deposit: undefined, chain, token: usdc, ...standing, transactions: [payment] };
}

const domain = { name: 'USDC', version: '2', chainId: 31_337, verifyingContract: usdc.address };
const everything: TokenSigning = { permits: new Set(['eip3009', 'permit2']), domain };

test('payment ways are listed with what they cost the payer, the one with the fewest steps first', () => {
  const costs = (ways: PaymentWays) =>
    alternativesOf(ways).map(({ method, gasless, costToPayer }) => `${method} ${gasless} ${costToPayer}`);
  assert.deepEqual(costs(waysOf(everything)), [
    'eip3009 true nothing',
    'permit2 false the gas of an approval',
    'eip5792 false the gas of one batch',
    'deposit false the gas of a plain transfer',
  ]);
  assert.equal(costs(waysOf(everything, 10_020_000n))[1], 'permit2 true nothing');
  assert.deepEqual(costs(waysOf(undefined)), ['eip5792 false the gas of one batch']);
});

test('Permit2 is approved for exactly the amount of the order, never for more', () => {
  const { calls = [] } = alternativesOf(waysOf(everything))[1] ?? {};
  const approvals = calls.map(({ to, data }) => ({
    to,
    ...decodeFunctionData({ abi: erc20Abi, data: data as `0x${string}` }),
  }));
  assert.deepEqual(approvals, [
    { to: usdc.address, functionName: 'approve', args: [permit2Address, 10_020_000n] },
  ]);
});
