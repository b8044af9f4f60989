import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate, openDatabase, readMigrations, statement } from '@florin/pg';
import { schema } from '#db/schema.ts';
import { emptyDatabase } from '../../test/harness/database.ts';
import { testSecrets } from '../../test/harness/webhook-fixture.ts';
import { bodyHashOf, findAnswer } from './idempotency.ts';

const insertOld = statement({
  name: 'idempotency_test_insert_old',
  parameters: { eventId: 'text', merchantId: 'text', body: 'text', bodyHash: 'bytea' },
  columns: {},
  text: `with event as (
     insert into events (event_id, merchant_id, event_type, object_id, sequence, body, created_at)
     values (:eventId, :merchantId, 'session.created', 'sess_1', 1, :body, now())
   )
   insert into idempotency_keys
     (merchant_id, path, idempotency_key, body_hash, api_key_id, request_id, answer_event_id, created_at)
   values (:merchantId, '/session/checkout/create', 'first', :bodyHash, 'key_1', 'req_1', :eventId, now())`,
});

test('an answer that an older version stored in its event is still returned, byte for byte', async () => {
  const before = (await readMigrations(schema))
    .map(({ version }) => version)
    .filter((version) => version < 230);
  const database = await emptyDatabase();
  await migrate(database.url, schema, new Set(before));
  const db = openDatabase({ schema, url: database.url });
  try {
    const session =
      '{"sessionId":"sess_1","metadata":{"a":1.0e2,"t":",\\"sequence\\":1,\\"data\\":{\\"session\\":"}}';
    const body = `{"id":"evt_1","type":"session.created","apiVersion":"v1","timestamp":"2026-01-02T03:04:05.006Z","sequence":1,"data":{"session":${session}}}`;
    const bodyHash = bodyHashOf('{}');
    await db.query(insertOld, { eventId: 'evt_1', merchantId: 'mer_1', body, bodyHash });
    await migrate(database.url, schema);
    const caller = { merchantId: 'mer_1', callerId: 'key_1', kind: 'secret' } as const;
    const path = '/session/checkout/create';
    const request = { caller, path, key: 'first', bodyHash, requestId: 'req_2' };
    assert.equal(
      await findAnswer(db, { secrets: testSecrets }, request),
      `{"code":0,"message":"success","data":${session}}`,
    );
  } finally {
    await db.close();
    await database.close();
  }
});
