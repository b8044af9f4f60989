import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { Clock } from './context.ts';
import { type AttemptResult, type Claim, takeTurn } from './delivery-turn.ts';
import { type LaneSettings, makeLanes } from './lane.ts';
import { addWebhook, hasty, newOwner, openOutboxWorld, systemClock, testOutbox } from './test-world.ts';
import { disableWebhook, enableWebhook, removeWebhook } from './webhook.ts';

const world = await openOutboxWorld();
after(() => world.close());
const { db, openReceiver, withWorker, raise, deliveries, untilStatus } = world;

test('forty webhooks that came and went leave all room to the one that is there', async () => {
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

test('three busy webhooks whose lanes could fill the share of their owner all make progress', async () => {
  const ownerId = newOwner();
  const settings = { ...hasty, perWebhook: { start: 8, least: 2, most: 8 }, perOwner: 16 };
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

const share: LaneSettings = { perWebhook: { start: 3, least: 1, most: 5 }, perOwner: 6 };
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

/** A worker without a network: it claims as the engine does, and its attempts end when a step says so. */
async function makeModel() {
  const owners = [newOwner(), newOwner()];
  const lanes = makeLanes(share);
  const inFlight: Claim[] = [];
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
    // Where there is no such webhook now, attempts to removed ones end.
    const isEnding = ({ webhookId }: Claim) =>
      known === undefined ? !present.has(webhookId) : webhookId === known;
    const ending = inFlight.filter(isEnding).slice(0, step.count);
    for (const claim of ending) {
      inFlight.splice(inFlight.indexOf(claim), 1);
      const latencyMs = step.isSlow ? 5000 : 5;
      lanes.end(claim, { isSuccess: step.isSuccess, latencyMs, isCrowded: step.isSlow });
      results.push(resultOf(claim, step.isSuccess, clock.now()));
    }
  };
  const turn = async () => {
    const limits = {
      leaseMs: 3_600_000,
      total: concurrency - inFlight.length,
      perWebhook: share.perWebhook.start,
      perOwner: share.perOwner,
      free: lanes.free(),
    };
    const taken = await takeTurn(world.worker(), results.splice(0), limits);
    for (const claim of taken.claims) {
      lanes.begin(claim);
      inFlight.push(claim);
    }
    return taken;
  };
  const raiseSome = async (step: Step & { kind: 'raise' }): Promise<void> => {
    for (let index = 0; index < step.count; index += 1) {
      raised += 1;
      await raise(ownerOf(step.owner), `${ownerOf(step.owner)}-${raised}`);
    }
  };
  return { owners, ownerOf, webhooks, lanes, inFlight, change, finish, turn, raiseSome };
}

function resultOf(claim: Claim, isSuccess: boolean, at: Date): AttemptResult {
  return {
    claim,
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

function countBy(model: Model, isCounted: (claim: Claim) => boolean): number {
  return model.inFlight.filter(isCounted).length;
}

/** Who waits although its own lane has room: only where all room is taken by attempts in flight, and fairly. */
async function checkShares(model: Model, claims: readonly Claim[]): Promise<void> {
  assert.ok(model.inFlight.length <= concurrency);
  for (const [number, { webhookId, status }] of model.webhooks) {
    const ownerId = model.ownerOf(number);
    const ofMerchant = countBy(model, (claim) => claim.ownerId === ownerId);
    assert.ok(ofMerchant <= share.perOwner, `${ofMerchant} attempts in flight to one owner`);
    const own = countBy(model, (claim) => claim.webhookId === webhookId);
    const room = model.lanes.free().webhooks.get(webhookId)?.free ?? share.perWebhook.start;
    const pending = (await deliveries(ownerId)).filter(
      (row) => row.webhook_id === webhookId && row.status === 'pending',
    );
    if (status !== 'active' || pending.length <= own || room === 0) continue;
    assert.ok(
      ofMerchant === share.perOwner || model.inFlight.length === concurrency,
      `${webhookId} waits with ${own} in flight, ${ofMerchant} of its owner, ${model.inFlight.length} in all`,
    );
    for (const claim of claims) {
      const others = countBy(model, ({ webhookId: other }) => other === claim.webhookId);
      if (claim.ownerId === ownerId)
        assert.ok(
          others <= own + 1,
          `${claim.webhookId} got its attempt ${others} before attempt ${own + 1}`,
        );
    }
  }
}

test('a webhook that waits gets room unless attempts in flight take it all, whatever comes, goes, fails or rests', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      const model = await makeModel();
      for (const step of history) {
        if (step.kind === 'raise') await model.raiseSome(step);
        else if (step.kind === 'finish') model.finish(step);
        else await model.change(step);
        const claims: Claim[] = [];
        for (let isMoreDue = true; isMoreDue; ) {
          const taken = await model.turn();
          claims.push(...taken.claims);
          ({ isMoreDue } = taken);
        }
        await checkShares(model, claims);
      }
      // What other histories must not see as due.
      for (const number of [...model.webhooks.keys()])
        await model.change({ kind: 'remove', webhook: number });
    }),
    { numRuns: 40 },
  );
});
