import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Rpc, RpcError, type SendPlan } from '@florin/evm';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { payerChainOf } from '#authorizations/payer-chain.ts';
import { findLink } from '#links/link-lookup.ts';
import { prepareOrder } from '#sessions/order-preparation.ts';
import { createLinkSession } from '#sessions/session.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { isSmartAccount } from './smart-account.ts';
import { checkSubmission } from './submission.ts';

const [payer, wallet, gateway] = [
  `0x${'11'.repeat(20)}`,
  `0x${'22'.repeat(20)}`,
  `0x${'33'.repeat(20)}`,
] as const;

const plan: SendPlan = {
  ...{ purpose: 'relay', chainId: 1, to: gateway, data: '0xabcd', wallet, nonceFloor: 0n, baseFee: 6n },
  ...{ gasLimit: 200_000n, maxFee: 20n, priorityFee: 2n },
};

/** A node where the payer has this code, and where a payment succeeds only without a gas price. */
function chainWith(code: string, seen: unknown[] = []) {
  const rpc: Rpc = {
    async request(method, params) {
      if (method === 'eth_getCode') return code;
      seen.push(params);
      const [call] = params as readonly [Readonly<Record<string, unknown>>];
      if (call['maxFeePerGas'] !== undefined) throw new RpcError(3, 'execution reverted');
      return '0x';
    },
    batch: async () => assert.fail('no batches here'),
  };
  return { payerChain: payerChainOf(() => rpc) };
}

test('a payment that fails at a gas price is refused for a payer with code or a delegation, before it is sent', async () => {
  for (const code of ['0x6001', `0xef0100${'44'.repeat(20)}`]) {
    const seen: unknown[] = [];
    await assert.rejects(isSmartAccount(chainWith(code, seen), payer, plan), { slug: 'payer_not_served' });
    const transaction = { from: wallet, gas: '0x30d40', maxFeePerGas: '0x14', maxPriorityFeePerGas: '0x2' };
    assert.deepEqual(seen, [[{ to: gateway, data: '0xabcd', ...transaction }, 'latest']]);
  }
});

test('a payer without code runs none: its payment is not simulated again', async () => {
  const seen: unknown[] = [];
  assert.equal(await isSmartAccount(chainWith('0x', seen), payer, plan), false);
  assert.deepEqual(seen, []);
});

test('a submission checks for account code and reports that its payer has code', async () => {
  const world = await AgentWorld.open();
  after(() => world.close());
  const [token, link] = [
    world.deps.chains.token('ethereum::usdc'),
    await findLink(world.db, await world.addLink(), world.clock.now()),
  ];
  if (token === undefined || link === undefined) throw new Error('the fixture has no link or token');
  const order = await world.db.transaction(async (transaction) => {
    const session = await createLinkSession(transaction, world.deps, { link, paymentValue: link.amount });
    return prepareOrder(transaction, world.deps, { session, payer, payerEmail: '', token });
  });
  const domain = {
    ...{ name: 'USD Coin', version: '2' },
    ...{ chainId: token.chainId, verifyingContract: token.address },
  };
  const check = (paying: Hex | undefined) =>
    checkSubmission(
      world.db,
      {
        ...world.deps,
        payerChain: {
          codeAt: async () => '0x6001',
          callAt: async (_chainId, { offer }) =>
            offer === undefined ? `0x1626ba7e${'0'.repeat(56)}` : paying,
        },
        gasless: {
          signingOf: async () => ({ permits: new Set(['permit2']), domain }),
          minAmount: microUsd(0n),
          budgets: {
            ...{ perPayer: 1, perLink: 1, perNetwork: 1 },
            smartAccounts: { perPayment: 1, failuresPerMerchant: 1 },
          },
        },
        sender: {
          plan: async () => plan,
          record: async () => assert.fail('nothing is recorded'),
          broadcast: async () => {},
        },
      },
      {
        body: { sessionId: order.sessionId, method: 'permit2', signature: `0x${'ab'.repeat(100)}` },
        network: 'a network',
      },
    );
  await assert.rejects(check(undefined), { slug: 'payer_not_served' });
  const checked = await check('0x');
  assert.equal(checked.kind === 'new' && checked.isSmartAccount, true);
});
