import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from '@florin/protocol/order.ts';
import { systemClock } from '#outside/clock.ts';
import { type TestDatabase, testDatabase } from '../../../test/harness/database.ts';
import type { Lie } from '../../../test/harness/lying-rpc.ts';
import { type WatchedChain, watchedChain } from '../../../test/harness/watched-chain.ts';
import { getBlock } from '../rpc/actions.ts';
import type { HeadHint } from '../rpc/new-heads.ts';
import { RpcAnswerInvalid, RpcError } from '../rpc/rpc.ts';
import { haltChain } from './chain-move.ts';
import { resumeChain } from './cursor.ts';
import { watchRound } from './watcher.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

const fullBloom: Hex = `0x${'f'.repeat(512)}`;
const emptyBloom: Hex = `0x${'0'.repeat(512)}`;

async function mineWith(world: WatchedChain, number: number): Promise<void> {
  await world.emit(number);
  await world.anvil.mine();
}

/** A watcher that has followed the chain so far, and hears hints from the test. */
async function listening(world: WatchedChain) {
  const hints: HeadHint[] = [];
  const state = world.watcher({ hint: () => hints.shift() });
  await mineWith(world, 0);
  await world.catchUp(state);
  return { state, say: (hint: HeadHint) => hints.push(hint) };
}

async function announcedHash(world: WatchedChain, state: Awaited<ReturnType<typeof listening>>['state']) {
  const block = await getBlock(state.rpc, 'latest');
  if (block === undefined) throw new Error('no block');
  world.proxies[0]?.seen.clear();
  return { hash: block.hash, logsBloom: block.logsBloom };
}

test('an announced block is read with its receipts in one exchange, and its cursor is not looked up', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  let looks = 0;
  const { db } = state;
  const counted = Object.assign(state, {
    db: {
      ...db,
      query: (...asked: Parameters<typeof db.query>) => {
        if (asked[0].name === 'watcher_cursor') looks += 1;
        return db.query(...asked);
      },
    },
  });
  for (const number of [1, 2]) {
    await mineWith(world, number);
    const hint = await announcedHash(world, state);
    say(hint);
    await watchRound(counted);
    assert.deepEqual(world.story.at(-1), `block ${(await world.cursor()).headNumber}: ${number}`);
    const seen = Object.fromEntries(world.proxies[0]?.seen ?? []);
    assert.deepEqual(seen, { eth_getBlockByNumber: 2, eth_getBlockReceipts: 1 });
  }
  assert.equal(looks, 0);
});

const withoutLogs: Lie = (method, _params, result) =>
  method === 'eth_getBlockReceipts'
    ? (result as { logs: unknown[] }[]).map((receipt) => ({ ...receipt, logs: [] }))
    : result;

test('an announced block is read over the WebSocket of its node, and one that lies there is asked no more', async (t) => {
  const world = await watchedChain(database, { hasSockets: true });
  t.after(() => world.close());
  const { state, say } = await listening(world);
  const [proxy] = world.proxies;
  if (proxy === undefined) throw new Error('no proxy');
  const onSockets = () => proxy.seenOnSockets.get('eth_getBlockReceipts') ?? 0;
  let number = 1;
  const roundOnSocket = async () => {
    for (const before = onSockets(); onSockets() === before; number += 1) {
      await mineWith(world, number);
      say(await announcedHash(world, state));
      await watchRound(state);
      await systemClock.sleep(20);
    }
  };
  await roundOnSocket();
  const { headNumber } = await world.cursor();
  assert.deepEqual(world.story.at(-1), `block ${headNumber}: ${number - 1}`);
  await mineWith(world, number);
  say(await announcedHash(world, state));
  proxy.socketLie = withoutLogs;
  const told = [...world.story];
  await assert.rejects(watchRound(state), RpcAnswerInvalid);
  assert.deepEqual(world.story, told);
  state.rpc.demote?.('receipts that do not come to the root in their block');
  // It lies still, and its node is the only one.
  const asked = onSockets();
  say(await announcedHash(world, state));
  await watchRound(state);
  assert.deepEqual([world.story.at(-1), onSockets()], [`block ${headNumber + 1n}: ${number}`, asked]);
});

test('a hint that lies hides nothing and adds nothing', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  const lies: ((truth: HeadHint) => HeadHint)[] = [
    ({ hash }) => ({ hash, logsBloom: emptyBloom }),
    ({ logsBloom }) => ({ hash: `0x${'ab'.repeat(32)}`, logsBloom }),
    () => ({ hash: `0x${'ab'.repeat(32)}`, logsBloom: fullBloom }),
  ];
  for (const [index, lie] of lies.entries()) {
    const number = index + 1;
    await mineWith(world, number);
    say(lie(await announcedHash(world, state)));
    await watchRound(state);
    assert.equal(world.story.at(-1), `block ${(await world.cursor()).headNumber}: ${number}`);
  }
  // A block without events of ours, of which a hint says that it is full of them.
  await world.anvil.mine();
  say({ ...(await announcedHash(world, state)), logsBloom: fullBloom });
  await watchRound(state);
  const blocks = world.story.filter((line) => line.startsWith('block'));
  assert.deepEqual(blocks, ['block 1: 0', 'block 2: 1', 'block 3: 2', 'block 4: 3']);
  assert.equal((await world.cursor()).headNumber, 5n);
});

