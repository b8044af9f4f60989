import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseDepositOrder } from '@florin/kit';
import type { PaymentAlternative } from '@florin/protocol/agent-view.ts';
import type { PaymentException } from '@florin/protocol/exception.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { SessionDeposit } from '@florin/protocol/session.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi } from 'viem';
import { ledgerSums } from '#ledger/entry.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start();
  life.mine();
});
after(() => life.close());

interface Address {
  readonly sessionId: string;
  readonly orderId: string;
  /** Unix seconds. */
  readonly deadline: string;
  readonly address: Hex;
  readonly amount: bigint;
}

/** A session with a deposit address. Money that pays nothing goes to the payer's wallet. */
async function addressOf(payer: Payer, token: Token, price: number): Promise<Address> {
  const sessionId = await checkout(life, price, token.tokenId);
  const prepared = await payer.prepare(sessionId, token);
  const guide = prepared.aiView.paymentExecutionGuide as unknown as {
    alternatives: PaymentAlternative[];
    order: { orderId: string; deadline: string };
  };
  const deposit = guide.alternatives.find(({ method }) => method === 'deposit');
  if (deposit?.address === undefined) throw new Error('no deposit address is offered');
  assert.equal(deposit.refundAddress, payer.address);
  const kept = parseDepositOrder(JSON.stringify(prepared));
  assert.deepEqual([kept.chainId, kept.order.payer], [BigInt(token.chainId), payer.address.toLowerCase()]);
  return {
    sessionId,
    orderId: guide.order.orderId,
    deadline: guide.order.deadline,
    address: deposit.address as Hex,
    amount: BigInt(deposit.amountInToken ?? '0'),
  };
}

/** A plain transfer to an address, as an exchange sends it. */
async function transfer(chain: LifeChain, token: Token, to: Hex, amount: bigint): Promise<void> {
  const exchange = new Payer(life);
  await exchange.fund(chain, token, amount);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
  await exchange.send(chain, { chainId: String(token.chainId), to: token.address, data, value: '0' });
}

/** The session's exceptions once this many are resolved and none is open. */
async function resolvedExceptions(sessionId: string, count: number): Promise<[string, string, string][]> {
  const all = await life.eventually(
    async () => {
      const { exceptions } = await life.get<{ exceptions: PaymentException[] }>('/exception/list/1/100');
      return exceptions.filter((exception) => exception.sessionId === sessionId);
    },
    (found) => found.length === count && found.every(({ status }) => status === 'resolved'),
    `${count} resolved exceptions`,
  );
  return all.map(({ kind, tokenId, amountInToken }) => [kind, tokenId, amountInToken]);
}

/** What the merchant, the merchant’s list, an agent, the page of an order and a page without it see of a session's deposits. */
async function depositsIn(
  sessionId: string,
  orderId: string,
): Promise<(readonly SessionDeposit[] | undefined)[]> {
  const read = async <Data>(path: string, query = ''): Promise<Data> => {
    const reply = await (await fetch(`${life.options.origin}${path}/session/${sessionId}${query}`)).json();
    return (reply as { data: Data }).data;
  };
  type Deposits = { deposits?: readonly SessionDeposit[] };
  const merchant = await life.get<Deposits>(`/session/${sessionId}`);
  const { sessions } = await life.get<{ sessions: (Deposits & { session: { sessionId: string } })[] }>(
    '/session/list/all/1/100',
  );
  const listed = sessions.find(({ session }) => session.sessionId === sessionId);
  const agent = await read<{ aiView: Deposits }>('/aipay/api/v1');
  const own = await read<{ state: Deposits }>('/checkout/api', `?order=${orderId}`);
  const other = await read<{ state: Deposits }>('/checkout/api');
  return [
    merchant.deposits,
    listed?.deposits,
    agent.aiView.deposits,
    own.state.deposits,
    other.state.deposits,
  ];
}

// proves W8.2
test('plain transfers to a deposit address pay its session, even in parts, and every view shows what is missing', async () => {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  const { sessionId, orderId, deadline, address, amount } = await addressOf(payer, token, 5_000_000);
  assert.deepEqual(await depositsIn(sessionId, orderId), [undefined, undefined, undefined, [], []]);
  await transfer(life.ethereum, token, address, amount - 2_000_000n);
  const seen = await life.eventually(
    () => depositsIn(sessionId, orderId),
    (views) => views.slice(0, 4).every((deposits) => BigInt(deposits?.[0]?.finalInToken ?? 0) > 0n),
    'the final part in every view',
  );
  const { tokenId, chainId, symbol, decimals } = token;
  const arrived = String(amount - 2_000_000n);
  const shown = {
    ...{ tokenId, chainId: String(chainId), symbol, decimals, payUntil: Number(deadline) },
    addressEnd: address.slice(-4),
    ...{ amountInToken: arrived, finalInToken: arrived, missingInToken: '2000000' },
  };
  // Anyone's wallet can sign for an order of the session, so the pages of others do not tell of it.
  assert.deepEqual(seen, [[shown], [shown], [shown], [{ ...shown, onlyFor: orderId }], []]);
  await transfer(life.ethereum, token, address, 2_000_000n);
  const done = await life.sessionIn(sessionId, 'completed');
  assert.deepEqual([done.session.payer, done.transaction?.totalValue], [payer.address, Number(amount)]);
  assert.deepEqual(await depositsIn(sessionId, orderId), [undefined, undefined, undefined, [], []]);
  assert.equal(await life.ethereum.balanceOf(token, address), 0n);
  assert.equal(
    await life.ethereum.balanceOf(token, life.merchantWallet),
    BigInt(done.transaction?.netValue ?? 0),
  );
});

