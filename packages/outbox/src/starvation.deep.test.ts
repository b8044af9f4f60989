import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type ConcurrencySettings, receiverConcurrency } from './concurrency.ts';
import type { Clock } from './context.ts';
import { everyPart } from './delivery-part.ts';
import { type AttemptResult, type DeliveryLease, takeTurn } from './delivery-turn.ts';
import {
  addWebhook,
  fastSettings,
  newOwner,
  openOutboxWorld,
  systemClock,
  testOutbox,
} from './test-world.ts';
import { disableWebhook, enableWebhook, removeWebhook } from './webhook.ts';

const world = await openOutboxWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;

test('forty removed webhooks leave the whole limit to the one that remains', async () => {
  const receiver = await openReceiver();
  const ownerId = newOwner();
  await withWorker(async () => {
    for (let index = 0; index < 40; index += 1) {
      const { webhookId } = await addWebhook(db, ownerId, { webhookUrl: receiver.url });
      await raise(ownerId, `${ownerId}-${index}`);
      await receiver.waitFor(index + 1);
      await db.transaction((transaction) => removeWebhook(transaction, testOutbox(), { ownerId, webhookId }));
    }
    const newcomer = await openReceiver();
    await addWebhook(db, ownerId, { webhookUrl: newcomer.url });
    await raise(ownerId, `${ownerId}-first`);
    await newcomer.waitFor(1);
    for (let index = 0; index < 30; index += 1) await raise(ownerId, `${ownerId}-later-${index}`);
    await newcomer.waitFor(31);
  });
});

test('three busy webhooks that could use up the limit of their owner all make progress', async () => {
  const ownerId = newOwner();
  const settings = { ...fastSettings, perWebhook: { start: 8, least: 2, most: 8 }, perOwner: 16 };
  await withWorker(
    async () => {
      for (let count = 1; count <= 3; count += 1) {
        const receiver = await openReceiver();
        await addWebhook(db, ownerId, { webhookUrl: receiver.url });
        for (let index = 0; index < 40; index += 1) await raise(ownerId, `${ownerId}-${count}-${index}`);
        await receiver.waitFor(40);
      }
      await untilStatus(ownerId, 'succeeded');
      assert.equal((await deliveries(ownerId)).length, 40 + 80 + 120);
    },
    { settings },
  );
});

const share: ConcurrencySettings = { perWebhook: { start: 3, least: 1, most: 5 }, perOwner: 6 };
const concurrency = 9;
const webhookCount = 7;

type Step =
  | { readonly kind: 'create' | 'remove' | 'disable' | 'enable'; readonly webhook: number }
  | { readonly kind: 'raise'; readonly owner: number; readonly count: number }
  | {
      readonly kind: 'finish';
      readonly webhook: number;
      readonly count: number;
      readonly isSuccess: boolean;
      readonly isSlow: boolean;
    };

const webhook = fc.nat({ max: webhookCount - 1 });
const count = fc.integer({ min: 1, max: 6 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('create'), webhook }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('remove', 'disable', 'enable'), webhook }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('raise'), owner: fc.nat({ max: 1 }), count }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('finish'),
        webhook,
        count,
        isSuccess: fc.boolean(),
        isSlow: fc.boolean(),
      }),
    },
  ),
  { minLength: 30, maxLength: 60 },
);

