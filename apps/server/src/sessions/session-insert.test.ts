import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { disableWebhook } from '@florin/outbox';
import { microUsd } from '@florin/protocol/money.ts';
import { MerchantWorld } from '../../test/harness/merchant-fixture.ts';
import {
  addWebhook,
  selectDeliveries,
  selectEvents,
  testOutbox,
} from '../../test/harness/webhook-fixture.ts';
import { createCheckoutSession, findSession } from './session.ts';
import { groupInserter, type NewSession, type SessionInserter } from './session-insert.ts';
import type { StoredSession } from './stored-session.ts';

let world: MerchantWorld;
before(async () => {
  world = await MerchantWorld.open();
});
after(() => world.close());

interface Order {
  readonly merchantId: string;
  readonly accountId: string;
  readonly settlementToken: string;
  readonly feeModel: 1 | 2;
  readonly payerEmailRequired: 0 | 1;
  /** What makes it a session of the AI protocol. */
  readonly change?: Partial<StoredSession>;
}

/** Creates all of them at once, so that they share statements. */
function createTogether(orders: readonly Order[]): Promise<StoredSession[]> {
  const { db } = world.database;
  const insertGroup = groupInserter(db, world.deps);
  return Promise.all(
    orders.map(async ({ merchantId, change, ...terms }, index) => {
      let stored: StoredSession | undefined;
      const insert: SessionInserter = (created: NewSession) => {
        stored = { ...created.session, ...change };
        return insertGroup({ ...created, session: stored });
      };
      const productData = { productName: `Thing ${index}` };
      const lineItems = [
        { itemType: 'one_time' as const, quantity: 1, unitPrice: 1_000 + index, productData },
      ];
      const body = { ...terms, lineItems, successUrl: `https://shop.example.com/${index}` };
      const request = { merchantId, body, metadataText: `{"n":${index}}` };
      const session = await createCheckoutSession(db, world.deps, request, insert);
      return stored ?? session;
    }),
  );
}

async function sellers() {
  const merchantIds = await Promise.all([world.addMerchant(), world.addMerchant()]);
  return Promise.all(
    [0, 0, 1].map(async (index) => {
      const merchantId = merchantIds[index] ?? '';
      return { merchantId, accountId: await world.addAccount(merchantId) };
    }),
  );
}

test('sessions that are stored together keep their own terms', async () => {
  const payer = `0x${'ab'.repeat(20)}`;
  const changes: (Partial<StoredSession> | undefined)[] = [
    undefined,
    {
      sessionType: 'ai_checkout',
      businessId: 'lnk_0000000000000000000001',
      businessType: 'payment_link',
      intendedPayer: payer,
      intendedToken: 'base::usdc',
      chosenTotal: microUsd(77n),
    },
    { sessionType: 'lnk', businessId: 'lnk_0000000000000000000002', businessType: 'payment_link' },
  ];
  const orders = (await sellers()).flatMap((seller) =>
    changes.flatMap((change) =>
      ([1, 2] as const).flatMap((feeModel) =>
        ([0, 1] as const).map((payerEmailRequired) => ({
          ...seller,
          settlementToken: feeModel === 1 ? 'ethereum::usdc' : 'base::usdc',
          feeModel,
          payerEmailRequired,
          ...(change === undefined ? {} : { change }),
        })),
      ),
    ),
  );
  const created = await createTogether(orders);
  const stored = await Promise.all(created.map(({ sessionId }) => findSession(world.database.db, sessionId)));
  assert.equal(stored.length, 36);
  assert.deepEqual(stored, created);
});

test('each webhook gets one event for every new session of its own merchant, and none of others', async () => {
  const { db } = world.database;
  const [first, , second] = await sellers();
  assert.ok(first !== undefined && second !== undefined);
  const inactive = await addWebhook(db, first.merchantId);
  await db.transaction((transaction) =>
    disableWebhook(transaction, testOutbox(), {
      ownerId: first.merchantId,
      webhookId: inactive.webhookId,
    }),
  );
  const heard = await addWebhook(db, first.merchantId, { subscribedEvents: ['session.*'] });
  await addWebhook(db, first.merchantId, { subscribedEvents: ['product.*', 'session.paid'] });
  const other = await addWebhook(db, second.merchantId, { subscribedEvents: ['session.created'] });
  const terms = { settlementToken: 'ethereum::usdc', feeModel: 1, payerEmailRequired: 0 } as const;
  const created = await createTogether(
    [first, second, first, second, first].map((seller) => ({ ...seller, ...terms })),
  );
  const expected = (merchantId: string, webhooks: readonly (readonly [string, string])[]) =>
    created
      .filter((session) => session.merchantId === merchantId)
      .flatMap(({ sessionId }) =>
        webhooks.map(([webhookId, status]) => `${sessionId} ${webhookId} ${status}`),
      )
      .sort();
  const deliveryIds = new Set<string>();
  for (const [seller, webhooks] of [
    [first, [[inactive.webhookId, 'skipped'] as const, [heard.webhookId, 'pending'] as const]],
    [second, [[other.webhookId, 'pending'] as const]],
  ] as const) {
    const deliveries = await db.query(selectDeliveries, { merchantId: seller.merchantId });
    const found = deliveries.map((row) => `${row.object_id} ${row.webhook_id} ${row.status}`);
    assert.deepEqual(found.sort(), expected(seller.merchantId, webhooks));
    for (const { delivery_id } of deliveries) {
      assert.match(delivery_id, /^dlv_[0-9A-Za-z]{22}$/);
      deliveryIds.add(delivery_id);
    }
  }
  assert.equal(deliveryIds.size, 8);
  const events = await db.query(selectEvents, { merchantId: first.merchantId });
  assert.deepEqual(
    events.filter(({ event_type }) => event_type.startsWith('session.')).map(({ sequence }) => sequence),
    [1n, 1n, 1n],
  );
});

test('no session is created for an account of another merchant', async () => {
  const [first, , second] = await sellers();
  assert.ok(first !== undefined && second !== undefined);
  const terms = { settlementToken: 'ethereum::usdc', feeModel: 1, payerEmailRequired: 0 } as const;
  const change = { merchantId: second.merchantId };
  await assert.rejects(createTogether([{ ...first, ...terms, change }]), { slug: 'account_removed' });
  const [session] = await createTogether([{ ...first, ...terms }]);
  assert.equal(session?.merchantId, first.merchantId);
});
