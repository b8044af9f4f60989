import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findWebhook, refreshWebhookKey, removeWebhook, resealWebhookKeys } from '@florin/outbox';
import { systemRandom } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { testDatabase } from '../../test/harness/database.ts';
import { addMerchant, addWebhook, testOutbox } from '../../test/harness/webhook-fixture.ts';

const database = await testDatabase();
after(() => database.close());
const { db } = database;
const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
const depsWith = (...keys: [Uint8Array, ...Uint8Array[]]) => ({ ...testOutbox(), secrets: secretBox(keys) });

/** Seals everything anew in steps of two; how many it were. */
async function resealAll(deps: ReturnType<typeof depsWith>): Promise<number> {
  let count = 0;
  let last: string | undefined = '';
  while (last !== undefined) {
    const from: string = last;
    const done = await db.transaction((transaction) =>
      resealWebhookKeys(transaction, deps, { after: from, limit: 2 }),
    );
    count += done.resealed;
    last = done.last;
  }
  return count;
}

// proves W6.29
test('after resealing only the new master key opens the signing keys, which are unchanged', async () => {
  const merchantId = await addMerchant(db);
  const before = depsWith(oldKey);
  const webhooks = [];
  for (let index = 0; index < 5; index += 1) webhooks.push(await addWebhook(db, merchantId, {}, before));
  const [first] = webhooks;
  const ref = { ownerId: merchantId, webhookId: first?.webhookId ?? '' };
  await db.transaction((transaction) =>
    refreshWebhookKey(transaction, before, { ...ref, overlapSeconds: 60 }),
  );
  const deleted = {
    ownerId: merchantId,
    webhookId: (await addWebhook(db, merchantId, {}, before)).webhookId,
  };
  await db.transaction((transaction) => removeWebhook(transaction, before, deleted));
  const keyOf = async (webhookId: string, deps: ReturnType<typeof depsWith>) =>
    (await findWebhook(db, deps, { ownerId: merchantId, webhookId })).key;
  const keys = await Promise.all(webhooks.map(({ webhookId }) => keyOf(webhookId, before)));

  // The deleted webhook's key, too: the old master key can go.
  assert.equal(await resealAll(depsWith(newKey, oldKey)), 6);
  assert.equal(await resealAll(depsWith(newKey, oldKey)), 0);
  const alone = depsWith(newKey);
  assert.deepEqual(await Promise.all(webhooks.map(({ webhookId }) => keyOf(webhookId, alone))), keys);
  await assert.rejects(keyOf(ref.webhookId, before), /master key that is not configured/);
});

test('a signing key whose master key is not configured stops the resealing, and nothing is changed', async () => {
  const merchantId = await addMerchant(db);
  const { webhookId, key } = await addWebhook(db, merchantId, {}, depsWith(newKey));
  const strange = depsWith(systemRandom.bytes(32));
  await assert.rejects(resealAll(strange), /master key that is not configured/);
  const shown = await findWebhook(db, depsWith(newKey), { ownerId: merchantId, webhookId });
  assert.equal(shown.key, key);
});
