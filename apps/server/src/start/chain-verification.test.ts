import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startLyingRpc } from '@florin/evm/testing';
import { getAddress, type Hex } from 'viem';
import { type Chain, chainsOf } from '#chains/chain.ts';
import { ConfigError } from '#config/setting.ts';
import { deploymentCall, planContracts } from '#contracts/contract-plan.ts';
import type { Clock } from '#outside/clock.ts';
import { silentLog } from '#telemetry/log.ts';
import { LifeChain } from '../../test/life/life-chain.ts';
import { addresses, keys } from '../../test/life/roles.ts';
import { verifyChains } from './chain-verification.ts';

let life: LifeChain;
before(async () => {
  life = await LifeChain.start({
    name: 'base',
    chainId: 31_338,
    hasCctp: true,
    tokens: [
      { symbol: 'usdc', decimals: 6 },
      { symbol: 'dai', decimals: 18 },
    ],
  });
});
after(() => life.anvil.close());

const nowhere = getAddress(`0x${'de'.repeat(20)}`);

/** A clock whose sleeps take no real time. */
function quickClock(): Clock & { slept: number } {
  const clock = {
    slept: 0,
    now: () => new Date(0),
    monotonicMs: () => clock.slept,
    sleep: async (ms: number) => {
      clock.slept += ms;
    },
  };
  return clock;
}

/** Waits in turns of the event loop. */
async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

