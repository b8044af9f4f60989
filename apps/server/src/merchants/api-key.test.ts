import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { crc32 } from 'node:zlib';
import { statement } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { microUsd } from '@florin/protocol/money.ts';
import { permissionPresets, permissions } from '@florin/protocol/permission.ts';
import fc from 'fast-check';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import {
  type ApiKeyLookup,
  type ApiKeyRequest,
  apiKeyLookup,
  authenticate,
  createApiKey,
  findApiKeys,
  keyInTextPattern,
  keyOfHeader,
  listApiKeys,
  revokeApiKey,
} from './api-key.ts';
import { createMerchant } from './merchant.ts';

const now = new Date('2026-03-01T12:00:00Z');
const clock = { now: () => now, monotonicMs: () => 0, sleep: async () => {} };
const deps = { clock, random: systemRandom };

let database: TestDatabase;
let merchantId: string;
let lookup: ApiKeyLookup;

before(async () => {
  database = await testDatabase();
  lookup = apiKeyLookup(database.db);
  const merchant = await database.db.transaction((transaction) =>
    createMerchant(transaction, deps, { merchantName: 'Shop' }),
  );
  merchantId = merchant.merchantId;
});
after(() => database.close());

function create(request: Omit<ApiKeyRequest, 'merchantId'>): Promise<{ keyId: string; key: string }> {
  return database.db.transaction((transaction) =>
    createApiKey(transaction, deps, { ...request, merchantId }),
  );
}

async function refusalOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('accepted'),
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? error.slug : String(error);
}

/** Fails the test when the database is queried. */
const noLookup: ApiKeyLookup = async () => assert.fail('the database was asked');

// proves S5.2, W5.5
test('a key has its prefix, 43 random characters and a CRC-32 of both', async () => {
  const { key } = await create({ kind: 'secret' });
  assert.match(key, /^sk_live_[0-9A-Za-z]{49}$/);
  const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const checksum = [...key.slice(-6)].reduce((value, digit) => value * 62 + alphabet.indexOf(digit), 0);
  assert.equal(checksum, crc32(key.slice(0, -6)));
  assert.match((await create({ kind: 'restricted' })).key, /^rk_live_[0-9A-Za-z]{49}$/);
});

// proves W5.5
test('secret scanners find a key in any text by the documented pattern', async () => {
  const pattern = new RegExp(keyInTextPattern, 'g');
  const { key } = await create({ kind: 'secret' });
  const restricted = await create({ kind: 'restricted' });
  const text = `KEY="${key}"\nother: rk_live_short, ${restricted.key}; x${key} ${key}0`;
  assert.deepEqual(text.match(pattern), [key, restricted.key]);
});

// proves W5.2
test('a storefront key requires origins, and a secret key has none', async () => {
  const origins = ['https://shop.example.com'];
  const refusals = await Promise.all(
    [
      create({ kind: 'restricted', preset: 'storefront' }),
      create({ kind: 'restricted', preset: 'storefront', origins: [] }),
      create({ kind: 'secret', origins }),
    ].map((work) => work.then(() => 'created', String)),
  );
  const missing = 'Refusal: Invalid field: origins must have at least one entry for the preset storefront';
  const secret = 'Refusal: Invalid field: origins must be empty for a secret key: it is for servers';
  assert.deepEqual(refusals, [missing, missing, secret]);
  assert.match((await create({ kind: 'restricted', preset: 'storefront', origins })).key, /^rk_live_/);
});

const storedKey = statement({
  name: 'api_key_test_stored',
  parameters: { keyId: 'text' },
  columns: { key_hash: 'bytea', last4: 'text', everything: 'text' },
  text: 'select key_hash, last4, k::text as everything from api_keys k where key_id = :keyId',
});

// proves W5.6
test('only the hash and the last four characters of a key are stored', async () => {
  const { keyId, key } = await create({ kind: 'secret' });
  const [row] = await database.db.query(storedKey, { keyId });
  assert.deepEqual(row?.key_hash, createHash('sha256').update(key).digest());
  assert.equal(row?.last4, key.slice(-4));
  assert.equal(row?.everything.includes(key.slice(8, 30)), false);
});

// proves S5.2
test('a secret key has every permission, a restricted one those of its preset or list', async () => {
  const granted = async (request: Omit<ApiKeyRequest, 'merchantId'>) => {
    const { keyId, key } = await create(request);
    const identity = await authenticate(lookup, `Bearer ${key}`, now);
    assert.deepEqual(
      { ...identity, permissions: [] },
      {
        callerId: keyId,
        merchantId,
        kind: request.kind,
        webOrigin: undefined,
        permissions: [],
        limits: { maxSessionAmount: undefined, maxDayAmount: undefined },
      },
    );
    return [...identity.permissions];
  };
  assert.deepEqual(await granted({ kind: 'secret' }), [...permissions]);
  assert.deepEqual(await granted({ kind: 'secret', preset: 'agent' }), [...permissions]);
  assert.deepEqual(await granted({ kind: 'restricted' }), [...permissionPresets.read_only]);
  assert.deepEqual(await granted({ kind: 'restricted', preset: 'agent' }), [...permissionPresets.agent]);
  assert.deepEqual(await granted({ kind: 'restricted', permissions: ['events:read'] }), ['events:read']);
});

// proves W5.7
test('read_only permits every read except personal data and webhook secrets', () => {
  assert.deepEqual(permissionPresets.read_only, [
    'products:read',
    'accounts:read',
    'payment_links:read',
    'checkout_sessions:read',
    'sessions:read',
    'refunds:read',
    'webhooks:read',
    'events:read',
    'reports:read',
  ]);
});

