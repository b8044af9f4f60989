import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { keyOfOrigin } from './api-key.sql.ts';
import { createApiKey, listApiKeys, revokeApiKey } from './api-key.ts';
import {
  assertOrigin,
  countDayAmount,
  isClientAllowed,
  isOriginListed,
  keyUseRecorder,
  limitsOf,
} from './api-key-limits.ts';
import { createMerchant } from './merchant.ts';

const clock = {
  time: Date.UTC(2026, 2, 1, 12),
  now: () => new Date(clock.time),
  monotonicMs: () => clock.time,
  sleep: async () => {},
};
const deps = { clock, random: systemRandom };
let database: TestDatabase;
let merchantId: string;
before(async () => {
  database = await testDatabase();
  const merchant = await database.db.transaction((transaction) =>
    createMerchant(transaction, deps, { merchantName: 'Shop' }),
  );
  merchantId = merchant.merchantId;
});
after(() => database.close());

async function createKey(): Promise<string> {
  const { keyId } = await database.db.transaction((transaction) =>
    createApiKey(transaction, deps, { merchantId, kind: 'restricted' }),
  );
  return keyId;
}

const addresses: [string, string[], boolean][] = [
  ['203.0.113.7', [], true],
  ['203.0.113.7', ['203.0.113.7'], true],
  ['203.0.113.8', ['203.0.113.7'], false],
  ['203.0.113.255', ['203.0.113.9/24'], true],
  ['203.0.114.0', ['203.0.113.0/24'], false],
  ['203.0.114.0', ['203.0.113.0/24', '203.0.114.0/31'], true],
  ['198.51.100.1', ['0.0.0.0/0'], true],
  ['::ffff:203.0.113.7', ['203.0.113.0/24'], true],
  ['::ffff:203.0.114.7', ['203.0.113.0/24'], false],
  ['2001:db8::5', ['2001:db8::/32'], true],
  ['2001:db9::5', ['2001:db8::/32'], false],
  ['2001:db8::5', ['203.0.113.0/24'], false],
  ['', ['0.0.0.0/0', '::/0'], false],
];
for (const [clientAddress, ipAllowList, isAllowed] of addresses) {
  test(`${clientAddress || 'no address'} is ${isAllowed ? '' : 'not '}in [${ipAllowList.join(', ')}]`, () => {
    assert.equal(isClientAllowed(ipAllowList, clientAddress), isAllowed);
  });
}

// proves W5.11
test('a key accepts exactly its origins, or any if it has none; a secret key accepts none', () => {
  const verdict = (kind: 'secret' | 'restricted', origins: string[], origin?: string) => {
    try {
      assertOrigin({ kind, origins }, origin);
      return 'allowed';
    } catch (error) {
      return String(error);
    }
  };
  const bound = 'Refusal: API key lacks permission: the key is bound to web origins, and the request';
  const foreign = `${bound}'s Origin is none of them`;
  const shop = ['https://shop.example.com', 'http://localhost:3000'];
  assert.deepEqual(
    [
      verdict('restricted', shop, 'https://shop.example.com'),
      verdict('restricted', shop, 'http://localhost:3000'),
      verdict('restricted', shop, 'https://evil.example.com'),
      verdict('restricted', shop, 'https://shop.example.com.evil.example'),
      verdict('restricted', shop, 'https://shop.example.com:8443'),
      verdict('restricted', shop, 'http://shop.example.com'),
      verdict('restricted', shop, 'null'),
      verdict('restricted', shop, ''),
      verdict('restricted', shop),
      verdict('restricted', [], 'https://evil.example.com'),
      verdict('restricted', []),
      verdict('secret', []),
    ],
    [
      'allowed',
      'allowed',
      ...Array<string>(6).fill(foreign),
      `${bound} has no Origin`,
      'allowed',
      'allowed',
      'allowed',
    ],
  );
  assert.match(verdict('secret', [], 'https://shop.example.com'), /a secret key is for servers/);
});

const senseless: [string, Parameters<typeof limitsOf>[0]][] = [
  ['ipAllowList[0] must be an IP address or CIDR block', { ipAllowList: ['203.0.113.0/33'] }],
  ['ipAllowList[1] must be an IP address or CIDR block', { ipAllowList: ['::1', 'localhost'] }],
  ['ipAllowList[0] must be an IP address or CIDR block', { ipAllowList: ['203.0.113.0/-1'] }],
  ['ipAllowList[0] must be an IP address or CIDR block', { ipAllowList: ['fe80::1%eth0'] }],
  ['ipAllowList must have at most 50 entries', { ipAllowList: Array<string>(51).fill('::1') }],
  ['origins[0] must be an https origin', { origins: ['https://shop.example.com/'] }],
  ['origins[0] must be an https origin', { origins: ['http://shop.example.com'] }],
  ['origins[0] must be an https origin', { origins: ['*'] }],
  ['origins must have at most 20 entries', { origins: Array<string>(21).fill('https://a.example') }],
  ['maxSessionAmount must be from 1 to 10000000000000 Micro-USD', { maxSessionAmount: microUsd(0) }],
  [
    'maxSessionAmount must be from 1 to 10000000000000 Micro-USD',
    { maxSessionAmount: microUsd(10_000_000_000_001n) },
  ],
  ['maxDayAmount must be from 1 to 9000000000000000000 Micro-USD', { maxDayAmount: microUsd(0) }],
  [
    'maxSessionAmount must be at most maxDayAmount',
    { maxSessionAmount: microUsd(5), maxDayAmount: microUsd(4) },
  ],
];
for (const [message, limits] of senseless) {
  test(`a meaningless limit is refused: ${message}`, () => {
    assert.throws(() => limitsOf(limits), {
      name: 'Refusal',
      message: `Invalid field: ${message}`,
    });
  });
}

