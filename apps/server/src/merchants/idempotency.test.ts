import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate, openDatabase, readMigrations, statement } from '@florin/pg';
import { schema } from '#db/schema.ts';
import { emptyDatabase } from '../../test/harness/database.ts';
import { testSecrets } from '../../test/harness/webhook-fixture.ts';
import { bodyHashOf, findAnswer, type KeyedAnswer, keyedAnswerValues } from './idempotency.ts';

const insertOld = statement({
  name: 'idempotency_test_insert_old',
  parameters: { eventId: 'text', merchantId: 'text', body: 'text', bodyHash: 'bytea' },
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
  await migrate(database.url, schema, { only: new Set(before) });
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
    assert.deepEqual(await findAnswer(db, { secrets: testSecrets }, request), {
      answer: `{"code":0,"message":"success","data":${session}}`,
    });
  } finally {
    await db.close();
    await database.close();
  }
});

test('an answer is stored without its object only if exactly this object ends the data of the event', () => {
  const caller = { merchantId: 'mer_1', callerId: 'key_1', kind: 'secret' } as const;
  const request = { caller, path: '/p', key: 'k', bodyHash: Buffer.alloc(32), requestId: 'req_1' };
  const objectJson = '{"a":"🍵","b":{"c":{}}}';
  const keyed: KeyedAnswer = { request, answer: `{"data":${objectJson}}`, objectJson };
  const whole = `{"id":"evt_1","data":{"session":${objectJson}}}`;
  const others = [
    `{"id":"evt_1","data":{"session":${objectJson}},"truncated":true}`,
    `{"id":"evt_1","data":{"session":${objectJson.replace('b', 'x')}}}`,
    '}}',
    '',
  ];
  const { key_answer, key_answer_start } = keyedAnswerValues(
    [keyed, undefined, ...others.map(() => keyed)],
    [whole, whole, ...others],
  );
  assert.deepEqual(key_answer, [null, null, ...others.map(() => keyed.answer)]);
  assert.deepEqual(key_answer_start, [whole.indexOf(objectJson), null, ...others.map(() => null)]);
});
