import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCursor, resumeChain } from '@florin/evm';
import type { CheckoutState } from '@florin/protocol/checkout-state.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { addressOf, transfer } from './deposit-fixture.ts';
import { Life } from './life.ts';
import { storedHeadOf } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start();
});
after(() => life.close());

async function headNumber(): Promise<number> {
  return Number(await life.ethereum.anvil.request('eth_blockNumber'));
}

async function haltedReason(): Promise<string> {
  return (await findCursor(life.database.db, life.ethereum.chain.chainId))?.haltedReason ?? '';
}

/** What the session's page tells of money that paid nothing: whether the session is in doubt, and what becomes of which money. */
async function pageOf(sessionId: string) {
  const response = await fetch(`${life.options.origin}/checkout/api/session/${sessionId}`);
  const { data } = (await response.json()) as { data: { state: CheckoutState } };
  const { isInDoubt = false, exceptions } = data.state;
  return [isInDoubt, ...exceptions.map(({ kind, outcome, amount }) => `${kind} ${outcome} ${amount}`)];
}

const pageIn = (sessionId: string, wanted: readonly (string | boolean)[]) =>
  life.eventually(
    () => pageOf(sessionId),
    (told) => JSON.stringify(told) === JSON.stringify(wanted),
    `a page with ${wanted}`,
  );

async function exceptionsOf(sessionId: string) {
  const { exceptions } = await life.get<{ exceptions: PaymentException[] }>('/exception/list/1/100');
  return exceptions
    .filter((exception) => exception.sessionId === sessionId)
    .map(({ kind, status, isGone }) => [kind, status, isGone]);
}

/** The node forgets all blocks after this one with their transactions, and an operator resumes the chain. */
async function loseBlocksAfter(first: number, meanwhile: () => Promise<void>): Promise<void> {
  const { anvil, chain } = life.ethereum;
  await life.pauseMining();
  const head = await headNumber();
  await life.eventually(
    () => storedHeadOf(life, chain.chainId),
    (number) => number >= head,
    'the watcher to reach the head',
  );
  await anvil.request('anvil_reorg', [head - first, []]);
  await life.eventually(haltedReason, (reason) => reason !== '', 'the breaker to trip');
  await meanwhile();
  await resumeChain(life.database.db, life.options.clock, chain.chainId);
  life.mine();
}

/** Money that pays nothing, the address that it came to, and the session of that address. */
interface Wrong {
  readonly sessionId: string;
  readonly address: Hex;
  readonly token: Token;
  readonly amount: bigint;
  readonly kind: PaymentException['kind'];
}

/** What comes before the wrong money, and stays on the chain. */
const cases: Readonly<Record<string, () => Promise<Wrong>>> = {
  async 'another token'() {
    const { sessionId, address } = await addressOf(life, life.ethereum.token('usdc'), {});
    const token = life.ethereum.token('usdt');
    return { sessionId, address, token, amount: 5_000_000n, kind: 'wrong_token' };
  },
  async 'a second payment'() {
    const token = life.ethereum.token('usdc');
    const { sessionId, address, amount } = await addressOf(life, token, {});
    await transfer(life, life.ethereum, token, address, amount);
    await life.sessionIn(sessionId, 'completed');
    return { sessionId, address, token, amount, kind: 'overpaid' };
  },
};

for (const [name, begin] of Object.entries(cases))
  test(`${name} that a reorg below finality took back is promised to no payer, and goes back once it is there again`, async () => {
    life.mine();
    const { sessionId, address, token, amount, kind } = await begin();
    const first = await headNumber();
    const send = () => transfer(life, life.ethereum, token, address, amount);
    const back = [false, `${kind} back ${amount}`];
    await send();
    await pageIn(sessionId, back);
    await loseBlocksAfter(first, async () => {
      assert.deepEqual(await pageOf(sessionId), [true], 'nothing is known while the chain is halted');
    });
    await pageIn(sessionId, [false]);
    assert.equal(await life.ethereum.balanceOf(token, address), 0n);
    assert.deepEqual(await exceptionsOf(sessionId), [[kind, 'resolved', true]]);

    await send();
    await pageIn(sessionId, back);
    assert.equal(await life.ethereum.balanceOf(token, address), 0n);
    assert.deepEqual(await exceptionsOf(sessionId), [[kind, 'resolved', false]]);
    const told = life.eventsOf(sessionId).filter(({ type }) => type === 'session.exception');
    assert.equal(told.length, 2);
  });
