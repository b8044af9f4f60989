import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { statement } from '@florin/pg';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { emit } from '#webhooks/outbox.ts';
import { fuzzFactor } from '../fuzz/seed.ts';
import { type TestDatabase, testDatabase } from '../harness/database.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { addMerchant, addWebhook } from '../harness/webhook-fixture.ts';
import { place } from '../harness/webhook-world.ts';

const script = fileURLToPath(new URL('../harness/delivery-worker.ts', import.meta.url));
const objectCount = 60;
const eventsPerObject = 3;
/** Two in `npm test`, ten in `npm run test:deep`. */
const killCount = 2 * Math.min(fuzzFactor, 5);
/** How long the test waits for a condition: long enough for slow machines. */
const patienceMs = 120_000;

const succeededEvents = statement({
  name: 'delivery_kill_test_succeeded',
  parameters: { merchantId: 'text' },
  columns: { event_id: 'text' },
  text: `select event_id from deliveries where merchant_id = :merchantId and status = 'succeeded'`,
});

let database: TestDatabase;
let receiver: Receiver;
let folder: string;
const workers: ChildProcess[] = [];

before(async () => {
  [database, receiver, folder] = await Promise.all([
    testDatabase(),
    startReceiver(),
    mkdtemp(join(tmpdir(), 'florin-deliveries-')),
  ]);
  await writeFile(join(folder, 'ca.pem'), receiver.ca);
});
after(async () => {
  await Promise.all(workers.map(kill));
  await receiver.close();
  await database.close();
  await rm(folder, { recursive: true });
});

async function startWorker(): Promise<ChildProcess> {
  const child = spawn(
    process.execPath,
    ['--conditions=source', '--disable-warning=ExperimentalWarning', script],
    {
      env: {
        ...process.env,
        DELIVERY_DATABASE_URL: database.url,
        DELIVERY_MASTER_KEY: '07'.repeat(32),
        DELIVERY_LEASE_MS: '3000',
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  workers.push(child);
  await once(child, 'message');
  return child;
}

/** Ends a worker like a power cut. */
async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function raiseAll(merchantId: string): Promise<void> {
  for (let round = 0; round < eventsPerObject; round += 1) {
    for (let from = 0; from < objectCount; from += 10) {
      const events = Array.from({ length: 10 }, (_, index) => ({
        ownerId: merchantId,
        type: 'session.paid' as const,
        objectId: `${merchantId}-${from + index}`,
        dataJson: JSON.stringify({ objectId: `${merchantId}-${from + index}` }),
        at: systemClock.now(),
      }));
      await database.db.transaction((transaction) => emit(transaction, { random: systemRandom }, events));
      await delay(2);
    }
  }
}

// proves W6.26
test('SIGKILL of delivering processes loses no event, keeps the order, and repeats only attempts that were not stored', async (t) => {
  const { db } = database;
  const merchantId = await addMerchant(db);
  await addWebhook(db, merchantId, { webhookUrl: receiver.url });
  // Long enough that every kill finds attempts in flight.
  receiver.behave({ kind: 'slow', delayMs: 15 });
  const running = [await startWorker(), await startWorker()];
  const raising = raiseAll(merchantId);
  const total = objectCount * eventsPerObject;
  const repeatedAfterWrite: string[] = [];
  for (let index = 1; index <= killCount; index += 1) {
    const wanted = Math.floor((total / (killCount + 2)) * index);
    await receiver.waitFor(wanted, patienceMs);
    const victim = index % 2;
    await kill(running[victim] as ChildProcess);
    const written = new Set((await db.query(succeededEvents, { merchantId })).map((row) => row.event_id));
    const seen = receiver.requests.length;
    running[victim] = await startWorker();
    // Checked at the end for all later requests, too.
    repeatedAfterWrite.push(...[...written].map((eventId) => `${seen} ${eventId}`));
  }
  await raising;
  const deadline = performance.now() + patienceMs;
  while ((await db.query(succeededEvents, { merchantId })).length < total) {
    assert.ok(performance.now() < deadline, 'everything is delivered');
    await delay(20);
  }

  const ids = receiver.requests.map((request) => String(request.headers['webhook-id']));
  assert.equal(new Set(ids).size, total);
  const positions = Map.groupBy(ids.keys(), (index) => ids[index] ?? '');
  const needless = repeatedAfterWrite.filter((entry) => {
    const [seen = '', eventId = ''] = entry.split(' ');
    return (positions.get(eventId) ?? []).some((index) => index >= Number(seen));
  });
  assert.deepEqual(needless, []);
  t.diagnostic(`${total} events, ${killCount} kills, ${ids.length - total} sent again`);

  const lastOf = new Map<string, number>();
  for (const request of receiver.requests) {
    const { objectId, sequence } = place(request);
    const last = lastOf.get(objectId) ?? 0;
    // Only the last event may repeat; no event arrives before its predecessor.
    assert.ok(sequence === last || sequence === last + 1, `${objectId}: ${sequence} after ${last}`);
    lastOf.set(objectId, sequence);
  }
});
