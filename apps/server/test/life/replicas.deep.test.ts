import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import { findFreePort } from '@florin/world';
import { type ApiKeyRequest, createApiKey, revokeApiKey } from '#merchants/api-key.ts';
import { Life } from './life.ts';
import { type AgentReply, Payer } from './payer.ts';
import { ServiceProcess } from './service-process.ts';

const countSessions = statement({
  name: 'replicas_test_sessions',
  parameters: { intendedPayer: 'text' },
  columns: { sessions: 'int8', authorizations: 'int8', events: 'int8' },
  text: `select count(*) as sessions, count(a.session_id) as authorizations, count(e.event_id) as events
   from sessions s
   left join authorizations a on a.session_id = s.session_id
   left join events e on e.object_id = s.session_id
   where s.intended_payer = :intendedPayer`,
});

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
let linkId: string;

before(async () => {
  life = await Life.start(async (options) => {
    const limited = { ...options, maxOpenSessions: 20 };
    const port = await findFreePort();
    const origin = `http://127.0.0.1:${port}`;
    const http = { host: '127.0.0.1', port };
    // The second process serves only HTTP, like replicas behind a load balancer.
    const processes = [
      new ServiceProcess(limited),
      new ServiceProcess({ ...limited, origin, http, roles: new Set(['web']) }),
    ];
    await Promise.all(processes.map((process) => process.start()));
    origins = [options.origin, origin];
    return {
      stop: async () => {
        await Promise.all(processes.map((process) => process.stop()));
      },
    };
  });
  const productName = { name: 'Tea', commonPrices: [2_000_000] };
  const { productId } = await life.post<{ productId: string }>('/product/create', productName);
  const link = await life.post<{ linkId: string }>('/payment/link/create', {
    linkType: 'fixed',
    linkName: 'Tea',
    accountId: life.accountId,
    settlementToken: 'ethereum::usdc',
    feeModel: 1,
    lineItems: [{ itemType: 'product', productId, quantity: 1, unitPrice: 2_000_000 }],
  });
  linkId = link.linkId;
});
after(() => life.close());

interface Offered {
  readonly authorizationSpec: {
    readonly domain: { readonly name: string };
    readonly types: Record<string, { name: string; type: string }[]>;
  };
  readonly messageTemplate: Readonly<Record<string, string>>;
}

/** Signed requests of one payer to create a session. */
async function requestsOf(
  payer: Payer,
  changes: readonly Readonly<Record<string, string>>[],
): Promise<string[]> {
  const view = await payer.ask('GET', `/payment/link/${linkId}`);
  const { authorizationSpec, messageTemplate } = view.aiView
    .createPaymentSessionRequirement as unknown as Offered;
  return Promise.all(
    changes.map(async (change) => {
      const message = { ...messageTemplate, payer: payer.address, ...change };
      const { domain, types } = authorizationSpec;
      return JSON.stringify({ message, signature: await payer.wallet.signTypedData(domain, types, message) });
    }),
  );
}

const newNonce = () => `0x${randomBytes(32).toString('hex')}`;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly body: AgentReply & { readonly replayed?: boolean };
}

/** Sends all requests at once, alternately to both processes. */
function sendAll(bodies: readonly string[]): Promise<Answer[]> {
  return Promise.all(
    bodies.map(async (body, index) => {
      const response = await fetch(`${origins[index % 2]}/aipay/api/v1/payment/session/create`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      const text = await response.text();
      return { status: response.status, text, body: JSON.parse(text) as Answer['body'] };
    }),
  );
}

/**
 * Internals that an error must not reveal: how data is stored, or where the program failed. The search excludes the
 * request id, whose random letters can spell any short word.
 */
const inside = /postgres|sql|constraint|duplicate key|relation|deadlock|\bpg_|stack|\.ts\b|node:/i;
const requestId = /"requestId":"req_[0-9A-Za-z]{22}"/;

async function rowsOf(payer: Payer) {
  return (await life.database.db.query(countSessions, { intendedPayer: payer.address }))[0];
}

test('one signed request, sent 100 times at once to two processes, creates one session, and all requests get it', async () => {
  const payer = new Payer(life);
  const [request = ''] = await requestsOf(payer, [{}]);
  const answers = await sendAll(Array.from({ length: 100 }, () => request));
  assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body.code}`))], ['200 0']);
  assert.equal(new Set(answers.map(({ body }) => body.sessionId)).size, 1);
  assert.equal(answers.filter(({ body }) => body.replayed !== true).length, 1);
  assert.deepEqual(await rowsOf(payer), { sessions: 1n, authorizations: 1n, events: 1n });
});

test('100 different messages with one nonce, sent at once to two processes, create one session and get 99 refusals', async () => {
  const payer = new Payer(life);
  const authorizationNonce = newNonce();
  const soon = Math.floor(Date.now() / 1000) + 600;
  const changes = Array.from({ length: 100 }, (_, index) => ({
    authorizationNonce,
    authorizationExpiresAt: String(soon + index),
  }));
  const answers = await sendAll(await requestsOf(payer, changes));
  const kinds = answers.map(({ status, body }) => `${status} ${body.code}`).sort();
  assert.deepEqual(kinds, ['200 0', ...Array<string>(99).fill('200 100604')]);
  const refusals = answers.filter(({ body }) => body.code !== 0).map(({ text }) => text);
  assert.ok(refusals.every((text) => requestId.test(text)));
  assert.deepEqual(
    refusals.filter((text) => inside.test(text.replace(requestId, ''))),
    [],
  );
  assert.deepEqual(await rowsOf(payer), { sessions: 1n, authorizations: 1n, events: 1n });
});

test('a payer has at most 20 open sessions, even when several processes are asked at once', async () => {
  const payer = new Payer(life);
  const requests = await requestsOf(
    payer,
    Array.from({ length: 50 }, () => ({ authorizationNonce: newNonce() })),
  );
  const answers = await sendAll(requests);
  const kinds = answers.map(({ status, body }) => `${status} ${body.code}`).sort();
  assert.deepEqual(kinds, [...Array<string>(20).fill('200 0'), ...Array<string>(30).fill('429 900101')]);
  assert.deepEqual(await rowsOf(payer), { sessions: 20n, authorizations: 20n, events: 20n });
});

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
