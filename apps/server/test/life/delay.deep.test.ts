import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { resumeChain } from '@florin/evm';
import { statement } from '@florin/pg';
import { getAddress } from 'viem';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { checkout, closedRoutes } from './story-fixture.ts';

const haltChain = statement({
  name: 'delay_test_halt',
  parameters: { chainId: 'int8' },
  text: `update chain_cursors set halted_reason = 'reorg below the final block' where chain_id = :chainId`,
});

let life: Life;
before(async () => {
  life = await Life.start();
  life.mine();
});
after(() => life.close());

// proves S3.2
test('a blocked recipient delays only its own order, and is paid once it is unblocked', async () => {
  const token = life.ethereum.token('usdc');
  await life.ethereum.call(token.address, 'LocalUsdc', 'blacklist', [life.merchantWallet]);
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 10_000_000n);
  const blocked = await checkout(life, 1_000_000);
  await payer.execute(life.ethereum, await payer.prepare(blocked, token));
  const pending = await life.sessionIn(blocked, 'settlement_pending');
  assert.equal(pending.session.pendingReason, 'recipient_blocked');

  // The same merchant's settlement in another token is not delayed.
  const usdt = life.ethereum.token('usdt');
  await payer.fund(life.ethereum, usdt, 10_000_000n);
  const other = await checkout(life, 2_000_000, usdt.tokenId);
  await payer.execute(life.ethereum, await payer.prepare(other, usdt));
  await life.sessionIn(other, 'completed');
  assert.notEqual((await life.session(blocked)).session.status, 'completed');

  await life.ethereum.call(token.address, 'LocalUsdc', 'unBlacklist', [life.merchantWallet]);
  await life.sessionIn(blocked, 'completed');
  assert.equal(await life.ethereum.balanceOf(token, life.merchantWallet), 998_000n);
});

// proves W4.20
test('a payout above the vault’s float waits, and is made once when the float suffices', async () => {
  const token = life.base.token('usdc');
  const float = await life.base.balanceOf(token, life.base.chain.vault);
  const elsewhere = getAddress('0x00000000000000000000000000000000000f10a7');
  await life.base.call(life.base.chain.vault, 'PayoutVault', 'withdraw', [token.address, elsewhere, float]);
  const payer = new Payer(life);
  const paymentToken = life.ethereum.token('usdt');
  await payer.fund(life.ethereum, paymentToken, 10_000_000n);
  const sessionId = await checkout(life, 5_000_000, token.tokenId);
  await payer.execute(life.ethereum, await payer.prepare(sessionId, paymentToken));
  const pending = await life.sessionIn(sessionId, 'settlement_pending');
  assert.equal(pending.session.pendingReason, 'vault_short');
  await life.base.mint(token, life.base.chain.vault, 6_000_000n);
  await life.sessionIn(sessionId, 'completed');
  assert.equal(await life.base.balanceOf(token, life.merchantWallet), 4_970_000n);
  assert.equal(await life.base.balanceOf(token, life.base.chain.vault), 1_030_000n);
});

// proves W4.6, W4.16
test('two payments on two chains: the first final one counts, the other goes back to its payer in full', async () => {
  const [first, second] = [new Payer(life), new Payer(life)];
  const [ethereumToken, baseToken] = [life.ethereum.token('usdc'), life.base.token('usdc')];
  await first.fund(life.ethereum, ethereumToken, 10_000_000n);
  await second.fund(life.base, baseToken, 10_000_000n);
  const heldBefore = await life.ethereum.balanceOf(ethereumToken, life.merchantWallet);
  const sessionId = await checkout(life, 3_000_000, ethereumToken.tokenId);
  const [onEthereum, onBase] = [
    await first.prepare(sessionId, ethereumToken),
    await second.prepare(sessionId, baseToken),
  ];
  // Both payments are in blocks before either is final.
  await Promise.all([first.execute(life.ethereum, onEthereum), second.execute(life.base, onBase)]);
  const done = await life.sessionIn(sessionId, 'completed');
  const events = await life.eventOf(sessionId, 'session.exception');
  assert.equal(events.filter((event) => event.type === 'session.paid').length, 1);
  const [winner, loser] =
    done.session.payer === first.address
      ? [
          { payer: first, chain: life.ethereum, token: ethereumToken },
          { payer: second, chain: life.base, token: baseToken },
        ]
      : [
          { payer: second, chain: life.base, token: baseToken },
          { payer: first, chain: life.ethereum, token: ethereumToken },
        ];
  await life.eventually(
    () => loser.chain.balanceOf(loser.token, loser.payer.address),
    (balance) => balance === 10_000_000n,
    'the second payment to come back',
  );
  assert.equal(await winner.chain.balanceOf(winner.token, winner.payer.address), 7_000_000n);
  const held = await life.ethereum.balanceOf(ethereumToken, life.merchantWallet);
  assert.equal(held - heldBefore, BigInt(done.transaction?.netValue ?? 0));
});

test('a chain without new blocks delays no other chain', async () => {
  const token = life.base.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.base, token, 10_000_000n);
  const sessionId = await checkout(life, 1_000_000, token.tokenId);
  await life.pauseMining();
  const prepared = await payer.prepare(sessionId, token);
  await payer.execute(life.base, prepared);
  await life.eventually(
    async () => {
      await life.base.anvil.mine();
      return (await life.session(sessionId)).session.status;
    },
    (status) => status === 'completed',
    'the payment on the chain that moves',
  );
  life.mine();
});

// proves W1.15
test('no payment begins on a halted chain, other chains continue, and resuming restores all routes', async () => {
  const payer = new Payer(life);
  const [ethereumToken, baseToken] = [life.ethereum.token('usdc'), life.base.token('usdc')];
  await payer.fund(life.base, baseToken, 10_000_000n);
  const sessionId = await checkout(life, 1_000_000, baseToken.tokenId);
  await life.database.db.query(haltChain, { chainId: life.ethereum.chain.chainId });
  const closed = await life.eventually(
    () => closedRoutes(life),
    (routes) => routes.length > 0,
    'the halted chain in the capabilities',
  );
  const tokensOf = (name: string) =>
    life.options.chains.byName(name)?.tokens.map(({ tokenId }) => tokenId) ?? [];
  const all = [...tokensOf('ethereum'), ...tokensOf('base')];
  const expected = all.flatMap((settled) =>
    all
      .filter((paid) => `${paid} ${settled}`.includes('ethereum'))
      .map((paid) => `${paid} to ${settled}: chain_halted`),
  );
  assert.deepEqual(closed.sort(), expected.sort());

  const productData = { productName: 'Cup' };
  const refused = await life.call('POST', '/session/checkout/create', {
    accountId: life.accountId,
    settlementToken: ethereumToken.tokenId,
    lineItems: [{ itemType: 'one_time', quantity: 1, unitPrice: 1_000_000, productData }],
  });
  assert.deepEqual([refused.code, refused.data], [900401, null]);
  const signed = await payer.preparation(sessionId, ethereumToken);
  assert.equal((await payer.ask('POST', '/payment/prepare', signed)).code, 900401);
  await payer.execute(life.base, await payer.prepare(sessionId, baseToken));
  await life.sessionIn(sessionId, 'completed');

  await resumeChain(life.database.db, life.options.clock, life.ethereum.chain.chainId);
  await life.eventually(
    () => closedRoutes(life),
    (routes) => routes.length === 0,
    'the resumed chain in the capabilities',
  );
  await checkout(life, 1_000_000, ethereumToken.tokenId);
});
