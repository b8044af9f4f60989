import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findCursor, lockChain, type Rpc, type RpcCall, RpcUnavailable, resultOf } from '@florin/evm';
import { moveBackfill } from '@florin/evm/testing';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, keccak256, toHex, zeroHash } from 'viem';
import { chainsOf } from '#chains/chain.ts';
import { ledgerBalances } from '#ledger/entry.ts';
import { silentLog } from '#telemetry/log.ts';
import { untilLockWaiter } from '../../test/harness/lock-waiter.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { readForeignUse } from './foreign-use.ts';
import { acceptDifferences, reconcileChain } from './reconcile.ts';

const freeLook = statement({
  name: 'reconcile_test_free',
  parameters: { chainId: 'int8' },
  columns: { chain_id: 'int8' },
  text: 'select chain_id from chain_reconciliations where chain_id = :chainId for update skip locked',
});
const freeBalances = statement({
  name: 'reconcile_test_free_balances',
  parameters: { chainId: 'int8' },
  columns: { holder: 'text' },
  text: 'select holder from reconciled_balances where chain_id = :chainId for update skip locked',
});
const openingEntries = statement({
  name: 'reconcile_test_openings',
  columns: { entry_key: 'text' },
  text: "select entry_key from ledger_entries where kind = 'opening' order by entry_id",
});

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

/** The on-chain value of every balance. */
let held = 0n;
const answer = ({ method }: RpcCall) => {
  assert.equal(method, 'eth_call');
  const result: Hex = toHex(held, { size: 32 });
  return { result };
};
const node: Rpc = {
  request: async (method, params) => resultOf(answer({ method, params })),
  batch: async (calls) => calls.map(answer),
};

async function check(rpc = node) {
  world.clock.time += 60_000;
  const { clock, database, chains } = world;
  const deps = {
    chains: chains.all,
    rpcOf: () => rpc,
    db: database.db,
    clock,
    log: silentLog,
    intervalMs: 60_000,
  };
  return reconcileChain(deps, world.chain('ethereum'), rpc);
}

/** The block from which the watcher was told to start again; marks it as done. */
async function takeBackfill(own = world): Promise<bigint | undefined> {
  const { clock, database } = own;
  const { chainId } = own.chain('ethereum');
  const cursor = await findCursor(database.db, chainId);
  const from = cursor?.backfillNext;
  if (cursor !== undefined && from !== undefined) {
    await database.db.query(moveBackfill, {
      chainId,
      next: cursor.finalNumber + 1n,
      updatedAt: clock.now(),
      expectedNext: from,
      term: null,
    });
  }
  return from;
}

test('a difference rereads the blocks since the last agreement at its first, second, fourth and eighth check', async () => {
  await world.mineFinal('ethereum');
  assert.equal(await check(), 'agreed');
  await world.mineFinal('ethereum');
  assert.equal(await check(), 'agreed');
  assert.equal(await takeBackfill(), undefined);
  await world.mineFinal('ethereum');
  await world.mineFinal('ethereum');
  held = 100n;
  const asked: (bigint | undefined)[] = [];
  for (let count = 1; count <= 8; count += 1) {
    assert.equal(await check(), 'drifted');
    asked.push(await takeBackfill());
  }
  const none = undefined;
  assert.deepEqual(asked, [3n, 3n, none, 3n, none, none, none, 3n]);
  held = 0n;
  assert.equal(await check(), 'agreed');
  await world.mineFinal('ethereum');
  held = 100n;
  assert.equal(await check(), 'drifted');
  assert.equal(await takeBackfill(), 5n, 'from the new agreement on');
});

test('a check that was overtaken while its process slept records nothing', async () => {
  held = 100n;
  await check();
  await acceptDifferences(world.database.db, world.chain('ethereum').chainId);
  assert.equal(await check(), 'agreed', 'the books have begun anew');
  await world.mineFinal('ethereum');
  // It has read books and chain. Before it compares them, other processes check and the chain advances.
  const sleeper: Rpc = {
    ...node,
    batch: async (calls) => {
      const before = calls.map(answer);
      await world.mineFinal('ethereum');
      held = 200n;
      await check();
      await acceptDifferences(world.database.db, world.chain('ethereum').chainId);
      assert.equal(await check(), 'agreed');
      return before;
    },
  };
  assert.equal(await check(sleeper), 'not_due');
  assert.equal(await check(), 'agreed', 'the difference of its old books was not counted');
});

test('a check that fails after it was overtaken does not bring the next one forward', async () => {
  const failing: Rpc = {
    ...node,
    batch: async () => {
      await check();
      throw new RpcUnavailable('asleep for too long');
    },
  };
  assert.equal(await check(failing), 'unreadable');
  world.clock.time -= 54_000;
  assert.equal(await check(), 'not_due', 'six seconds after the last check');
});