test('hints that only cost are not followed any more for a minute', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  let now = 0;
  Object.assign(state, { clock: { ...systemClock, monotonicMs: () => now } });
  const hashes = [`0x${'ab'.repeat(32)}`, (await world.cursor()).headHash] as const;
  const receiptsAsked = async (count: number) => {
    world.proxies[0]?.seen.clear();
    for (let round = 0; round < count; round += 1) {
      // Of a block that is not the head, and of a head that we have.
      say({ hash: hashes[round % 2 === 0 ? 0 : 1] as Hex, logsBloom: fullBloom });
      assert.equal(await watchRound(state), 'idle');
    }
    return world.proxies[0]?.seen.get('eth_getBlockReceipts') ?? 0;
  };
  assert.equal(await receiptsAsked(9), 9);
  // One that is of use has all before it forgotten.
  await mineWith(world, 1);
  say(await announcedHash(world, state));
  await watchRound(state);
  assert.equal(await receiptsAsked(20), 10);
  now += 60_000;
  assert.equal(await receiptsAsked(1), 1);
  assert.deepEqual(world.story, ['block 1: 0', 'block 2: 1']);
});

test('receipts that were asked for along with a head are proven like all others', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  await mineWith(world, 1);
  const hint = await announcedHash(world, state);
  const [proxy] = world.proxies;
  if (proxy === undefined) throw new Error('no proxy');
  const told = [...world.story];
  const empty: Lie = (method, _params, result) => (method === 'eth_getBlockReceipts' ? [] : result);
  for (const lie of [empty, withoutLogs]) {
    proxy.lie = lie;
    say(hint);
    await assert.rejects(watchRound(state), /receipts that do not come to the root/);
    assert.deepEqual(world.story, told);
  }
  proxy.lie = undefined;
  await watchRound(state);
  assert.equal(world.story.at(-1), `block ${(await world.cursor()).headNumber}: 1`);
});

test('a chain that somebody else has moved, halted or let go on meanwhile is not moved from where it was', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  const roundAfter = async (number: number, meanwhile: () => Promise<unknown>) => {
    // So that the watcher knows where it has left the chain.
    await mineWith(world, number);
    say(await announcedHash(world, state));
    await watchRound(state);
    await meanwhile();
    await mineWith(world, number + 1);
    const told = [...world.story];
    say(await announcedHash(world, state));
    assert.equal(await watchRound(state), 'behind');
    assert.equal(state.isContested, true);
    assert.deepEqual(world.story, told);
  };
  await roundAfter(1, async () => {
    await world.anvil.mine();
    await world.catchUp(world.watcher());
  });
  await world.catchUp(state);
  const halt = async () => haltChain(state, await world.cursor(), 'by a test');
  await roundAfter(3, halt);
  assert.equal(await world.catchUp(state), 'halted');
  await resumeChain(database.db, systemClock, world.chain.chainId);
  await world.catchUp(state);
  await roundAfter(5, async () => {
    await halt();
    await resumeChain(database.db, systemClock, world.chain.chainId);
  });
  await world.catchUp(state);
  assert.deepEqual(
    world.story.filter((line) => line.startsWith('block')).map((line) => line.split(': ')[1]),
    ['0', '1', '2', '3', '4', '5', '6'],
  );
});

test('what a watcher remembers from before it slept does not halt a chain that was resynced meanwhile', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  await world.anvil.mine(8);
  await world.catchUp(state);
  await world.anvil.mine();
  say(await announcedHash(world, state));
  await watchRound(state);
  assert.equal((await world.cursor()).finalNumber, 6n);
  // It sleeps, and another one leads while the chain forks below its final block.
  await world.anvil.request('anvil_reorg', [10, []]);
  const other = world.watcher();
  assert.equal(await world.catchUp(other), 'halted');
  await resumeChain(database.db, systemClock, world.chain.chainId);
  assert.equal(await world.catchUp(other), 'idle');
  await world.anvil.mine();
  say(await announcedHash(world, state));
  assert.equal(await watchRound(state), 'behind');
  assert.deepEqual([(await world.cursor()).haltedReason, state.isContested], ['', true]);
  assert.equal(await world.catchUp(state), 'idle');
});

test('a gateway that refuses receipts beside a head is asked for heads alone', async (t) => {
  const world = await watchedChain(database);
  t.after(() => world.close());
  const { state, say } = await listening(world);
  const { batch } = state.rpc;
  const refusing = Object.assign(state, {
    rpc: {
      ...state.rpc,
      batch: async (...[calls, options]: Parameters<typeof batch>) => {
        const isMixed = new Set(calls.map(({ method }) => method)).size > 1;
        if (isMixed) return calls.map(() => ({ error: new RpcError(-32600, 'not in one batch') }));
        return batch(calls, options);
      },
    },
  });
  await mineWith(world, 1);
  say(await announcedHash(world, state));
  await assert.rejects(watchRound(refusing), /not in one batch/);
  for (const number of [2, 3]) {
    await mineWith(world, number);
    say(await announcedHash(world, state));
    await world.catchUp(refusing);
  }
  assert.equal((await world.cursor()).headNumber, 4n);
});
