import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withSystemScope } from '@florin/pg';
import pg from 'pg';
import { schema } from '#db/schema.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { book } from './entry.ts';
import { sealEntries, verifyLedger } from './seal.ts';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

const at = new Date('2026-01-02T03:04:05Z');

async function bookPayment(orderId: string): Promise<void> {
  const postings = [
    { account: 'gateway:ethereum', asset: 'ethereum::usdc', amount: 1_000n },
    { account: 'merchant:0x1', asset: 'ethereum::usdc', amount: -990n },
    { account: 'fees:due', asset: 'ethereum::usdc', amount: -10n },
  ];
  await database.db.transaction((transaction) =>
    book(transaction, { kind: 'payment', orderId, chainId: 1, txHash: '0xaa', at, postings }),
  );
}

const seal = () => database.db.transaction((transaction) => sealEntries(transaction, at));

/** Changes the books after removing the triggers and restoring the revoked rights, as a database owner could. */
async function tamper(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: withSystemScope(database.url, schema) });
  await client.connect();
  const tables = ['ledger_entries', 'ledger_postings', 'ledger_seals'];
  try {
    for (const table of tables)
      await client.query(`alter table ${table} disable trigger user; grant all on ${table} to current_user`);
    await client.query(text);
    for (const table of tables)
      await client.query(
        `alter table ${table} enable trigger user; revoke update, delete on ${table} from current_user`,
      );
    await client.query('grant update (entry_id) on ledger_entries to current_user');
  } finally {
    await client.end();
  }
}

test('concurrent sealers seal every entry once, and the seals verify', async () => {
  for (let index = 0; index < 10; index += 1) await bookPayment(`order-${index}`);
  assert.equal((await verifyLedger(database.db)).unsealed, 10n);
  const counts = await Promise.all([seal(), seal(), seal()]);
  assert.equal(
    counts.reduce((left, right) => left + right),
    10,
  );
  const { head, ...proof } = await verifyLedger(database.db);
  assert.deepEqual(proof, { sealed: 10n, unsealed: 0n, problems: [] });
  assert.match(head, /^[0-9a-f]{64}$/);
});

test('booking does not wait for a sealer', async () => {
  await bookPayment('before');
  await database.db.transaction(async (transaction) => {
    await sealEntries(transaction, at);
    // If booking took the sealer's lock, it would wait for ever.
    await bookPayment('during');
  });
  assert.equal(await seal(), 1);
});

test('an entry whose transaction commits late is sealed after later entries', async () => {
  const held = Promise.withResolvers<void>();
  const booked = Promise.withResolvers<void>();
  const late = database.db.transaction(async (transaction) => {
    await book(transaction, {
      kind: 'payment',
      orderId: 'late',
      chainId: 1,
      txHash: '0xbb',
      at,
      postings: [],
    });
    booked.resolve();
    await held.promise;
  });
  await booked.promise;
  await bookPayment('early');
  assert.equal(await seal(), 1);
  held.resolve();
  await late;
  assert.equal(await seal(), 1);
  assert.deepEqual((await verifyLedger(database.db)).problems, []);
});

test('the service’s own role can neither change nor delete entries', async () => {
  const client = new pg.Client({ connectionString: withSystemScope(database.url, schema) });
  await client.connect();
  try {
    for (const text of [
      'update ledger_postings set amount = amount',
      'delete from ledger_entries',
      'delete from ledger_seals',
      'truncate ledger_postings',
    ])
      await assert.rejects(client.query(text), /permission denied/, text);
    await assert.rejects(
      client.query('update ledger_entries set entry_id = entry_id + 1'),
      /can only be updated to DEFAULT/,
    );
  } finally {
    await client.end();
  }
});

test('a changed amount, a changed time, a wrong head and a deleted seal are all reported', async () => {
  const clean = await verifyLedger(database.db);
  assert.deepEqual(clean.problems, []);
  const cases: readonly [string, string, RegExp][] = [
    [
      "update ledger_postings set amount = amount + 1 where ledger_account = 'gateway:ethereum' and entry_id = 1",
      "update ledger_postings set amount = amount - 1 where ledger_account = 'gateway:ethereum' and entry_id = 1",
      /entry 1 \(payment:1:order-0\) differs from what was sealed; entry 1 sums to 1 of ethereum::usdc, not to zero/,
    ],
    [
      "update ledger_entries set created_at = created_at + interval '1 microsecond' where entry_id = 2",
      "update ledger_entries set created_at = created_at - interval '1 microsecond' where entry_id = 2",
      /^entry 2 \(payment:1:order-1\) differs from what was sealed$/,
    ],
    [
      'update ledger_head set seal_number = seal_number - 1',
      'update ledger_head set seal_number = seal_number + 1',
      /^the chain ends at seal \d+, but its head names seal/,
    ],
    [
      'create table hidden as select * from ledger_seals where seal_number = 5; delete from ledger_seals where seal_number = 5',
      'insert into ledger_seals select * from hidden; drop table hidden',
      /^seal 5 is missing; 1 entries have no seal and are not queued for one$/,
    ],
  ];
  for (const [harm, repair, expected] of cases) {
    await tamper(harm);
    assert.match((await verifyLedger(database.db)).problems.join('; '), expected, harm);
    await tamper(repair);
    assert.deepEqual(await verifyLedger(database.db), clean, repair);
  }
});

test('a head from an earlier verification is found in the chain, and a foreign hash is not', async () => {
  const noted = await verifyLedger(database.db);
  await bookPayment('after the note');
  await seal();
  assert.deepEqual((await verifyLedger(database.db, noted.head)).problems, []);
  assert.deepEqual((await verifyLedger(database.db, 'ab'.repeat(32))).problems, [
    `no seal has the hash ${'ab'.repeat(32)}`,
  ]);
});
