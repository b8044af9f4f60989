import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RpcUnavailable } from '@florin/evm';
import { statement } from '@florin/pg';
import type { PermitKind } from '@florin/protocol/token.ts';
import type { FastifyInstance } from 'fastify';
import { type ConditionKeeper, conditionKeeper } from '#chains/condition.ts';
import { allVerified } from '#chains/verification.ts';
import type { TokenSigningReader } from '#contracts/token-signing.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from '../../../test/harness/merchant-fixture.ts';
import { type VaultChain, vaultChain } from '../../../test/harness/vault-rpc.ts';
import { buildServer } from '../server.ts';
import { merchantDoor } from './merchant-door.ts';

const setHalted = statement({
  name: 'capabilities_test_halt',
  parameters: { chainId: 'int8', headTime: 'timestamptz', haltedReason: 'text' },
  text: `insert into chain_cursors
     (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, halted_reason, updated_at)
   values (:chainId, 100, '0x01', :headTime, 90, '0x02', :headTime::timestamptz - interval '20 seconds', :haltedReason, :headTime)
   on conflict (chain_id) do update set halted_reason = excluded.halted_reason`,
});

let world: MerchantWorld;
let node: VaultChain;
let keeper: ConditionKeeper;
let server: FastifyInstance;
let key: string;
let accountId: string;
const { signal } = new AbortController();

before(async () => {
  world = await MerchantWorld.open();
  node = vaultChain();
  const { clock, chains } = world.deps;
  const { db } = world.database;
  const outside = { verification: allVerified, rpcOf: () => node.rpc, db, clock, log: silentLog };
  keeper = conditionKeeper({ ...outside, chains: chains.all });
  server = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor({ ...world.deps, chains: { ...chains, conditions: keeper.conditions } })],
  });
  const merchantId = await world.addMerchant();
  key = await world.addKey(merchantId);
  accountId = await world.addAccount(merchantId);
  await stand('ethereum', '');
  await stand('base', '');
});
after(async () => {
  await server.close();
  await world.close();
});

/** Sets a chain's state, halted for a reason or running, and lets the keeper read it. */
async function stand(name: string, reason: string): Promise<void> {
  const chainId = world.deps.chains.byName(name)?.chainId ?? 0;
  await world.database.db.query(setHalted, { chainId, headTime: world.clock.now(), haltedReason: reason });
  await keeper.refresh(signal);
}

async function routesTo(tokenId: string): Promise<Record<string, unknown>[]> {
  const reply = await server.inject({ url: '/payment/v1/capabilities/all' });
  return reply.json().data.paymentCapabilities[tokenId];
}