test('a check locks the chain before its own row, as a release does', async () => {
  const { db } = world.database;
  const { chainId } = world.chain('ethereum');
  let checking: Promise<unknown> = Promise.resolve();
  await db.transaction(async (transaction) => {
    await lockChain(transaction, chainId);
    checking = check();
    await untilLockWaiter(db);
    assert.equal((await transaction.query(freeLook, { chainId })).length, 1);
  });
  assert.equal(await checking, 'agreed');
});

test('accepting differences locks the row of the check before its balances, as a check does', async () => {
  const { db } = world.database;
  const { chainId } = world.chain('ethereum');
  let accepting: Promise<unknown> = Promise.resolve();
  await db.transaction(async (transaction) => {
    assert.equal((await transaction.query(freeLook, { chainId })).length, 1);
    accepting = acceptDifferences(db, chainId);
    await untilLockWaiter(db);
    assert.ok((await transaction.query(freeBalances, { chainId })).length > 0);
  });
  await accepting;
  assert.equal(await check(), 'agreed');
});

test('a chain without a watcher is not checked', async () => {
  const [chain] = world.chains.all;
  assert.ok(chain !== undefined);
  const unknown = { ...chain, chainId: 99_999 };
  const { clock, database } = world;
  const deps = {
    chains: [unknown],
    rpcOf: () => node,
    db: database.db,
    clock,
    log: silentLog,
    intervalMs: 60_000,
  };
  assert.equal(await reconcileChain(deps, unknown, node), 'not_due');
});

test('books are not opened while final events are missing, unless an operator accepts the differences', async () => {
  held = 0n;
  const other = await SettlementWorld.open();
  const lookAgain = async () => {
    other.clock.time += 60_000;
    const { clock, database, chains } = other;
    const deps = {
      chains: chains.all,
      rpcOf: () => node,
      db: database.db,
      clock,
      log: silentLog,
      intervalMs: 60_000,
    };
    return reconcileChain(deps, other.chain('ethereum'), node);
  };
  try {
    const sessionId = await other.openSession('ethereum::usdc');
    const order = await other.signOrder(sessionId, 'ethereum::usdc');
    await other.mineFinal('ethereum', ['Paid', order]);
    await other.dropFinal('ethereum', 1n);
    const openings = async () =>
      (await other.database.db.query(openingEntries)).map(({ entry_key: key }) => key.split(':')[2]);
    assert.deepEqual([await lookAgain(), await openings()], ['drifted', []]);
    assert.deepEqual([await lookAgain(), await openings()], ['drifted', []]);
    await acceptDifferences(other.database.db, other.chain('ethereum').chainId);
    assert.deepEqual([await lookAgain(), await openings()], ['agreed', ['gateway']]);
  } finally {
    await other.close();
  }
});

test('new books open when two checks find the same differences and all blocks were read again in between', async () => {
  const other = await SettlementWorld.open();
  const openings = async () =>
    (await other.database.db.query(openingEntries)).map(({ entry_key: key }) => key.split(':')[2]);
  const lookAfter = async (ms: number) => {
    other.clock.time += ms;
    const { clock, database, chains } = other;
    const deps = { chains: chains.all, rpcOf: () => node, db: database.db, clock, log: silentLog };
    return reconcileChain({ ...deps, intervalMs: 60_000 }, other.chain('ethereum'), node);
  };
  try {
    await other.mineFinal('ethereum');
    held = 3n;
    assert.equal(await lookAfter(60_000), 'drifted');
    assert.equal(await lookAfter(4_000), 'not_due');
    assert.equal(await lookAfter(1_000), 'drifted', 'blocks are being read');
    assert.equal(await takeBackfill(other), 0n);
    await other.mineFinal('ethereum');
    held = 5n;
    assert.equal(await lookAfter(5_000), 'drifted', 'another difference');
    assert.equal(await takeBackfill(other), 0n);
    assert.deepEqual(await openings(), []);
    assert.equal(await lookAfter(5_000), 'agreed');
    assert.equal(await takeBackfill(other), undefined);
    assert.deepEqual([...new Set(await openings())], ['gateway', 'vault', 'fees']);
  } finally {
    await other.close();
  }
});

