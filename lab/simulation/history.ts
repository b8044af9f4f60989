import { createWebhook } from '@florin/outbox';
import { statement } from '@florin/pg';
import { createAccount, createLink, createMerchant, outboxContext } from '@florin/server/operator';
import { createProduct } from '@florin/server/parts';
import { Actors } from './actors.ts';
import type { Backup, Tables } from './backup.ts';
import type { Bug } from './bug.ts';
import { bugs } from './bugs.ts';
import { watchFinality } from './checker.ts';
import type { Connections } from './connections.ts';
import { chooseFaults, type FaultRates, Faults, onlyFaults } from './faults.ts';
import { accountAddressOf, merchantAddress } from './places.ts';
import { endPolicy, planPolicy } from './policy-play.ts';
import { epochMs } from './process-model.ts';
import { comeToRest, observed } from './rest.ts';
import { Scheduler, type Teller } from './scheduler.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { origin, secrets } from './service-model.ts';
import { playSession } from './session-play.ts';
import { chooseSize, chooseStory, isAttestedLate, type Size, type Story } from './story.ts';
import { World } from './world.ts';

export interface HistoryOptions {
  readonly seed: number;
  /** The amount of activity. Chosen by the seed when absent. */
  readonly size?: Size;
  /** A name in `bugs`. Its patches must already be loaded. */
  readonly bugName?: string;
  readonly connections: Connections;
  readonly tables: Tables;
  /** Receives every event. */
  readonly tell?: Teller;
}

export interface HistoryResult {
  readonly seed: number;
  readonly story: Story;
  /** The violations. Empty when the history is good. */
  readonly problems: readonly string[];
  readonly traceHash: number;
  readonly eventCount: number;
  readonly faultCounts: Readonly<Record<string, number>>;
  readonly reorgCount: number;
}

/** Runs one history and returns its violations. The same seed gives the same history. */
export async function runHistory(options: HistoryOptions): Promise<HistoryResult> {
  const { seed, connections, tables } = options;
  const random = seededRandom(seed);
  const bug = bugOf(options.bugName);
  const size = options.size ?? chooseSize(random.fork('size'));
  const chosen = chooseStory(random.fork('story'), size);
  const story = bug?.story?.(chosen) ?? chosen;
  const scheduler = new Scheduler(options.tell);
  const faults = new Faults(ratesOf(bug, story, random.fork('rates')), random.fork('faults'));
  await tables.empty();
  const world = new World({
    story,
    random: random.fork('world'),
    scheduler,
    faults,
    connections,
    bug,
  });
  await seedMerchant(world, connections, random.fork('merchant'));
  watchFinality(world);
  world.startChains();
  for (let place = 0; place < story.processCount; place += 1) world.startService(place);
  for (const [index, { character, startMs }] of story.sessions.entries()) {
    void playSession(new Actors(world, character, index), startMs);
  }
  planRestore(world, connections, tables);
  world.planDeepReorg();
  planPolicy(world);
  await scheduler.run(() => scheduler.nowMs >= story.calmMs);
  world.calm();
  if (story.policy !== undefined) await endPolicy(world);
  const problems = await comeToRest(world, connections);
  await world.killAll();
  scheduler.clear();
  const reorgCount = world.models.reduce((sum, model) => sum + model.reorgDepths.length, 0);
  const { traceHash, eventCount } = scheduler;
  const faultCounts = Object.fromEntries(faults.counts);
  return { seed, story, problems, traceHash, eventCount, faultCounts, reorgCount };
}

function bugOf(name: string | undefined): Bug | undefined {
  if (name === undefined) return undefined;
  const bug = bugs[name];
  if (bug === undefined) throw new RangeError(`no bug has the name ${name}: ${Object.keys(bugs).join(', ')}`);
  return bug;
}

function ratesOf(bug: Bug | undefined, story: Story, random: SeededRandom): FaultRates {
  const always = isAttestedLate(story) ? (['attestation'] as const) : [];
  const rates = chooseFaults(random, story.size, [...always, ...(bug?.faults ?? [])]);
  return bug?.isQuietOtherwise === true ? onlyFaults(rates, bug.faults ?? []) : rates;
}