function post(path: string, payload: object, headers: Record<string, string> = {}) {
  const url = `/payment/v1${path}`;
  return server.inject({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${key}`, ...headers },
    payload,
  });
}

function sessionBody(settlementToken: string) {
  const productData = { productName: 'Cup' };
  const lineItems = [{ itemType: 'one_time', quantity: 1, unitPrice: 1_000_000, productData }];
  return { accountId, settlementToken, lineItems };
}

// proves W1.14
test('routes show measured times: final after the lag, a block and a poll, and payouts one finality later', async () => {
  const shown = (await routesTo('ethereum::usdc')).map(({ tokenId, etaSeconds, status, statusReason }) => [
    tokenId,
    etaSeconds,
    status,
    statusReason,
  ]);
  // 20 seconds behind, blocks of 2 seconds, a poll each second.
  assert.deepEqual(shown, [
    ['ethereum::usdc', 46, 'available', ''],
    ['ethereum::usdt', 69, 'available', ''],
    ['base::usdc', 69, 'available', ''],
  ]);
});

test('direct payments arrive one finality earlier; other tokens do not', async () => {
  const { chains } = world.deps;
  const direct = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin: world.deps.origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [
      merchantDoor({
        ...world.deps,
        settlementMode: 'direct',
        chains: { ...chains, conditions: keeper.conditions },
      }),
    ],
  });
  const reply = await direct.inject({ url: '/payment/v1/capabilities/all' });
  await direct.close();
  const routes: { tokenId: string; etaSeconds: number }[] =
    reply.json().data.paymentCapabilities['ethereum::usdc'];
  assert.deepEqual(
    routes.map(({ tokenId, etaSeconds }) => [tokenId, etaSeconds]),
    [
      ['ethereum::usdc', 23],
      ['ethereum::usdt', 69],
      ['base::usdc', 69],
    ],
  );
});

// proves W1.3
test('a halted chain begins no session: 503 with Retry-After, until it is resumed', async () => {
  const keyed = { 'idempotency-key': 'before-the-halt' };
  const first = await post('/session/checkout/create', sessionBody('ethereum::usdc'), keyed);
  assert.equal(first.json().code, 0);
  await stand('ethereum', 'reorg below the final block 90');
  assert.deepEqual(
    (await routesTo('base::usdc')).map(({ tokenId, status, statusReason }) => [
      tokenId,
      status,
      statusReason,
    ]),
    [
      ['base::usdc', 'available', ''],
      ['ethereum::usdc', 'unavailable', 'chain_halted'],
      ['ethereum::usdt', 'unavailable', 'chain_halted'],
    ],
  );
  const refused = await post('/session/checkout/create', sessionBody('ethereum::usdc'));
  const { code, message, data, error } = refused.json();
  assert.deepEqual(
    [refused.statusCode, refused.headers['retry-after'], code, message, data, error.retryable],
    [
      503,
      '5',
      900401,
      'Chain temporarily unavailable: ethereum::usdc to ethereum::usdc: chain_halted',
      null,
      true,
    ],
  );
  // A repeat of an earlier request is still answered, and sessions that settle elsewhere still work.
  const again = await post('/session/checkout/create', sessionBody('ethereum::usdc'), keyed);
  assert.deepEqual([again.body, again.headers['idempotent-replayed']], [first.body, 'true']);
  assert.equal((await post('/session/checkout/create', sessionBody('base::usdc'))).json().code, 0);
  await stand('ethereum', '');
  assert.equal((await post('/session/checkout/create', sessionBody('ethereum::usdc'))).json().code, 0);
});

/** A door whose chains tell how their tokens are paid. Base gives no answer until `isTelling`. */
async function askingDoor() {
  const { chains, origin } = world.deps;
  const permits: Readonly<Record<string, readonly PermitKind[]>> = {
    'ethereum::usdc': ['eip2612', 'eip3009', 'permit2'],
    'ethereum::usdt': ['permit2'],
    'base::usdc': [],
  };
  const base = { isTelling: false, asked: 0 };
  const signingOf: TokenSigningReader = async ({ tokenId }) => {
    if (tokenId === 'base::usdc') {
      base.asked += 1;
      if (!base.isTelling) throw new RpcUnavailable('no answer');
    }
    return { permits: new Set(permits[tokenId]) };
  };
  const door = await buildServer({
    log: silentLog,
    random: systemRandom,
    origin,
    ready: async () => ({ ready: true, checks: {} }),
    doors: [merchantDoor({ ...world.deps, chains: { ...chains, conditions: keeper.conditions }, signingOf })],
  });
  const methods = async (): Promise<unknown> => {
    const reply = await door.inject({ url: '/payment/v1/capabilities/all' });
    const routes: { tokenId: string; methods: string[] }[] =
      reply.json().data.paymentCapabilities['ethereum::usdc'];
    return Object.fromEntries(routes.map((route) => [route.tokenId, route.methods.join(' ')]));
  };
  return { door, base, methods };
}

const methodsOnEthereum = {
  'ethereum::usdc': 'transaction eip5792 eip3009 permit2 deposit x402',
  'ethereum::usdt': 'transaction eip5792 permit2 deposit',
};

const whileHalted = { 'ethereum::usdc': 'transaction eip5792', 'ethereum::usdt': 'transaction eip5792' };

test('each token shows the ways to pay with it; a chain that gives no answer is asked again after five seconds', async () => {
  const { door, base, methods } = await askingDoor();
  const unknown = { ...methodsOnEthereum, 'base::usdc': 'transaction eip5792' };
  const known = { ...methodsOnEthereum, 'base::usdc': 'transaction eip5792 deposit' };
  assert.deepEqual([await methods(), await methods(), base.asked], [unknown, unknown, 1]);

  base.isTelling = true;
  world.clock.time += 4_999;
  assert.deepEqual([await methods(), base.asked], [unknown, 1]);
  world.clock.time += 1;
  assert.deepEqual([await methods(), base.asked], [known, 2]);

  // Whole: kept until a chain's state changes.
  world.clock.time += 3_600_000;
  assert.deepEqual([await methods(), base.asked], [known, 2]);
  await stand('ethereum', 'reorg below the final block 90');
  assert.deepEqual([await methods(), base.asked], [{ ...known, ...whileHalted }, 3]);
  await stand('ethereum', '');
  await door.close();
});

test('concurrent requests share one question to a chain', async () => {
  const { door, base, methods } = await askingDoor();
  await Promise.all([methods(), methods(), methods()]);
  assert.equal(base.asked, 1);
  await door.close();
});

// proves W1.16
test('a vault’s cap for one order bounds its routes, and a route that it cannot pay is not offered', async () => {
  const usdc = world.deps.chains.token('ethereum::usdc')?.address ?? '0x';
  node.caps.set(usdc, { perOrder: 2_500_000n, hourly: 10n ** 20n, daily: 10n ** 20n });
  world.clock.time += 60_000;
  await keeper.refresh(signal);
  const maxima = async (tokenId: string) =>
    (await routesTo(tokenId)).map(({ tokenId: paid, maxPaymentValue }) => [paid, maxPaymentValue]);
  assert.deepEqual(await maxima('ethereum::usdc'), [
    ['ethereum::usdc', 10_000_000_000_000],
    ['ethereum::usdt', 2_500_000],
    ['base::usdc', 2_500_000],
  ]);
  node.caps.set(usdc, { perOrder: 0n, hourly: 0n, daily: 0n });
  world.clock.time += 60_000;
  await keeper.refresh(signal);
  assert.deepEqual(await maxima('ethereum::usdc'), [['ethereum::usdc', 10_000_000_000_000]]);
});