test("a day's total is exact to the Micro-USD, starts at midnight UTC and never decreases", async () => {
  const keyId = await createKey();
  const count = (amount: number) =>
    database.db
      .transaction((transaction) =>
        countDayAmount(transaction, deps, { keyId, maxDayAmount: microUsd(100), amount: microUsd(amount) }),
      )
      .then(
        () => true,
        (error: unknown) => {
          assert.deepEqual(
            [error instanceof Refusal, String(error)],
            [true, "Refusal: Amount out of range: the API key's limit for one day is 100 Micro-USD"],
          );
          return false;
        },
      );
  assert.equal(await count(101), false);
  assert.deepEqual(
    [await count(60), await count(41), await count(40), await count(1)],
    [true, false, true, false],
  );
  clock.time = Date.UTC(2026, 2, 2) - 1;
  assert.equal(await count(1), false);
  clock.time = Date.UTC(2026, 2, 2);
  assert.deepEqual([await count(70), await count(31)], [true, false]);
  // The clock of another replica, slightly behind.
  clock.time = Date.UTC(2026, 2, 2) - 1;
  assert.deepEqual([await count(31), await count(30), await count(1)], [false, true, false]);
});

test('a session that is rolled back does not count', async () => {
  const keyId = await createKey();
  const request = { keyId, maxDayAmount: microUsd(10), amount: microUsd(10) };
  const failing = database.db.transaction(async (transaction) => {
    await countDayAmount(transaction, deps, request);
    throw new Error('no session after all');
  });
  await assert.rejects(failing, /no session after all/);
  await database.db.transaction((transaction) => countDayAmount(transaction, deps, request));
});

test('the time of the last use is written at most once a minute, and never goes back', async () => {
  const keyId = await createKey();
  const lastUsed = async () =>
    (await listApiKeys(database.db, merchantId)).find((key) => key.keyId === keyId)?.lastUsedAt?.getTime();
  const record = keyUseRecorder({ db: database.db, clock, log: silentLog });
  const start = Date.UTC(2026, 3, 1);
  clock.time = start;
  assert.equal(await lastUsed(), undefined);
  await record(keyId);
  assert.equal(await lastUsed(), start);
  clock.time = start + 59_999;
  await record(keyId);
  assert.equal(await lastUsed(), start);
  const otherReplica = keyUseRecorder({ db: database.db, clock, log: silentLog });
  await otherReplica(keyId);
  assert.equal(await lastUsed(), start);
  clock.time = start + 60_000;
  await record(keyId);
  assert.equal(await lastUsed(), start + 60_000);
});

test('a time of use that cannot be written is logged, and the request succeeds', async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (event: string) => void warnings.push(event) };
  const db = { query: () => Promise.reject(new Error('the database is away')) };
  await keyUseRecorder({ db, clock, log })('key_x');
  assert.deepEqual(warnings, ['api_key_use_not_recorded']);
});

test('an origin is listed as long as a valid key lists it', async () => {
  const { db } = database;
  const create = (origins: readonly string[], expiresAt?: Date) =>
    db.transaction((transaction) =>
      createApiKey(transaction, deps, {
        ...{ merchantId, kind: 'restricted', origins },
        ...(expiresAt === undefined ? {} : { expiresAt }),
      }),
    );
  const [shop, blog] = ['https://shop.example.com', 'https://blog.example.com'];
  const listed = () => Promise.all([shop, blog].map((origin) => isOriginListed(db, origin, clock.now())));
  const first = await create([shop, blog, shop]);
  await create([blog], new Date(clock.time + 60_000));
  assert.deepEqual(await listed(), [true, true]);
  await db.transaction((transaction) => revokeApiKey(transaction, first.keyId, clock.now()));
  assert.deepEqual(await listed(), [false, true]);
  assert.equal(
    await db.transaction((transaction) => revokeApiKey(transaction, first.keyId, clock.now())),
    merchantId,
  );
  clock.time += 60_000;
  assert.deepEqual(await listed(), [false, false]);
});

const withoutScans = statement({
  name: 'api_key_limits_test_no_scans',
  text: 'set local enable_seqscan = off',
});

const explained = statement({
  name: 'api_key_limits_test_explain',
  parameters: { origin: 'text', now: 'timestamptz' },
  columns: { 'QUERY PLAN': 'text' },
  text: `explain ${keyOfOrigin.text.replace('$1', ':origin').replace('$2', ':now')}`,
});

test('an origin is found by an index, despite the policies of row-level security', async () => {
  const plan = await database.db.transaction(async (transaction) => {
    await transaction.query(withoutScans);
    return transaction.query(explained, { origin: 'https://a.example', now: clock.now() });
  });
  const lines = plan.map((row) => row['QUERY PLAN']);
  assert.ok(
    lines.some((line) => /Index Cond: \(origin = /.test(line)),
    lines.join('\n'),
  );
});