/** A worker without a network: it leases as the engine does, and its attempts end when a step says so. */
async function makeModel() {
  const owners = [newOwner(), newOwner()];
  const receivers = receiverConcurrency(share);
  const inFlight: DeliveryLease[] = [];
  const results: AttemptResult[] = [];
  const webhooks = new Map<number, { webhookId: string; status: 'active' | 'inactive' }>();
  let raised = 0;
  const clock: Clock = systemClock;
  const ownerOf = (number: number) => owners[number % 2] ?? '';
  const change = async (step: Step & { webhook: number }): Promise<void> => {
    const known = webhooks.get(step.webhook);
    const ownerId = ownerOf(step.webhook);
    if (step.kind === 'create') {
      if (known !== undefined) return;
      const { webhookId } = await addWebhook(db, ownerId);
      webhooks.set(step.webhook, { webhookId, status: 'active' });
      return;
    }
    if (known === undefined) return;
    const ref = { ownerId, webhookId: known.webhookId };
    await db.transaction(async (transaction) => {
      if (step.kind === 'remove') await removeWebhook(transaction, testOutbox(), ref);
      if (step.kind === 'disable') await disableWebhook(transaction, testOutbox(), ref);
      if (step.kind === 'enable') await enableWebhook(transaction, testOutbox(), ref);
    });
    if (step.kind === 'remove') webhooks.delete(step.webhook);
    else webhooks.set(step.webhook, { ...known, status: step.kind === 'enable' ? 'active' : 'inactive' });
  };
  const finish = (step: Step & { kind: 'finish' }): void => {
    const known = webhooks.get(step.webhook)?.webhookId;
    const present = new Set([...webhooks.values()].map(({ webhookId }) => webhookId));
    // Without such a webhook, attempts to removed ones end.
    const isEnding = ({ webhookId }: DeliveryLease) =>
      known === undefined ? !present.has(webhookId) : webhookId === known;
    const ending = inFlight.filter(isEnding).slice(0, step.count);
    for (const lease of ending) {
      inFlight.splice(inFlight.indexOf(lease), 1);
      const latencyMs = step.isSlow ? 5000 : 5;
      receivers.end(lease, { isSuccess: step.isSuccess, latencyMs, isCrowded: step.isSlow });
      results.push(resultOf(lease, step.isSuccess, clock.now()));
    }
  };
  const turn = async () => {
    const limits = {
      leaseMs: 3_600_000,
      total: concurrency - inFlight.length,
      perWebhook: share.perWebhook.start,
      perOwner: share.perOwner,
      available: receivers.available(),
      ...everyPart,
    };
    const taken = await takeTurn(world.worker(), results.splice(0), limits);
    for (const lease of taken.leases) {
      receivers.begin(lease);
      inFlight.push(lease);
    }
    return taken;
  };
  const raiseSome = async (step: Step & { kind: 'raise' }): Promise<void> => {
    for (let index = 0; index < step.count; index += 1) {
      raised += 1;
      await raise(ownerOf(step.owner), `${ownerOf(step.owner)}-${raised}`);
    }
  };
  return { owners, ownerOf, webhooks, receivers, inFlight, change, finish, turn, raiseSome };
}

function resultOf(lease: DeliveryLease, isSuccess: boolean, at: Date): AttemptResult {
  return {
    lease,
    attemptedAt: at,
    endedAt: at,
    httpStatus: isSuccess ? 200 : 503,
    latencyMs: 5,
    error: isSuccess ? '' : 'status 503',
    responseBody: '',
    status: isSuccess ? 'succeeded' : 'failed',
    nextAttemptAt: undefined,
  };
}

type Model = Awaited<ReturnType<typeof makeModel>>;

function countBy(model: Model, isCounted: (lease: DeliveryLease) => boolean): number {
  return model.inFlight.filter(isCounted).length;
}

/** A webhook below its own limit waits only while the limits of owner or worker are used up, and then fairly. */
async function checkShares(model: Model, leases: readonly DeliveryLease[]): Promise<void> {
  assert.ok(model.inFlight.length <= concurrency);
  for (const [number, { webhookId, status }] of model.webhooks) {
    const ownerId = model.ownerOf(number);
    const ofMerchant = countBy(model, (lease) => lease.ownerId === ownerId);
    assert.ok(ofMerchant <= share.perOwner, `${ofMerchant} attempts in flight to one owner`);
    const own = countBy(model, (lease) => lease.webhookId === webhookId);
    const available = model.receivers.available().webhooks.get(webhookId)?.free ?? share.perWebhook.start;
    const pending = (await deliveries(ownerId)).filter(
      (row) => row.webhook_id === webhookId && row.status === 'pending',
    );
    if (status !== 'active' || pending.length <= own || available === 0) continue;
    assert.ok(
      ofMerchant === share.perOwner || model.inFlight.length === concurrency,
      `${webhookId} waits with ${own} in flight, ${ofMerchant} of its owner, ${model.inFlight.length} in all`,
    );
    for (const lease of leases) {
      const others = countBy(model, ({ webhookId: other }) => other === lease.webhookId);
      if (lease.ownerId === ownerId)
        assert.ok(
          others <= own + 1,
          `${lease.webhookId} got its attempt ${others} before attempt ${own + 1}`,
        );
    }
  }
}

test('a waiting webhook gets attempts unless those in flight use up the limits, in every history', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const model = await makeModel();
      for (const step of history) {
        if (step.kind === 'raise') await model.raiseSome(step);
        else if (step.kind === 'finish') model.finish(step);
        else await model.change(step);
        const leases: DeliveryLease[] = [];
        for (let isMoreDue = true; isMoreDue; ) {
          const taken = await model.turn();
          leases.push(...taken.leases);
          ({ isMoreDue } = taken);
        }
        await checkShares(model, leases);
      }
      // Other histories must not find these deliveries.
      for (const number of [...model.webhooks.keys()])
        await model.change({ kind: 'remove', webhook: number });
    }),
    { numRuns: 40 },
  );
});
