import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { routeFrom, routesTo } from '#orders/quote.ts';
import { openConditionWorld } from '../../test/harness/condition-fixture.ts';
import type { VaultChain } from '../../test/harness/vault-rpc.ts';
import type { Chains } from './chain.ts';
import type { ConditionKeeper } from './condition.ts';
import { resumeToken, stopToken } from './token-stop.ts';

const { database, clock, ethereum, base, begin, stand } = await openConditionWorld();
after(() => database.close());

const signal = new AbortController().signal;
const rates = { sameToken: 2000, sameChain: 3000, crossChain: 6000 };
let node: VaultChain;
let keeper: ConditionKeeper;
let chains: Chains;
beforeEach(async () => {
  ({ node, keeper, chains } = await begin());
});

test('a route has the state of the worse of its chains', async () => {
  await stand(ethereum, { blocks: 64, lag: 768, halted: 'reorg' });
  await stand(base, { age: 600, blocks: 10, lag: 20 });
  await keeper.refresh(signal);
  const statusOf = (paymentTokenId: string, settlementTokenId: string) =>
    routeFrom(chains, rates, { paymentTokenId, settlementTokenId })?.condition;
  const halted = { status: 'unavailable', reason: 'chain_halted' };
  assert.deepEqual(
    [
      statusOf('base::usdc', 'base::usdc'),
      statusOf('base::usdc', 'ethereum::usdc'),
      statusOf('ethereum::usdc', 'base::usdc'),
    ],
    [{ status: 'delayed', reason: 'chain_lagging' }, halted, halted],
  );
});

// proves W1.16
test('a vault bounds only its own routes; a payout that it cannot make is not offered', async () => {
  const [usdc, dai] = base.tokens.map(({ address }) => address);
  node.caps.set(usdc ?? '0x', { perOrder: 5_000_000n, hourly: 4_000_000n, daily: 9_000_000n });
  node.caps.set(dai ?? '0x', { perOrder: 0n, hourly: 10n ** 24n, daily: 10n ** 24n });
  const routesOf = (tokenId: string) =>
    routesTo(chains, rates, tokenId).map((route) => [route.paymentToken.tokenId, route.maxPaymentValue]);
  const bound = [
    ['base::usdc', 10_000_000_000_000n],
    ['base::dai', 4_000_000n],
    ['ethereum::usdc', 4_000_000n],
    ['ethereum::dai', 4_000_000n],
  ];
  // Before the first check the cap of a vault is unknown.
  assert.deepEqual(routesOf('base::usdc'), bound.slice(0, 1));
  await keeper.refresh(signal);
  assert.deepEqual(routesOf('base::usdc'), bound);
  assert.deepEqual(routesOf('base::dai'), [['base::dai', 10_000_000_000_000n]]);
});

test('caps are read once a minute, sooner after a failure, and stay cached while no node answers', async () => {
  const [usdc] = base.tokens.map(({ address }) => address);
  node.caps.set(usdc ?? '0x', { perOrder: 5_000_000n, hourly: 10n ** 20n, daily: 10n ** 20n });
  node.isAway = true;
  node.asked = 0;
  await keeper.refresh(signal);
  node.isAway = false;
  await keeper.refresh(signal);
  const afterFailure = node.asked;
  assert.equal(keeper.conditions.payoutCap('base::usdc'), 5_000_000n);
  node.caps.set(usdc ?? '0x', { perOrder: 6_000_000n, hourly: 10n ** 20n, daily: 10n ** 20n });
  clock.time += 59_000;
  await keeper.refresh(signal);
  assert.deepEqual([node.asked, keeper.conditions.payoutCap('base::usdc')], [afterFailure, 5_000_000n]);
  clock.time += 1_000;
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.payoutCap('base::usdc'), 6_000_000n);
  node.isAway = true;
  clock.time += 60_000;
  await keeper.refresh(signal);
  assert.equal(keeper.conditions.payoutCap('base::usdc'), 6_000_000n);
});

test('a token that the operator stops closes its routes at the next check, and opens them when it is resumed', async () => {
  await stand(ethereum, {});
  await stand(base, {});
  const stop = (tokenId: string) =>
    database.db.transaction((transaction) =>
      stopToken(transaction, { clock, chains }, { token: tokenId, reason: 'depeg' }),
    );
  const states = () => {
    const ends = { paymentTokenId: 'base::usdc', settlementTokenId: 'base::usdc' };
    const { status, reason } = routeFrom(chains, rates, ends)?.condition ?? {};
    return [status, reason];
  };
  await keeper.refresh(signal);
  const version = keeper.conditions.version();
  assert.deepEqual(states(), ['available', '']);
  assert.deepEqual(await stop('base::usdc'), ['base::usdc']);
  await keeper.refresh(signal);
  assert.deepEqual(states(), ['unavailable', 'token_stopped']);
  assert.notEqual(keeper.conditions.version(), version);
  await database.db.transaction((transaction) => resumeToken(transaction, 'usdc'));
  await keeper.refresh(signal);
  assert.deepEqual(states(), ['available', '']);
});

test('a token that its issuer pauses closes its routes within a minute, and opens them by itself', async () => {
  await stand(ethereum, {});
  await stand(base, {});
  const [usdc = '0x', dai = '0x'] = base.tokens.map(({ address }) => address);
  const answer = (digit: string): Hex => `0x${digit.padStart(64, '0')}`;
  const reasons = () =>
    [
      ['base::usdc', 'base::usdc'],
      ['ethereum::usdc', 'base::usdc'],
      ['base::dai', 'ethereum::dai'],
    ].map(([paymentTokenId = '', settlementTokenId = '']) => {
      const { status, reason } =
        routeFrom(chains, rates, { paymentTokenId, settlementTokenId })?.condition ?? {};
      return `${status} ${reason}`;
    });
  const lookAfterAMinute = async () => {
    clock.time += 60_000;
    await stand(ethereum, {});
    await stand(base, {});
    await keeper.refresh(signal);
  };
  const open = 'available ';
  // The chains' nodes are one here, and so are the addresses of their tokens.
  node.pauses.set(usdc, answer('0'));
  await keeper.refresh(signal);
  const version = keeper.conditions.version();
  assert.deepEqual(reasons(), [open, open, open]);

  node.pauses.set(usdc, answer('1'));
  // No bool: not known.
  node.pauses.set(dai, answer('2'));
  await lookAfterAMinute();
  const paused = 'unavailable token_paused';
  assert.deepEqual(reasons(), [paused, paused, open]);
  assert.notEqual(keeper.conditions.version(), version);

  // No answer changes nothing.
  node.isAway = true;
  await lookAfterAMinute();
  assert.equal(keeper.conditions.isPaused?.('base::usdc'), true);

  node.isAway = false;
  node.pauses.set(usdc, answer('0'));
  await lookAfterAMinute();
  assert.deepEqual(reasons(), [open, open, open]);
});
