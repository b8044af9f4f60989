import { createWebhook } from '@florin/outbox';
import { statement } from '@florin/pg';
import { createAccount, createLink, createMerchant, outboxContext } from '@florin/server/operator';
import { createProduct } from '@florin/server/parts';
import { Actors } from './actors.ts';
import type { Backup, Tables } from './backup.ts';
import type { Bug } from './bug.ts';
import { bugs } from './bugs.ts';
import { watchFinality } from './checker.ts';
import { accountAddressOf, merchantAddress } from './configuration.ts';
import type { Connections } from './connections.ts';
import { chooseFaults, type FaultRates, Faults, onlyFaults } from './faults.ts';
import { finishAllWork, observerDatabase } from './finish-work.ts';
import { revertPolicyChanges, schedulePolicyChanges } from './policy-changes.ts';
import { epochMs } from './process-model.ts';
import { chooseScenario, chooseSize, type Scenario, type Size, testsAttestations } from './scenario.ts';
import { type PrintLine, Scheduler } from './scheduler.ts';
import { type SeededRandom, seededRandom } from './seeded-random.ts';
import { origin, secrets } from './service-model.ts';
import { runSession } from './session-run.ts';
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
  readonly print?: PrintLine;
}

export interface HistoryResult {
  readonly seed: number;
  readonly scenario: Scenario;
  /** The violations. Empty when the history is good. */
  readonly violations: readonly string[];
  readonly traceHash: number;
  readonly eventCount: number;
  readonly faultCounts: Readonly<Record<string, number>>;
  readonly reorgCount: number;
}

/** Runs one history and returns its violations. The same seed gives the same history. */
export async function runHistory(options: HistoryOptions): Promise<HistoryResult> {
  const { seed, connections, tables } = options;
  const random = seededRandom(seed);
  const bug = findBug(options.bugName);
  const size = options.size ?? chooseSize(random.fork('size'));
  const drawn = chooseScenario(random.fork('story'), size);
  const scenario = bug?.scenario?.(drawn) ?? drawn;
  const scheduler = new Scheduler(options.print);
  const faults = new Faults(chooseRates(bug, scenario, random.fork('rates')), random.fork('faults'));
  await tables.empty();
  const world = new World({
    scenario,
    random: random.fork('world'),
    scheduler,
    faults,
    connections,
    bug,
  });
  await seedMerchant(world, connections, random.fork('merchant'));
  watchFinality(world);
  world.startChains();
  for (let index = 0; index < scenario.processCount; index += 1) world.startService(index);
  for (const [index, { behaviour, startMs }] of scenario.sessions.entries()) {
    void runSession(new Actors(world, behaviour, index), startMs);
  }
  scheduleRestore(world, connections, tables);
  world.scheduleDeepReorg();
  schedulePolicyChanges(world);
  await scheduler.run(() => scheduler.nowMs >= scenario.faultsEndMs);
  world.endFaults();
  if (scenario.policy !== undefined) await revertPolicyChanges(world);
  const violations = await finishAllWork(world, connections);
  await world.killProcesses();
  scheduler.clear();
  const reorgCount = world.models.reduce((sum, model) => sum + model.reorgDepths.length, 0);
  const { traceHash, eventCount } = scheduler;
  const faultCounts = Object.fromEntries(faults.counts);
  return { seed, scenario, violations, traceHash, eventCount, faultCounts, reorgCount };
}

function findBug(name: string | undefined): Bug | undefined {
  if (name === undefined) return undefined;
  const bug = bugs[name];
  if (bug === undefined) throw new RangeError(`no bug has the name ${name}: ${Object.keys(bugs).join(', ')}`);
  return bug;
}

function chooseRates(bug: Bug | undefined, scenario: Scenario, random: SeededRandom): FaultRates {
  const required = testsAttestations(scenario) ? (['attestation'] as const) : [];
  const rates = chooseFaults(random, scenario.size, [...required, ...(bug?.faults ?? [])]);
  return bug?.hasNoOtherFaults === true ? onlyFaults(rates, bug.faults ?? []) : rates;
}

// Older accounts may have an address that a new account may not.
const setAccountAddress = statement({
  name: 'simulation_account_address',
  parameters: { accountId: 'text', accountAddress: 'text' },
  text: 'update accounts set account_address = :accountAddress where account_id = :accountId',
});

/** Creates a merchant with an account and a webhook before any fault can occur. */
async function seedMerchant(world: World, connections: Connections, random: SeededRandom): Promise<void> {
  const db = observerDatabase(connections);
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
    await transaction.query(setAccountAddress, {
      accountId,
      accountAddress: accountAddressOf(world.chains, world.options.scenario),
    });
    world.merchantId = merchantId;
    world.accountId = accountId;
    if (!world.options.scenario.sessions.some(({ behaviour }) => behaviour === 'agent')) return;
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
function scheduleRestore(world: World, connections: Connections, tables: Tables): void {
  const { scheduler, scenario } = world.options;
  const { restore } = scenario;
  if (restore === undefined) return;
  let backup: Backup | undefined;
  let noncesAtBackup: readonly number[] = [];
  scheduler.after(restore.backupMs, world.owner, 'backup', async () => {
    noncesAtBackup = world.models.map((model) => model.pendingNonce(model.settler));
    backup = await tables.copy();
  });
  const restoreWhenReady = async () => {
    if (
      restore.waitsForUnknownTransaction &&
      scheduler.nowMs < scenario.faultsEndMs &&
      !isUnknownTransactionPending(world, noncesAtBackup)
    ) {
      scheduler.after(500, world.owner, 'restore', restoreWhenReady);
      return;
    }
    world.canStartProcesses = false;
    await world.killProcesses();
    if (backup !== undefined) await tables.restore(backup);
    await recordRestore(world, connections);
    world.canStartProcesses = true;
  };
  scheduler.after(restore.restoreMs, world.owner, 'restore', restoreWhenReady);
}

/**
 * Like the restore command: old sessions are not paid directly while orders are lost. The command also stops
 * settlements until the books agree with the chains. The simulation omits that, because the service must be correct
 * without it.
 */
async function recordRestore(world: World, { observer, cache }: Connections): Promise<void> {
  const at = new Date(epochMs + world.options.scheduler.nowMs);
  await observer.query(
    `insert into restorations (taken_at, restored_at, archive_hash, cursors) values ($1, $1, '', '[]')`,
    [at],
  );
  cache.clear();
}

/** Whether one of the service's transactions is pending that was not sent yet at the time of the backup. */
function isUnknownTransactionPending({ models }: World, noncesAtBackup: readonly number[]): boolean {
  return models.some(
    (model, index) =>
      model.hasPending(model.settler) && model.pendingNonce(model.settler) > (noncesAtBackup[index] ?? 0),
  );
}