test('a token without return values is collected like any other', deepOnly, async () => {
  const token = life.ethereum.token('usdt');
  const { sessionId, address, amount } = await addressOf(new Payer(life), token, 3_000_000);
  await transfer(life.ethereum, token, address, amount);
  await life.sessionIn(sessionId, 'completed');
});

// proves W8.2
test('a surplus, or another token, goes back to the refund address, and the merchant is notified', async () => {
  const [usdc, dai] = [life.base.token('usdc'), life.base.token('dai')];
  const payer = new Payer(life);
  const { sessionId, address, amount } = await addressOf(payer, usdc, 4_000_000);
  await transfer(life.base, dai, address, 7n * 10n ** 18n);
  await transfer(life.base, usdc, address, amount + 1_500_000n);
  await life.sessionIn(sessionId, 'completed');
  assert.deepEqual((await resolvedExceptions(sessionId, 2)).sort(), [
    ['overpaid', 'base::usdc', '1500000'],
    ['wrong_token', 'base::dai', String(7n * 10n ** 18n)],
  ]);
  assert.equal(await life.base.balanceOf(usdc, payer.address), 1_500_000n);
  assert.equal(await life.base.balanceOf(dai, payer.address), 7n * 10n ** 18n);
  assert.equal(await life.base.balanceOf(usdc, address), 0n);
  const told = async () =>
    (await life.eventOf(sessionId, 'session.exception')).filter(({ type }) => type === 'session.exception');
  assert.equal((await told()).length, 2);

  // The same mistakes again.
  await transfer(life.base, dai, address, 3n * 10n ** 18n);
  await transfer(life.base, usdc, address, 1_200_000n);
  assert.deepEqual((await resolvedExceptions(sessionId, 4)).sort(), [
    ['overpaid', 'base::usdc', '1200000'],
    ['overpaid', 'base::usdc', '1500000'],
    ['wrong_token', 'base::dai', String(3n * 10n ** 18n)],
    ['wrong_token', 'base::dai', String(7n * 10n ** 18n)],
  ]);
  assert.equal(await life.base.balanceOf(usdc, payer.address), 2_700_000n);
  await life.eventually(told, (events) => events.length === 4, 'an event of each deposit');
});

test('a deposit for a session that was paid in another way goes back', deepOnly, async () => {
  const token = life.base.token('usdc');
  const [depositor, payer] = [new Payer(life), new Payer(life)];
  const { sessionId, address, amount } = await addressOf(depositor, token, 2_000_000);
  await payer.fund(life.base, token, amount);
  await payer.execute(life.base, await payer.prepare(sessionId, token));
  await life.sessionIn(sessionId, 'completed');
  await transfer(life.base, token, address, amount);
  assert.deepEqual(await resolvedExceptions(sessionId, 1), [['duplicate', 'base::usdc', String(amount)]]);
  assert.equal(await life.base.balanceOf(token, depositor.address), amount);
});

// Last: it moves the chain's time past the deadline of every order.
// proves W8.2
test('an incomplete deposit and every late deposit go back', async () => {
  const token = life.base.token('usdc');
  const [poor, slow] = [new Payer(life), new Payer(life)];
  const short = await addressOf(poor, token, 6_000_000);
  const late = await addressOf(slow, token, 6_000_000);
  await transfer(life.base, token, short.address, short.amount - 1n);
  await life.base.anvil.request('evm_increaseTime', [3_600]);
  await life.sessionIn(short.sessionId, 'expired');
  await life.sessionIn(late.sessionId, 'expired');
  await transfer(life.base, token, late.address, late.amount);
  assert.deepEqual(await resolvedExceptions(short.sessionId, 1), [
    ['underpaid', 'base::usdc', String(short.amount - 1n)],
  ]);
  assert.deepEqual(await resolvedExceptions(late.sessionId, 1), [
    ['late', 'base::usdc', String(late.amount)],
  ]);
  assert.equal(await life.base.balanceOf(token, poor.address), short.amount - 1n);
  assert.equal(await life.base.balanceOf(token, slow.address), late.amount);
  assert.ok((await ledgerSums(life.database.db)).every(({ total }) => total === 0n));
});
