import type pg from 'pg';
import { createProduct } from '#catalog/product.ts';
import { type Database, databaseOver } from '#db/database.ts';
import { statement } from '#db/statement.ts';
import { createLink } from '#links/link.ts';
import { createAccount } from '#merchants/account.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { releaseStopped } from '#reconcile/reconcile.ts';
import { createWebhook } from '#webhooks/webhook.ts';
import { Actors } from './actors.ts';
import type { Backup, Tables } from './backup.ts';
import { type Bug, bugs } from './bugs.ts';
import {
  check,
  checkForked,
  checkHalted,
  isAnyOpen,
  openDeposits,
  unrestOf,
  watchFinality,
} from './checker.ts';
import type { Connections } from './connections.ts';
import { chooseFaults, type FaultRates, Faults, onlyFaults } from './faults.ts';
import { merchantAddress } from './places.ts';
import { epochMs } from './process-model.ts';
import { Scheduler, type Teller } from './scheduler.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { origin, secrets } from './service-model.ts';
import { chooseSize, chooseStory, isAttestedLate, type Size, type Story } from './story.ts';
import { World } from './world.ts';

export interface HistoryOptions {
  readonly seed: number;
  /** How much happens; chosen by the seed when absent. */
  readonly size?: Size;
  /** A name of `bugs`; its patches must have been loaded. */
  readonly bugName?: string;
  readonly connections: Connections;
  readonly tables: Tables;
  /** Told every event. */
  readonly tell?: Teller;
}

export interface HistoryResult {
  readonly seed: number;
  readonly story: Story;
  /** What was violated; empty when the history is good. */
  readonly problems: readonly string[];
  readonly traceHash: number;
  readonly eventCount: number;
  readonly faultCounts: Readonly<Record<string, number>>;
  readonly reorgCount: number;
}

/** Virtual milliseconds that the service has, after the faults, to bring everything to rest. */
const restLimitMs = 600_000;
const lookEveryMs = 2_000;
/** Longer than a session may be paid. */
const expiryJumpMs = 2_000_000;
/** Longer than late payers wait, and than it takes to collect what they send. */
const latePayersMs = 240_000;
/** Longer than it takes until the service sees what lies at a deposit address. */
const depositSeenMs = 25_000;
/** Longer than what is short or late may wait for a decision. */
const lateJumpMs = 4_000_000;

/** Lives through one history and says what went wrong in it. The same seed gives the same history. */
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
  const world = new World({ story, random: random.fork('world'), scheduler, faults, connections, bug });
  await seedMerchant(world, connections, random.fork('merchant'));
  watchFinality(world);
  world.startChains();
  for (let place = 0; place < story.processCount; place += 1) world.startService(place);
  for (const [index, { character, startMs }] of story.sessions.entries()) {
    void new Actors(world, character, index).play(startMs);
  }
  planRestore(world, connections, tables);
  world.planDeepReorg();
  await scheduler.run(() => scheduler.nowMs >= story.calmMs);
  world.calm();
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

/** The database as a person has it who looks from outside: no fault strikes. */
function observed(connections: Connections): Database {
  const ask = connections.observer.query.bind(connections.observer);
  const pool = { query: ask, connect: async () => ({ query: ask, on() {}, off() {}, release() {} }) };
  return databaseOver(pool as unknown as pg.Pool, () => {});
}

