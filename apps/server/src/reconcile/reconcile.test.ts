import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { toHex } from 'viem';
import { type Rpc, type RpcCall, RpcUnavailable, resultOf } from '#chains/rpc/rpc.ts';
import { findCursor, lockChain } from '#chains/watcher/cursor.ts';
import { moveBackfill } from '#chains/watcher/watcher.sql.ts';
import { silentLog } from '#telemetry/log.ts';
import { untilLockWaiter } from '../../test/harness/lock-waiter.ts';
import { SettlementWorld } from '../../test/harness/settlement-fixture.ts';
import { acceptDifferences, reconcileChain } from './reconcile.ts';

const freeLook = statement(
  'reconcile_test_free',
  ['int8'],
  { chain_id: 'int8' },
  'select chain_id from chain_reconciliations where chain_id = $1 for update skip locked',
);
const openingEntries = statement(
  'reconcile_test_openings',
  [],
  { entry_key: 'text' },
  "select entry_key from ledger_entries where kind = 'opening' order by entry_id",
);

let world: SettlementWorld;
before(async () => {
  world = await SettlementWorld.open();
});
after(() => world.close());

/** What every balance is on the chain. */
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

async function look(rpc = node) {
  world.clock.time += 60_000;
  const { clock, database, chains } = world;
  const deps = { chains: chains.all, rpcOf: () => rpc, db: database.db, clock, log: silentLog };
  return reconcileChain(deps, world.chain('ethereum'), rpc);
}

/** Where the watcher was told to begin again, and that it has done so. */
async function takeBackfill(): Promise<bigint | undefined> {
  const { chainId } = world.chain('ethereum');
  const cursor = await findCursor(world.database.db, chainId);
  const from = cursor?.backfillNext;
  if (cursor !== undefined && from !== undefined) {
    const values = [chainId, cursor.finalNumber + 1n, world.clock.now(), from, null];
    await world.database.db.query(moveBackfill, values);
  }
  return from;
}

test('a difference has the blocks since the last agreement read again: at its first look, its second, fourth and eighth', async () => {
  await world.mineFinal('ethereum');
  assert.equal(await look(), 'agreed');
  await world.mineFinal('ethereum');
  assert.equal(await look(), 'agreed');
  assert.equal(await takeBackfill(), undefined);
  await world.mineFinal('ethereum');
  await world.mineFinal('ethereum');
  held = 100n;
  const asked: (bigint | undefined)[] = [];
  for (let count = 1; count <= 8; count += 1) {
    assert.equal(await look(), 'drifted');
    asked.push(await takeBackfill());
  }
  const none = undefined;
  assert.deepEqual(asked, [3n, 3n, none, 3n, none, none, none, 3n]);
  held = 0n;
  assert.equal(await look(), 'agreed');
  await world.mineFinal('ethereum');
  held = 100n;
  assert.equal(await look(), 'drifted');
  assert.equal(await takeBackfill(), 5n, 'from the new agreement on');
});

test('a look that was overtaken while its process slept says nothing', async () => {
  held = 100n;
  await look();
  await acceptDifferences(world.database.db, world.chain('ethereum').chainId);
  assert.equal(await look(), 'agreed', 'the books have begun anew');
  await world.mineFinal('ethereum');
  // It has read books and chain; before it compares them, others look, and the chain moves.
  const sleeper: Rpc = {
    ...node,
    batch: async (calls) => {
      const before = calls.map(answer);
      await world.mineFinal('ethereum');
      held = 200n;
      await look();
      await acceptDifferences(world.database.db, world.chain('ethereum').chainId);
      assert.equal(await look(), 'agreed');
      return before;
    },
  };
  assert.equal(await look(sleeper), 'not_due');
  assert.equal(await look(), 'agreed', 'the difference of its old books was not counted');
});

test('a look that fails after it was overtaken does not bring the next one forward', async () => {
  const failing: Rpc = {
    ...node,
    batch: async () => {
      await look();
      throw new RpcUnavailable('asleep for too long');
    },
  };
  assert.equal(await look(failing), 'unreadable');
  world.clock.time -= 54_000;
  assert.equal(await look(), 'not_due', 'six seconds after the last look');
});

test('a look locks the chain before its own row, as a release does', async () => {
  const { db } = world.database;
  const { chainId } = world.chain('ethereum');
  let looking: Promise<unknown> = Promise.resolve();
  await db.transaction(async (transaction) => {
    await lockChain(transaction, chainId);
    looking = look();
    await untilLockWaiter(db);
    assert.equal((await transaction.query(freeLook, [chainId])).length, 1);
  });
  assert.equal(await looking, 'agreed');
});

test('a chain that nobody follows yet is not looked at', async () => {
  const [chain] = world.chains.all;
  assert.ok(chain !== undefined);
  const unknown = { ...chain, chainId: 99_999 };
  const { clock, database } = world;
  const deps = { chains: [unknown], rpcOf: () => node, db: database.db, clock, log: silentLog };
  assert.equal(await reconcileChain(deps, unknown, node), 'not_due');
});

test('books are not opened while final events are missing, unless a person says so', async () => {
  held = 0n;
  const other = await SettlementWorld.open();
  const lookAgain = async () => {
    other.clock.time += 60_000;
    const { clock, database, chains } = other;
    const deps = { chains: chains.all, rpcOf: () => node, db: database.db, clock, log: silentLog };
    return reconcileChain(deps, other.chain('ethereum'), node);
  };
  try {
    const sessionId = await other.openSession('ethereum::usdc');
    const order = await other.signOrder(sessionId, 'ethereum::usdc');
    await other.mineFinal('ethereum', ['Paid', order]);
    await other.dropFinal('ethereum', 1n);
    const openings = async () =>
      (await other.database.db.query(openingEntries, [])).map(({ entry_key: key }) => key.split(':')[2]);
    assert.deepEqual([await lookAgain(), await openings()], ['drifted', []]);
    assert.deepEqual([await lookAgain(), await openings()], ['drifted', []]);
    await acceptDifferences(other.database.db, other.chain('ethereum').chainId);
    assert.deepEqual([await lookAgain(), await openings()], ['agreed', ['gateway']]);
  } finally {
    await other.close();
  }
});
