import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Queryable } from '@florin/pg';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { cachedLinkReader } from './link-reader.ts';

let world: AgentWorld;
before(async () => {
  world = await AgentWorld.open();
});
after(() => world.close());

/** A reader of some links, and whether it queries the database for each of them. */
async function readerOf(limits: { links: number; items: number }) {
  let asked = 0;
  const counting: Queryable = {
    query: (statement, ...values) => {
      asked += 1;
      return world.db.query(statement, ...values);
    },
  };
  const reader = cachedLinkReader(counting, world.clock, limits);
  return async (linkId: string) => {
    asked = 0;
    assert.equal((await reader.find(linkId))?.link.linkId, linkId);
    return asked > 0;
  };
}

test('the cache of links limits links and items, and drops the oldest links first', async () => {
  const [first, second, third] = [await world.addLink(), await world.addLink(), await world.addLink()];
  for (const limits of [
    { links: 2, items: 100 },
    { links: 100, items: 2 },
  ]) {
    const isAsked = await readerOf(limits);
    const read: boolean[] = [];
    for (const linkId of [first, second, first, second, third, second, third, first])
      read.push(await isAsked(linkId));
    assert.deepEqual(read, [true, true, false, false, true, false, false, true]);
  }
  const isAsked = await readerOf({ links: 0, items: 0 });
  assert.deepEqual([await isAsked(first), await isAsked(first)], [true, true]);
});
