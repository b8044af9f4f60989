import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { PaymentAlternative } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { ExactEvmScheme } from '@x402/evm';
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch';
import { encodeFunctionData, erc20Abi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { ledgerSums } from '#ledger/entry.ts';
import { deepOnly } from '../harness/deep-only.ts';
import { Life } from './life.ts';
import type { LifeChain } from './life-chain.ts';
import { alternative, Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

let life: Life;
before(async () => {
  life = await Life.start();
  life.mine();
});
after(() => life.close());

const price = 5_000_000n;

/** A payer with exactly the price of the session, and one way to pay it. */
interface Racer {
  readonly payer: Payer;
  readonly chain: LifeChain;
  readonly token: Token;
  /** Does everything up to the last step; returns the last step. */
  ready(payer: Payer, sessionId: string): Promise<() => Promise<unknown>>;
}

async function signed(payer: Payer, offered: PaymentAlternative) {
  const { path, body } = await payer.signed(offered);
  return () => payer.ask('POST', path, body);
}

const allowance = (chain: LifeChain): Racer['ready'] => {
  return async (payer, sessionId) => {
    const prepared = await payer.prepare(sessionId, chain.token('usdc'));
    return () => payer.execute(chain, prepared);
  };
};

const authorization: Racer['ready'] = async (payer, sessionId) =>
  signed(payer, alternative(await payer.prepare(sessionId, life.ethereum.token('usdc')), 'eip3009'));

const permit2: Racer['ready'] = async (payer, sessionId) => {
  const prepared = await payer.prepare(sessionId, life.ethereum.token('usdc'));
  const { calls = [] } = alternative(prepared, 'permit2');
  for (const call of calls) await payer.send(life.ethereum, call);
  return signed(payer, alternative(prepared, 'permit2'));
};

const deposit: Racer['ready'] = async (payer, sessionId) => {
  const token = life.ethereum.token('usdc');
  const { address = '' } = alternative(await payer.prepare(sessionId, token), 'deposit');
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [address as Hex, price] });
  const call = { chainId: String(token.chainId), to: token.address, data, value: '0' };
  return () => payer.send(life.ethereum, call);
};

const x402: Racer['ready'] = async (payer, sessionId) => {
  const account = privateKeyToAccount(payer.wallet.privateKey as Hex);
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: 'eip155:31337', client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: true, maxAmountPerPayment: false },
  });
  const url = `${life.options.origin}/aipay/x402/session/${sessionId}?payer=${payer.address}`;
  return () => pay(url);
};

function racers(): Racer[] {
  const { ethereum, base } = life;
  const on = (chain: LifeChain, ready: Racer['ready']): Racer => ({
    payer: new Payer(life),
    chain,
    token: chain.token('usdc'),
    ready,
  });
  return [
    on(ethereum, allowance(ethereum)),
    on(ethereum, authorization),
    on(ethereum, permit2),
    on(ethereum, deposit),
    on(ethereum, x402),
    on(base, allowance(base)),
  ];
}

// Another payer is first each time. The money of those who lose stays or comes back.
for (const first of [0, 2, 4]) {
  // proves W4.16
  test(
    `when six kinds of clients race to pay one session, ${first} first, one pays and the others keep their money`,
    first === 0 ? {} : deepOnly,
    async () => {
      const sessionId = await checkout(life, Number(price));
      const all = racers();
      const steps: (() => Promise<unknown>)[] = [];
      for (const { payer, chain, token, ready } of all) {
        await payer.fund(chain, token, price);
        steps.push(await ready(payer, sessionId));
      }
      await life.pauseMining();
      const order = [...steps.slice(first), ...steps.slice(0, first)];
      const ended = Promise.allSettled(order.map((step) => step()));
      life.mine();
      await ended;
      const done = await life.sessionIn(sessionId, 'completed');
      const balances = await life.eventually(
        () => Promise.all(all.map(({ payer, chain, token }) => chain.balanceOf(token, payer.address))),
        (found) => found.filter((amount) => amount === price).length === all.length - 1,
        'all but one to have their money',
      );
      const winner = all[balances.indexOf(0n)];
      assert.equal(done.session.payer, winner?.payer.address);
      const paidEvents = life.eventsOf(sessionId).filter(({ type }) => type === 'session.paid');
      assert.equal(paidEvents.length, 1);
      assert.ok((await ledgerSums(life.database.db)).every(({ total }) => total === 0n));
    },
  );
}