// proves S5.1
test('a header other than Bearer, one space and a key is malformed', async () => {
  const { key } = await create({ kind: 'secret' });
  const malformed: readonly (string | undefined)[] = [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    key,
    `bearer ${key}`,
    `BEARER ${key}`,
    `Bearer  ${key}`,
    `Bearer\t${key}`,
    ` Bearer ${key}`,
    `Bearer ${key} `,
    `Bearer ${key} ${key}`,
    `Bearer ${key}\n`,
    `Bearer ${key}é`,
    `Basic ${key}`,
    `Bearer:${key}`,
  ];
  for (const header of malformed) {
    assert.equal(
      await refusalOf(authenticate(noLookup, header, now)),
      'authorization_header_malformed',
      JSON.stringify(header),
    );
  }
  assert.equal(keyOfHeader(`Bearer ${key}`), key);
});

test('text that is not a key is refused without a query to the database', async () => {
  const { key } = await create({ kind: 'secret' });
  const flipped = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  const words = [
    flipped,
    key.slice(0, -1),
    `${key}0`,
    key.replace('sk_', 'rk_'),
    key.toLowerCase(),
    'x',
    'sk_live_',
  ];
  for (const word of words) {
    assert.equal(await refusalOf(authenticate(noLookup, `Bearer ${word}`, now)), 'api_key_invalid', word);
  }
});

test('any single wrong character is caught by the checksum', async () => {
  const { key } = await create({ kind: 'restricted' });
  const position = fc.integer({ min: 8, max: key.length - 1 });
  const character = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');
  await fc.assert(
    fc.asyncProperty(position, character, async (at, other) => {
      fc.pre(key[at] !== other);
      const wrong = key.slice(0, at) + other + key.slice(at + 1);
      assert.equal(await refusalOf(authenticate(noLookup, `Bearer ${wrong}`, now)), 'api_key_invalid');
    }),
  );
});

// proves S5.3
test('unknown, expired and revoked keys get the same answer', async () => {
  const unknown = await create({ kind: 'secret' });
  const expired = await create({ kind: 'secret', expiresAt: now });
  const revoked = await create({ kind: 'secret' });
  await database.db.transaction((transaction) => revokeApiKey(transaction, revoked.keyId, now));
  const noKeys: ApiKeyLookup = async () => undefined;
  const messages = await Promise.all(
    [
      authenticate(noKeys, `Bearer ${unknown.key}`, now),
      authenticate(lookup, `Bearer ${expired.key}`, now),
      authenticate(lookup, `Bearer ${revoked.key}`, now),
    ].map((work) => work.then(() => 'accepted', String)),
  );
  assert.deepEqual(new Set(messages), new Set(['Refusal: Invalid, expired or revoked API key']));
});

// proves W5.10
test('a key is valid until the moment of its expiry', async () => {
  const expiresAt = new Date(now.getTime() + 1);
  const { keyId, key } = await create({ kind: 'restricted', expiresAt });
  assert.equal((await authenticate(lookup, `Bearer ${key}`, now)).callerId, keyId);
  assert.equal(await refusalOf(authenticate(lookup, `Bearer ${key}`, expiresAt)), 'api_key_invalid');
});

test('revoking keeps the first time, and reports whose key it is', async () => {
  const { keyId } = await create({ kind: 'secret' });
  const later = new Date(now.getTime() + 60_000);
  const revoke = (id: string, at: Date) =>
    database.db.transaction((transaction) => revokeApiKey(transaction, id, at));
  assert.deepEqual([await revoke(keyId, now), await revoke(keyId, later)], [merchantId, merchantId]);
  assert.equal(await revoke('key_unknown', now), undefined);
  const summary = (await listApiKeys(database.db, merchantId)).find((candidate) => candidate.keyId === keyId);
  assert.deepEqual(summary?.revokedAt, now);
});

test('lists show every field of a key except the key itself', async () => {
  const merchant = await database.db.transaction((transaction) =>
    createMerchant(transaction, deps, { merchantName: 'Other' }),
  );
  const expiresAt = new Date('2027-01-01T00:00:00Z');
  const limits = {
    ipAllowList: ['203.0.113.0/24', '2001:db8::/32'],
    origins: ['https://shop.example.com'],
    maxSessionAmount: microUsd(5_000_000),
    maxDayAmount: microUsd(100_000_000),
  };
  const { keyId, key } = await database.db.transaction((transaction) =>
    createApiKey(transaction, deps, {
      merchantId: merchant.merchantId,
      kind: 'restricted',
      preset: 'storefront',
      expiresAt,
      ...limits,
    }),
  );
  assert.deepEqual(await listApiKeys(database.db, merchant.merchantId), [
    {
      keyId,
      name: '',
      kind: 'restricted',
      last4: key.slice(-4),
      permissions: [...permissionPresets.storefront],
      expiresAt,
      revokedAt: undefined,
      ...limits,
      lastUsedAt: undefined,
      createdAt: now,
      createdBy: '',
    },
  ]);
});

test('many keys are read at once, in the requested order', async () => {
  const first = await create({ kind: 'secret' });
  const second = await create({ kind: 'restricted' });
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const lookUp = async (...keys: string[]) => {
    const rows = await findApiKeys(database.db, keys.map(hash));
    return rows.map((row) => row?.key_id);
  };
  assert.deepEqual(await lookUp(second.key, 'unknown', first.key, second.key), [
    second.keyId,
    undefined,
    first.keyId,
    second.keyId,
  ]);
  assert.deepEqual(await lookUp(first.key, first.key), [first.keyId, first.keyId]);
  assert.deepEqual(await lookUp('unknown', 'unknown'), [undefined, undefined]);
});