// Older accounts may have an address that a new account may not.
const writeAddress = statement({
  name: 'simulation_account_address',
  parameters: { accountId: 'text', accountAddress: 'text' },
  columns: {},
  text: 'update accounts set account_address = :accountAddress where account_id = :accountId',
});

/** Creates a merchant with an account and a webhook before any fault can strike. */
async function seedMerchant(world: World, connections: Connections, random: SeededRandom): Promise<void> {
  const db = observed(connections);
  const clock = { now: () => new Date(epochMs - 60_000), monotonicMs: () => 0, sleep: async () => {} };
  const deps = { clock, random, origin, chains: world.chains, secrets };
  await db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Shop' });
    const account = await createAccount(transaction, deps, {
      merchantId,
      accountName: 'Main',
      accountAddress: merchantAddress,
      settlementCurrencies: world.chains.tokens.map(({ tokenId }) => tokenId),
    });
    await createWebhook(transaction, outboxContext(deps), {
      ownerId: merchantId,
      fields: {
        webhookName: 'Shop',
        webhookUrl: 'https://shop.example.com/hook',
        subscribedEvents: ['session.*', 'refund.*'],
      },
    });
    const { accountId } = account;
    await transaction.query(writeAddress, {
      accountId,
      accountAddress: accountAddressOf(world.chains, world.options.story),
    });
    world.merchantId = merchantId;
    world.accountId = accountId;
    if (!world.options.story.sessions.some(({ character }) => character === 'agent')) return;
    const settlementToken = world.chains.tokens[0]?.tokenId ?? '';
    const body = { name: 'Tea', commonPrices: [10_000_000] };
    const { productId } = await createProduct(transaction, deps, { merchantId, body });
    const items = [{ itemType: 'product', productId, quantity: 1, unitPrice: 10_000_000 } as const];
    const terms = { linkType: 'fixed', linkName: 'Tea', accountId, settlementToken, feeModel: 2 } as const;
    const link = { merchantId, body: { ...terms, lineItems: items } };
    world.linkId = (await createLink(transaction, { ...deps, isPayable: () => true }, link)).linkId;
  });
}

/** Restores an earlier state of the database while the chains continue. */
function planRestore(world: World, connections: Connections, tables: Tables): void {
  const { scheduler, story } = world.options;
  const { restore } = story;
  if (restore === undefined) return;
  let backup: Backup | undefined;
  let sentBefore: readonly number[] = [];
  scheduler.after(restore.backupMs, world.owner, 'backup', async () => {
    sentBefore = world.models.map((model) => model.pendingNonce(model.settler));
    backup = await tables.copy();
  });
  const putBack = async () => {
    if (restore.isMidway && scheduler.nowMs < story.calmMs && !isMidway(world, sentBefore)) {
      scheduler.after(500, world.owner, 'restore', putBack);
      return;
    }
    world.mayStart = false;
    await world.killAll();
    if (backup !== undefined) await tables.restore(backup);
    await noteRestoration(world, connections);
    world.mayStart = true;
  };
  scheduler.after(restore.restoreMs, world.owner, 'restore', putBack);
}

/**
 * Like the restore command: old sessions are not paid directly while orders are lost. The command also stops
 * settlements until the books agree with the chains. The simulation omits that, because the service must be correct
 * without it.
 */
async function noteRestoration(world: World, { observer, memory }: Connections): Promise<void> {
  const at = new Date(epochMs + world.options.scheduler.nowMs);
  await observer.query(
    `insert into restorations (taken_at, restored_at, archive_hash, cursors) values ($1, $1, '', '[]')`,
    [at],
  );
  memory.forget();
}

/** Whether one of the service's transactions is pending that was not sent yet at the time of the backup. */
function isMidway({ models }: World, sentBefore: readonly number[]): boolean {
  return models.some(
    (model, index) =>
      model.isWaiting(model.settler) && model.pendingNonce(model.settler) > (sentBefore[index] ?? 0),
  );
}