/** A merchant with an account and a webhook, made before anything can fail. */
async function seedMerchant(world: World, connections: Connections, random: SeededRandom): Promise<void> {
  const db = observed(connections);
  const clock = { now: () => new Date(epochMs - 60_000), monotonicMs: () => 0, sleep: async () => {} };
  const deps = { clock, random, origin, chains: world.chains, secrets, addresses: { allowLoopback: false } };
  await db.transaction(async (transaction) => {
    const { merchantId } = await createMerchant(transaction, deps, { merchantName: 'Shop' });
    const account = await createAccount(transaction, deps, {
      merchantId,
      accountName: 'Main',
      accountAddress: merchantAddress,
      settlementCurrencies: world.chains.tokens.map(({ tokenId }) => tokenId),
    });
    await createWebhook(transaction, deps, {
      merchantId,
      body: {
        webhookName: 'Shop',
        webhookUrl: 'https://shop.example.com/hook',
        subscribedEvents: ['session.*', 'refund.*'],
      },
    });
    const { accountId } = account;
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

/** Has the database put back to an earlier state while the chains go on. */
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
 * As the restoring command does it, so that old sessions are not paid straight through beside orders that are lost. That it
 * also stops settlements until the books agree with the chains is left out: whatever happens must be right without.
 */
async function noteRestoration(world: World, { observer, memory }: Connections): Promise<void> {
  const at = new Date(epochMs + world.options.scheduler.nowMs);
  await observer.query(
    `insert into restorations (taken_at, restored_at, archive_hash, cursors) values ($1, $1, '', '[]')`,
    [at],
  );
  memory.forget();
}

/** Whether a transaction of ours that was not sent yet when the copy was made waits for its block. */
function isMidway({ models }: World, sentBefore: readonly number[]): boolean {
  return models.some(
    (model, index) =>
      model.isWaiting(model.settler) && model.pendingNonce(model.settler) > (sentBefore[index] ?? 0),
  );
}

/** Waits until nothing is left to do, then past every deadline and again; what is wrong then. */
async function comeToRest(world: World, connections: Connections): Promise<string[]> {
  const { observer: client } = connections;
  const { scheduler, story } = world.options;
  if (story.deepReorgMs !== undefined) return comeToHalt(world, client);
  const restless = async (what: string) => [...world.violations, ...(await checkForked(world, client)), what];
  const before = await unrestAfter(world, connections, false);
  if (before !== '') return restless(`never came to rest: ${before}`);
  // Where no session is left to expire, only some histories look whether that changes anything.
  const isAnyLeft = (await isAnyOpen(client)) || openDeposits(world).length > 0;
  const isOver = !isAnyLeft && !world.options.random.fork('jump').chance(story.size === 'long' ? 0.2 : 0.05);
  if (isOver) return check(world, client);
  scheduler.jump(expiryJumpMs);
  if (story.deposits !== undefined) {
    // Late payers send now, and what may be added is; what nobody accepts goes back after a later deadline.
    await waitForLatePayers(world, client);
    scheduler.jump(lateJumpMs);
  }
  const after = await unrestAfter(world, connections, true);
  if (after !== '') return restless(`never came to rest after the expiry: ${after}`);
  return check(world, client);
}

/** Waits until all payers have sent to deposit addresses, and what they sent is collected. */
async function waitForLatePayers(world: World, client: pg.Client): Promise<void> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + latePayersMs;
  await scheduler.run(() => scheduler.nowMs >= limitMs || world.deposits.every(({ isSent }) => isSent));
  await pass(world, depositSeenMs);
  while (scheduler.nowMs < limitMs && (await unrestOf(world, client, false)) !== '')
    await pass(world, lookEveryMs);
}

async function pass({ options: { scheduler } }: World, ms: number): Promise<void> {
  const untilMs = scheduler.nowMs + ms;
  await scheduler.run(() => scheduler.nowMs >= untilMs);
}

/** After a reorg below finality, chains that contradict what was final stand still, and nothing else does. */
async function comeToHalt(world: World, client: pg.Client): Promise<string[]> {
  await pass(world, 90_000);
  return [...world.violations, ...(await checkHalted(world, client))];
}

/** Waits for rest, for as long as is reasonable; what is left to do then. */
async function unrestAfter(world: World, connections: Connections, isExpiryOver: boolean): Promise<string> {
  const { scheduler } = world.options;
  const limitMs = scheduler.nowMs + restLimitMs;
  let unrest = 'nothing looked at';
  while (unrest !== '' && scheduler.nowMs < limitMs) {
    await pass(world, lookEveryMs);
    await releaseAgreed(connections);
    unrest = await unrestOf(world, connections.observer, isExpiryOver);
  }
  return unrest;
}

const stoppedWithoutReason = statement(
  'simulation_stopped',
  [],
  { chain_id: 'int8' },
  `select c.chain_id from chain_cursors c join chain_reconciliations r on r.chain_id = c.chain_id
   where c.stopped_reason = 'drift' and r.drift_runs = 0`,
);

/** The operator lets a chain settle again whose books agree with it by now. */
async function releaseAgreed(connections: Connections): Promise<void> {
  const db = observed(connections);
  for (const { chain_id: chainId } of await db.query(stoppedWithoutReason, [])) {
    await releaseStopped(db, Number(chainId));
    connections.memory.forget();
  }
}