test('new books open without an entry when the second reading found what was missing', async () => {
  const other = await SettlementWorld.open();
  const lookAgain = async () => {
    other.clock.time += 60_000;
    const { clock, database, chains } = other;
    const deps = { chains: chains.all, rpcOf: () => node, db: database.db, clock, log: silentLog };
    return reconcileChain({ ...deps, intervalMs: 60_000 }, other.chain('ethereum'), node);
  };
  try {
    await other.mineFinal('ethereum');
    held = 3n;
    assert.equal(await lookAgain(), 'drifted');
    assert.equal(await takeBackfill(other), 0n);
    held = 0n;
    assert.equal(await lookAgain(), 'agreed');
    assert.deepEqual(await other.database.db.query(openingEntries), []);
  } finally {
    await other.close();
  }
});

test('after a reorg below the last agreement, a difference rereads all blocks above it', async () => {
  held = 0n;
  const other = await SettlementWorld.open();
  const lookAgain = async () => {
    other.clock.time += 60_000;
    const { clock, database, chains } = other;
    const deps = { chains: chains.all, rpcOf: () => node, db: database.db, clock, log: silentLog };
    return reconcileChain({ ...deps, intervalMs: 60_000 }, other.chain('ethereum'), node);
  };
  try {
    for (let block = 1; block <= 5; block += 1) await other.mineFinal('ethereum');
    assert.equal(await lookAgain(), 'agreed');
    await other.dropFinal('ethereum', 3n);
    for (let block = 3; block <= 6; block += 1) await other.mineFinal('ethereum');
    held = 3n;
    assert.equal(await lookAgain(), 'drifted');
    assert.equal(await takeBackfill(other), 3n);
  } finally {
    await other.close();
  }
});

test('what becomes final while its token is not configured is in the books once it is configured again', async () => {
  const other = await SettlementWorld.open();
  const ethereum = other.chain('ethereum');
  const [token] = ethereum.tokens;
  assert.ok(token !== undefined);
  let atGateway = 0n;
  const answerOf = ({ params: [call] }: RpcCall) => {
    const { to, data } = call as { readonly to: Hex; readonly data: string };
    const isGateway = to === token.address && data.endsWith(ethereum.gateway.slice(2).toLowerCase());
    return { result: toHex(isGateway ? atGateway : 0n, { size: 32 }) };
  };
  const exact: Rpc = {
    request: async (method, params) => resultOf(answerOf({ method, params })),
    batch: async (calls) => calls.map(answerOf),
  };
  const bare = other.with({ chains: chainsOf(other.chains.all.map((chain) => ({ ...chain, tokens: [] }))) });
  const look = async ({ chains }: SettlementWorld) => {
    other.clock.time += 60_000;
    const { clock, database } = other;
    const deps = { chains: chains.all, rpcOf: () => exact, db: database.db, clock };
    const chain = chains.byName('ethereum') ?? ethereum;
    return reconcileChain({ ...deps, log: silentLog, intervalMs: 60_000 }, chain, exact);
  };
  try {
    const order = await other.signOrder(await other.openSession('ethereum::usdc'), 'ethereum::usdc');
    const stray = { ...order, orderId: zeroHash };
    const values = { token: token.address, amount: '3' };
    assert.equal(await look(other), 'agreed');
    await other.mine('ethereum', ['Transferred', stray, values]);
    await bare.makeFinal('ethereum');
    atGateway = 3n;
    assert.equal(await look(bare), 'agreed', 'nothing is compared');
    assert.equal(await look(other), 'agreed');
    await bare.mineFinal('ethereum', ['FeesWithdrawn', stray, { token: token.address, value: '2' }]);
    const names = (await ledgerBalances(other.database.db)).map(({ asset }) => asset);
    assert.deepEqual([...new Set(names)], [token.tokenId]);
  } finally {
    await other.close();
  }
});

test('a payment and a payout by signatures that the database does not know are counted for the operator', async () => {
  const ethereum = world.chain('ethereum');
  const [token] = ethereum.tokens;
  assert.ok(token !== undefined);
  const asked = {
    chains: world.chains,
    clock: world.clock,
    rpcOf: () => assert.fail('no wallet is asked for'),
    wallets: [],
  };
  const unknown = async () => {
    const readings = await readForeignUse(world.database.db, asked);
    return readings.find(({ labels }) => labels['chain'] === 'ethereum')?.value ?? Number.NaN;
  };
  const before = await unknown();
  const known = await world.signOrder(await world.openSession('ethereum::usdc'), 'ethereum::usdc');
  const values = { token: getAddress(token.address), value: '3', amount: '3' };
  await world.mineFinal('ethereum', ['PaidOut', known, values]);
  assert.equal((await unknown()) - before, 0);
  const stolen = (name: string) => ({ ...known, orderId: keccak256(toHex(name)) });
  await world.mineFinal('ethereum', ['PaidOut', stolen('stolen payout'), values]);
  await world.mineFinal('ethereum', ['Paid', stolen('stolen order'), values]);
  assert.equal((await unknown()) - before, 2);
});
