import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement, type Transaction } from '@florin/pg';
import type { CreatedSessionView, LinkView } from '@florin/protocol/agent-view.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { AgentWorld } from '../../test/harness/agent-fixture.ts';
import { creationBody, newPayer, viewOf } from '../../test/harness/agent-payer.ts';
import { lockPayer } from './authorization.ts';

const renameProducts = statement({
  name: 'creation_test_rename_products',
  parameters: { linkId: 'text', productName: 'text' },
  text: `update products set product_name = :productName
   where product_id in (select product_id from link_items where link_id = :linkId)`,
});

const touchLink = statement({
  name: 'creation_test_touch_link',
  parameters: { linkId: 'text' },
  text: 'update links set updated_at = updated_at where link_id = :linkId',
});

const renewAccount = statement({
  name: 'creation_test_renew_account',
  parameters: { accountId: 'text', version: 'text' },
  text: 'update accounts set version = :version where account_id = :accountId',
});

/** Links that this world refuses another session, and whether it does so now. */
const crowded = new Set<string>();
const counted: string[] = [];

let world: AgentWorld;
before(async () => {
  world = await AgentWorld.open({
    admitCreation: (linkId) => {
      counted.push(linkId);
      if (crowded.has(linkId)) throw new Refusal('rate_limited', { retryAfterSeconds: 7 });
    },
  });
});
after(() => world.close());

const path = '/payment/session/create';

async function codeOf(body: unknown): Promise<unknown> {
  return (await world.post(path, body)).body['code'];
}

/** A link whose terms the service has cached, because it created a session of it. */
async function knownLink(): Promise<string> {
  const linkId = await world.addLink();
  assert.equal(await codeOf(await creationBody(world, newPayer(), linkId)), 0);
  return linkId;
}

/** Runs `work` while the payer's chain is asked: after the terms were read, before anything is stored. */
async function whileChainIsAsked<T>(work: () => Promise<unknown>, request: () => Promise<T>): Promise<T> {
  const { codeAt } = world.chain;
  world.chain.codeAt = async () => {
    await work();
    return '0x';
  };
  try {
    return await request();
  } finally {
    world.chain.codeAt = codeAt;
  }
}

test('cached terms never sell a link that is disabled, deleted or changed', async () => {
  const linkId = await knownLink();
  const body = await creationBody(world, newPayer(), linkId);
  await world.setLinkStatus(linkId, 'disabled');
  assert.equal(await codeOf(body), 100103);
  await world.setLinkStatus(linkId, 'deleted');
  assert.equal(await codeOf(body), 100102);
  await world.setLinkStatus(linkId, 'active');
  await world.db.query(renameProducts, { linkId, productName: 'Coffee' });
  const reply = await world.post(path, body);
  const { latest } = reply.body['data'] as { latest: LinkView };
  assert.deepEqual([reply.body['code'], latest.lineItems[0]?.productData?.productName], [100104, 'Coffee']);
  assert.equal(await codeOf(await creationBody(world, newPayer(), linkId)), 0);
});

test('a refusal never relies on cached terms: a new version is accepted at once', async () => {
  const linkId = await knownLink();
  await world.db.query(renameProducts, { linkId, productName: 'Cocoa' });
  assert.equal(await codeOf(await creationBody(world, newPayer(), linkId)), 0);
});

const meanwhile: readonly [what: string, change: (linkId: string) => Promise<unknown>, code: number][] = [
  ['disabled', (linkId) => world.setLinkStatus(linkId, 'disabled'), 100103],
  [
    'given another product',
    (linkId) => world.db.query(renameProducts, { linkId, productName: 'Milk' }),
    100104,
  ],
  [
    'given a new account',
    () => world.db.query(renewAccount, { accountId: world.accountId, version: `acv_${Date.now()}` }),
    100104,
  ],
];

for (const [what, change, code] of meanwhile) {
  test(`a link that is ${what} while the payer's chain is asked sells no session`, async () => {
    const linkId = await knownLink();
    const body = await creationBody(world, newPayer(), linkId);
    const rows = await world.rows();
    const refused = await whileChainIsAsked(
      () => change(linkId),
      () => codeOf(body),
    );
    assert.equal(refused, code);
    assert.deepEqual(await world.rows(), rows);
  });
}

test('a link saved without changes while the chain is asked sells its session', async () => {
  const linkId = await knownLink();
  const body = await creationBody(world, newPayer(), linkId);
  assert.equal(
    await whileChainIsAsked(
      () => world.db.query(touchLink, { linkId }),
      () => codeOf(body),
    ),
    0,
  );
});

test('a payer whose lock is held delays no other payer', async () => {
  const linkId = await knownLink();
  const [busy, other] = [newPayer(), newPayer()];
  const bodies = await Promise.all([busy, other].map((payer) => creationBody(world, payer, linkId)));
  const released = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const holding = world.db.transaction(async (transaction: Transaction) => {
    await lockPayer(transaction, { payer: busy.address as `0x${string}` });
    held.resolve();
    await released.promise;
  });
  await held.promise;
  let isBusyServed = false;
  const busyCode = codeOf(bodies[0]).finally(() => {
    isBusyServed = true;
  });
  assert.equal(await codeOf(bodies[1]), 0);
  assert.equal(isBusyServed, false);
  released.resolve();
  await holding;
  assert.equal(await busyCode, 0);
});

test('a link sells a limited number of sessions, counted by valid signatures, and answers repeats beyond the limit', async () => {
  const linkId = await world.addLink();
  const first = await creationBody(world, newPayer(), linkId);
  const created = viewOf<CreatedSessionView>(await world.post(path, first));
  const forged = { ...(await creationBody(world, newPayer(), linkId)), signature: `0x${'11'.repeat(65)}` };
  const rows = await world.rows();
  counted.length = 0;
  assert.equal(await codeOf(forged), 100601);
  assert.deepEqual(counted, []);
  crowded.add(linkId);
  const refused = await world.server.inject({
    method: 'POST',
    url: `/aipay/api/v1${path}`,
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(await creationBody(world, newPayer(), linkId)),
  });
  assert.deepEqual(
    [refused.statusCode, refused.json().code, refused.headers['retry-after']],
    [429, 900101, '7'],
  );
  const replay = viewOf<CreatedSessionView>(await world.post(path, first));
  assert.deepEqual([replay.sessionId, replay.replayed], [created.sessionId, true]);
  assert.deepEqual([await world.rows(), counted], [rows, [linkId]]);
  assert.equal(await codeOf(await creationBody(world, newPayer(), await world.addLink())), 0);
});