async function mistakeOf(
  change: Partial<Chain> = {},
  options: {
    orderKey?: Hex;
    settlerKey?: Hex;
    otherSettlerKeys?: Hex[];
    clock?: Clock;
  } = {},
): Promise<string> {
  const { orderKey = keys.orderSigner, settlerKey = keys.settler, clock = quickClock() } = options;
  const chains = chainsOf([{ ...life.chain, ...change }]);
  try {
    const { otherSettlerKeys = [] } = options;
    await verifyChains({ chains, orderKey, settlerKey, otherSettlerKeys, clock, log: silentLog });
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return 'all is well';
}

test('a configuration that the chain agrees with passes', async () => {
  assert.equal(await mistakeOf(), 'all is well');
});

test('a node of another chain is refused', async () => {
  assert.match(
    await mistakeOf({ chainId: 8453 }),
    /^chain base: the node \S+ is not of chain 8453: correct rpcUrls or chainId$/,
  );
});

test('addresses without a contract, or with another one, are refused', async () => {
  const { gateway, vault } = life.chain;
  const token = life.token('usdc').address;
  assert.equal(
    await mistakeOf({ gateway: nowhere }),
    `chain base: there is no contract at the gateway's address ${nowhere}: deploy it, or correct gateway`,
  );
  assert.equal(
    await mistakeOf({ gateway: token }),
    `chain base: the contract at ${token} is no Florin gateway: correct gateway`,
  );
  assert.equal(
    await mistakeOf({ vault: nowhere }),
    `chain base: there is no contract at the vault's address ${nowhere}: deploy it, or correct vault`,
  );
  assert.equal(
    await mistakeOf({ vault: token }),
    `chain base: the contract at ${token} is no Florin vault: correct vault`,
  );
  assert.equal(
    await mistakeOf({ gateway: vault }),
    `chain base: the contract at ${vault} is no Florin gateway: correct gateway`,
  );
  assert.notEqual(gateway, vault);
});

test('a contract that answers as ours does, with other code, is refused', async () => {
  const { gateway, vault, cctp } = life.chain;
  assert.ok(cctp !== undefined);
  const foreign = async (what: string, address: Hex) => {
    const code = await life.anvil.request('eth_getCode', [address, 'latest']);
    // The same contract in every answer: only what no one has compiled is added at its end.
    await life.anvil.request('anvil_setCode', [address, `${String(code)}00`]);
    try {
      assert.equal(
        await mistakeOf(),
        `chain base: the code of the ${what} ${address} is not that of this release or an earlier one that it serves: configure what florin deploy has deployed`,
      );
    } finally {
      await life.anvil.request('anvil_setCode', [address, code]);
    }
  };
  await foreign('gateway', gateway);
  await foreign('vault', vault);
  await foreign('route', cctp.route);
});

test('a previous gateway needs code of ours as well', async () => {
  const { gateway, vault, cctp } = life.chain;
  const previous = { gateway, vault, cctpRoute: cctp?.route };
  assert.equal(await mistakeOf({ previousContracts: [previous] }), 'all is well');
  const { address } = life.token('usdc');
  assert.equal(
    await mistakeOf({ previousContracts: [previous, { ...previous, gateway: address }] }),
    `chain base: the code of the previous gateway ${address} is not that of this release or an earlier one that it serves: configure what florin deploy has deployed`,
  );
});

test('a gateway that its controller has not set up is refused, whoever had it made', async () => {
  const { gateway } = planContracts(nowhere);
  const [stranger] = life.anvil.accounts;
  const call = { from: stranger?.address, gas: '0xb71b00', ...deploymentCall(gateway) };
  await life.anvil.request('eth_sendTransaction', [call]);
  await life.anvil.mine();
  assert.equal(
    await mistakeOf({ gateway: gateway.address }),
    `chain base: the gateway ${gateway.address} has no fee recipient: its controller must set it up (florin deploy)`,
  );
});

test('keys without their roles on the contracts are refused', async () => {
  const { orderSigner, settler } = keys;
  const { gateway } = life.chain;
  assert.equal(
    await mistakeOf({}, { orderKey: settler }),
    `chain base: the gateway ${gateway} does not know the order signer ${addresses.settler}: register it there (setSigner), or configure the registered key`,
  );
  assert.equal(
    await mistakeOf({}, { settlerKey: orderSigner }),
    `chain base: the gateway ${gateway} does not know the settler ${addresses.orderSigner}: register it there (setSettler), or configure the registered key`,
  );
});

// proves W3.7
test('a token that is not what the configuration says is refused', async () => {
  const [usdc, dai] = [life.token('usdc'), life.token('dai')];
  const advice = (field: string) => `: correct its address or ${field}`;
  assert.equal(
    await mistakeOf({ tokens: [{ ...usdc, decimals: 18 }] }),
    `base::usdc: the contract at ${usdc.address} says decimals 6, the configuration says 18${advice('decimals')}`,
  );
  assert.equal(
    await mistakeOf({ tokens: [usdc, { ...dai, symbol: 'USDS' }] }),
    `base::dai: the contract at ${dai.address} says symbol DAI, the configuration says USDS${advice('symbol')}`,
  );
  assert.equal(
    await mistakeOf({ tokens: [{ ...usdc, address: nowhere }] }),
    `base::usdc: there is no contract at ${nowhere} on chain base: correct its address`,
  );
  const { gateway } = life.chain;
  assert.equal(
    await mistakeOf({ tokens: [{ ...usdc, address: gateway }] }),
    `base::usdc: the contract at ${gateway} has no decimals, the configuration says 6${advice('decimals')}`,
  );
});

// proves W3.1
test('a token that takes other signatures than the configuration says is refused', async () => {
  const usdc = life.token('usdc');
  const permits = ['eip2612', 'eip3009', 'permit2'] as const;
  assert.equal(await mistakeOf({ tokens: [{ ...usdc, permits }] }), 'all is well');
  assert.equal(
    await mistakeOf({ tokens: [{ ...usdc, permits: ['permit2'] }] }),
    `base::usdc: the contract at ${usdc.address} takes the signatures eip2612, eip3009, permit2, the configuration says permit2: correct permits, or omit it`,
  );
});

test('a chain that does not answer is unverified until it answers rightly, and refuses nothing else', async () => {
  const proxy = await startLyingRpc(life.anvil.url);
  const logged: string[] = [];
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  try {
    proxy.faults.cutOff = true;
    const { chainId } = life.chain;
    const turns: (() => void)[] = [];
    const clock: Clock = {
      ...quickClock(),
      sleep: () => new Promise((resolve) => void turns.push(resolve)),
    };
    const verification = await verifyChains({
      chains: chainsOf([{ ...life.chain, rpcUrls: [`${proxy.url}/v2/access-key`] }]),
      orderKey: keys.orderSigner,
      settlerKey: keys.settler,
      clock,
      log: {
        ...silentLog,
        error: (event, error) => void logged.push(`${event}: ${error instanceof Error ? error.message : ''}`),
      },
    });
    assert.equal(verification.problemOf(chainId), 'unreachable');
    running = verification.run(stopping.signal);
    const round = async () => {
      turns.shift()?.();
      await until(() => turns.length > 0);
      return verification.problemOf(chainId);
    };
    await until(() => turns.length > 0);
    assert.equal(await round(), 'unreachable');

    Object.assign(proxy.faults, { cutOff: false, wrongChainId: true });
    assert.equal(await round(), 'misconfigured');
    assert.equal(await round(), 'misconfigured');

    proxy.faults.wrongChainId = false;
    turns.shift()?.();
    await running;
    assert.equal(verification.problemOf(chainId), undefined);
    const node = new URL(proxy.url).host;
    assert.deepEqual(
      logged.filter((line) => line.startsWith('start.')),
      [
        `start.chain_unreachable: chain base: no node gives a valid answer (tried ${node}): correct rpcUrls or start the node`,
        `start.chain_misconfigured: chain base: the node ${node} is not of chain ${chainId}: correct rpcUrls or chainId`,
      ],
    );
  } finally {
    stopping.abort();
    await proxy.close();
  }
});

test('one node that answers is enough', async () => {
  const [url = ''] = life.chain.rpcUrls;
  assert.equal(await mistakeOf({ rpcUrls: ['http://127.0.0.1:9', url] }), 'all is well');
});

test('a chain whose blocks cannot be proven is refused, unless a quorum replaces the proof', async () => {
  const proxy = await startLyingRpc(life.anvil.url);
  try {
    proxy.lie = (_method, _params, result) =>
      typeof result === 'object' && result !== null && 'mixHash' in result
        ? { ...result, mixHash: `0x${'01'.repeat(32)}` }
        : result;
    assert.equal(
      await mistakeOf({ rpcUrls: [proxy.url] }),
      'chain base: the headers that this node reports do not match their block hashes: use a node that reports all fields, or set proofs to quorum if the chain has its own format',
    );
    assert.equal(await mistakeOf({ rpcUrls: [proxy.url], proofs: 'quorum' }), 'all is well');
  } finally {
    await proxy.close();
  }
});

test('a CCTP path that is not the gateway’s own is refused', async () => {
  const { cctp, gateway } = life.chain;
  assert.ok(cctp !== undefined);
  const changed = (change: Partial<typeof cctp>) => mistakeOf({ cctp: { ...cctp, ...change } });
  assert.equal(
    await changed({ route: gateway }),
    `chain base: the route's gateway is missing, the configuration says ${gateway}: correct gateway or cctp.route`,
  );
  assert.equal(
    await changed({ messenger: gateway }),
    `chain base: the route's messenger is ${cctp.messenger}, the configuration says ${gateway}: correct cctp.messenger`,
  );
  assert.equal(
    await changed({ domain: 7 }),
    "chain base: the transmitter's domain is 6, the configuration says 7: correct cctp.domain or cctp.transmitter",
  );
});

test('the contracts must know every wallet that settles', async () => {
  const stranger = `0x${'77'.repeat(32)}` as const;
  assert.match(
    await mistakeOf({}, { otherSettlerKeys: [stranger] }),
    /^chain base: the gateway \S+ does not know the settler \S+: register it there \(setSettler\)/,
  );
});

test('chains whose payments other vaults pay out need two agreeing providers, except in play money', async () => {
  const other = { ...life.chain, name: 'other', chainId: life.chain.chainId + 1 };
  const refusalOf = async (change: Partial<Chain>, isLocal = false): Promise<string> => {
    const chains = chainsOf([
      { ...life.chain, ...change },
      { ...other, ...change },
    ]);
    const { orderSigner: orderKey, settler: settlerKey } = keys;
    try {
      await verifyChains({ chains, orderKey, settlerKey, isLocal, clock: quickClock(), log: silentLog });
    } catch (error) {
      assert.ok(error instanceof ConfigError, String(error));
      return error.message;
    }
    return 'all is well';
  };
  const finality = { tag: 'finalized', depth: 0, quorum: 2 } as const;
  const lonely =
    /vaults on other chains would pay out on the word of one provider: give rpcUrls nodes of two providers/;
  assert.match(await refusalOf({}), lonely);
  const ofOne = ['https://one.example.com', 'https://two.example.com'];
  assert.match(await refusalOf({ rpcUrls: ofOne, finality }), lonely);
  const ofTwo = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
  assert.match(await refusalOf({ rpcUrls: ofTwo, finality: { ...finality, quorum: 1 } }), lonely);
  // Past this check, the chains are asked, and do not answer.
  assert.equal(await refusalOf({ rpcUrls: ofTwo, finality }), 'all is well');
  assert.doesNotMatch(await refusalOf({}, true), lonely);
});
