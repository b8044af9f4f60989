import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { NodeFinding } from '@florin/evm';
import { statement } from '@florin/pg';
import { fixtureChains } from '../../test/harness/agent-fixture.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import { addOrder, addSession, happen } from '../../test/harness/payment-fixture.ts';
import { readNodeLag, readWork } from './work-gauges.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

const leadBase = statement({
  name: 'work_gauges_test_lead',
  parameters: { leader: 'text' },
  text: `insert into chain_cursors (chain_id, head_number, head_hash, head_time, final_number, final_hash, final_time, updated_at, leader_id)
   values (31338, 9, '0x', now(), 1, '0x', now(), now(), :leader), (31337, 9, '0x', now(), 1, '0x', now(), now(), '')`,
});

test('open sessions, entries without a seal and the chains that this process reads are counted', async () => {
  const { db } = world.database;
  const merchantId = await world.addMerchant();
  const shop = { key: await world.addKey(merchantId), accountId: await world.addAccount(merchantId) };
  const nothing = [
    { gauge: 'florin_sessions_open', labels: {}, value: 0 },
    { gauge: 'florin_ledger_unsealed', labels: {}, value: 0 },
  ];
  assert.deepEqual(await readWork(db, fixtureChains, undefined), nothing);
  await db.query(leadBase, { leader: 'this process' });
  await addSession(world, shop);
  await happen(world, await addOrder(world, await addSession(world, shop)), 'Paid');
  const waiting = [
    { gauge: 'florin_sessions_open', labels: {}, value: 1 },
    { gauge: 'florin_ledger_unsealed', labels: {}, value: 1 },
  ];
  const led = (base: number) => [
    { gauge: 'florin_watcher_leads', labels: { chain: 'ethereum' }, value: 0 },
    { gauge: 'florin_watcher_leads', labels: { chain: 'base' }, value: base },
  ];
  assert.deepEqual(await readWork(db, fixtureChains, 'this process'), [...led(1), ...waiting]);
  assert.deepEqual(await readWork(db, fixtureChains, 'another'), [...led(0), ...waiting]);
  assert.deepEqual(await readWork(db, fixtureChains, undefined), waiting);
});

test('the lag of a node is its distance from the newest block of its chain; a node without an answer has none', async () => {
  const down = { result: undefined, problem: 'no head' };
  const found: Readonly<Record<number, readonly NodeFinding[]>> = {
    31337: [
      { node: 'first', result: '0x64', problem: '' },
      { node: 'second', result: '0x61', problem: '' },
      { node: 'broken', ...down },
    ],
    31338: [{ node: 'alone', result: '0x7', problem: '' }],
  };
  const rpcOf = (chainId: number) => ({ inspect: async () => found[chainId] ?? [] });
  const lag = (chain: string, node: string, value: number) => ({
    ...{ gauge: 'florin_node_lag_blocks', labels: { chain, node }, value },
  });
  assert.deepEqual(await readNodeLag(fixtureChains, rpcOf), [
    lag('ethereum', 'first', 0),
    lag('ethereum', 'second', 3),
    lag('base', 'alone', 0),
  ]);
  const isDown = { inspect: async () => [{ node: 'alone', ...down }] };
  assert.deepEqual(await readNodeLag(fixtureChains, () => isDown), []);
});
