import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import { findFreePort } from '@florin/world';
import { type ApiKeyRequest, createApiKey, revokeApiKey } from '#merchants/api-key.ts';
import { Life } from './life.ts';
import { ServiceProcess } from './service-process.ts';

const spentByKey = statement({
  name: 'replicas_test_spent',
  parameters: { keyId: 'text', merchantId: 'text' },
  columns: { counted: 'int8?', created: 'int8' },
  text: `select (select amount from api_key_spending where key_id = :keyId) as counted,
     (select count(*) from sessions where merchant_id = :merchantId) as created`,
});

/** The origins of two processes of the service over one database. */
let origins: readonly string[] = [];
let life: Life;

before(async () => {
  life = await Life.start(async (options) => {
    const port = await findFreePort();
    // The second process serves only HTTP, like replicas behind a load balancer.
    const processes = [
      new ServiceProcess(options),
      new ServiceProcess({
        ...options,
        origin: `http://127.0.0.1:${port}`,
        http: { host: '127.0.0.1', port },
        roles: new Set(['web']),
      }),
    ];
    for (const process of processes) await process.start();
    origins = [options.origin, `http://127.0.0.1:${port}`];
    return {
      stop: async () => {
        await Promise.all(processes.map((process) => process.stop()));
      },
    };
  });
});
after(() => life.close());

function addKey(limits: Omit<ApiKeyRequest, 'merchantId' | 'kind'>): Promise<{ keyId: string; key: string }> {
  const { merchantId } = life;
  return life.database.db.transaction((transaction) =>
    createApiKey(transaction, life.options, { ...limits, merchantId, kind: 'restricted' }),
  );
}

async function codesOf(key: string): Promise<number[]> {
  return Promise.all(
    origins.map(async (origin) => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await fetch(`${origin}/payment/v1/product/list/1/10`, { headers });
      return ((await response.json()) as { code: number }).code;
    }),
  );
}

// proves W5.10
test('a revoked key is refused by the next request to any process', async () => {
  const { keyId, key } = await addKey({ preset: 'read_only' });
  for (let round = 0; round < 3; round += 1) assert.deepEqual(await codesOf(key), [0, 0]);
  await life.database.db.transaction((transaction) =>
    revokeApiKey(transaction, keyId, life.options.clock.now()),
  );
  assert.deepEqual(await codesOf(key), [200102, 200102]);
});

// proves W5.12
test('100 concurrent sessions on two processes never exceed the daily limit of their key', async () => {
  const before = await life.database.db.query(spentByKey, { keyId: '', merchantId: life.merchantId });
  const { keyId, key } = await addKey({
    permissions: ['checkout_sessions:write'],
    maxDayAmount: microUsd(1_000),
    maxSessionAmount: microUsd(30),
  });
  const productData = { productName: 'Cup' };
  const create = async (index: number) => {
    const response = await fetch(`${origins[index % 2]}/payment/v1/session/checkout/create`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(index % 4 < 2 ? {} : { 'idempotency-key': `replica-${index}` }),
      },
      body: JSON.stringify({
        accountId: life.accountId,
        settlementToken: 'ethereum::usdc',
        // Every tenth exceeds the limit of one session.
        lineItems: [
          { itemType: 'one_time', quantity: 1, unitPrice: index % 10 === 0 ? 31 : 30, productData },
        ],
      }),
    });
    return ((await response.json()) as { code: number }).code;
  };
  const codes = await Promise.all(Array.from({ length: 100 }, (_, index) => create(index)));
  assert.deepEqual(
    [codes.filter((code) => code === 0).length, codes.filter((code) => code === 100209).length],
    [33, 67],
  );
  assert.deepEqual(await life.database.db.query(spentByKey, { keyId, merchantId: life.merchantId }), [
    { counted: 990n, created: (before[0]?.created ?? 0n) + 33n },
  ]);
});
