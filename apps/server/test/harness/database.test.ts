import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { migrate } from '@florin/pg';
import { schema } from '#db/schema.ts';
import { type TestDatabase, testDatabase } from './database.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

test('migrating a migrated database applies nothing', async () => {
  assert.deepEqual(await migrate(database.url, schema), { applied: [] });
});
