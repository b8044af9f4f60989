import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseOver } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import pg from 'pg';
import { systemRandom } from '#outside/random.ts';
import { schema } from './schema.ts';

test('a scope accepts only ids of merchants', async (t) => {
  const pool = new pg.Pool();
  t.after(() => pool.end());
  const db = databaseOver(pool, () => {}, schema.scope);
  const merchantId = newId('merchant', systemRandom.bytes);
  assert.equal(db.inScope(merchantId).scope, merchantId);
  const others = ['', '*', 'mer_', `${merchantId}'`, `${merchantId}; reset role`];
  for (const wrong of [...others, newId('session', systemRandom.bytes)])
    assert.throws(() => db.inScope(wrong), /the schema has no such scope/, wrong);
});
