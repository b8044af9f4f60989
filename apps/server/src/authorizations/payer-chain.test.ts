import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Rpc, RpcError, RpcUnavailable } from '@florin/evm';
import { payerChainOf } from './payer-chain.ts';

const address = `0x${'11'.repeat(20)}` as const;

/** A node that gives the same answer to every request and records the requests. */
function node(answer: () => unknown, seen: unknown[] = []): Rpc {
  return {
    request: async (method, params) => {
      seen.push([method, params]);
      return answer();
    },
    batch: async () => assert.fail('no batches here'),
  };
}

function failing(error: Error): Rpc {
  return node(() => {
    throw error;
  });
}

test('the gas cap reaches the node', async () => {
  const seen: unknown[] = [];
  const chain = payerChainOf(() => node(() => '0x1234', seen));
  assert.equal(await chain.callAt(1, { to: address, data: '0xabcd', gas: 2_000_000n }), '0x1234');
  assert.deepEqual(seen, [['eth_call', [{ to: address, data: '0xabcd', gas: '0x1e8480' }, 'latest']]]);
});

test('a call that reverts has no answer', async () => {
  const chain = payerChainOf(() => failing(new RpcError(3, 'execution reverted')));
  assert.equal(await chain.callAt(1, { to: address, data: '0x', gas: 1n }), undefined);
});

test('a chain that cannot be asked is refused as unavailable, never taken as "no code"', async () => {
  for (const rpc of [failing(new RpcUnavailable('timeout')), node(() => null), undefined]) {
    const chain = payerChainOf(() => rpc);
    await assert.rejects(chain.codeAt(1, address), { name: 'Refusal', slug: 'chain_unavailable' });
    await assert.rejects(chain.callAt(1, { to: address, data: '0x', gas: 1n }), {
      slug: 'chain_unavailable',
    });
  }
});
