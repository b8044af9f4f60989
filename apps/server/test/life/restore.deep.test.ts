import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Database, openDatabase, type ThrowAwayDatabase } from '@florin/pg';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import { encodeEventTopics } from 'viem';
import { backUp } from '#backup/backup.ts';
import { restore } from '#backup/restore.ts';
import { schema } from '#db/schema.ts';
import { ledgerBalances } from '#ledger/entry.ts';
import { verifyLedger } from '#ledger/seal.ts';
import { reportRestoration } from '#payments/restoration.ts';
import type { BooksStatus } from '#reconcile/status.ts';
import type { ProcessRole } from '../../src/service/options.ts';
import { startService } from '../../src/service/service.ts';
import { emptyDatabase } from '../harness/database.ts';
import { Life } from './life.ts';
import { Payer } from './payer.ts';
import { checkout } from './story-fixture.ts';

const allRoles: readonly ProcessRole[] = ['web', 'watcher', 'worker'];
let roles = allRoles;
let restored: ThrowAwayDatabase;
let db: Database;
let databaseUrl: string | undefined;
let life: Life;

before(async () => {
  restored = await emptyDatabase();
  life = await Life.start((options) =>
    startService({
      ...options,
      databaseUrl: databaseUrl ?? options.databaseUrl,
      roles: new Set(roles),
      reconcileIntervalMs: 200,
    }),
  );
  life.mine();
});
after(async () => {
  await life.close();
  await db?.close();
  await restored.close();
});

async function restart(...wanted: readonly ProcessRole[]): Promise<void> {
  await life.stopService();
  roles = wanted;
  await life.startService();
}

interface Sale {
  readonly sessionId: string;
  readonly orderId: string;
  pay(): Promise<string>;
}

/** A session with a signed order; the story pays it later. */
async function sell(settlementToken = 'ethereum::usdc'): Promise<Sale> {
  const token = life.ethereum.token('usdc');
  const payer = new Payer(life);
  await payer.fund(life.ethereum, token, 1_000_000n);
  const sessionId = await checkout(life, 1_000_000, settlementToken);
  const prepared = await payer.prepare(sessionId, token);
  return {
    sessionId,
    orderId: prepared.aiView.paymentExecutionGuide.order.orderId,
    pay: () => payer.execute(life.ethereum, prepared),
  };
}

/** The number of events of one name for each order, on both chains. */
async function ordersIn(eventName: 'Paid' | 'Settled' | 'PaidOut'): Promise<Map<string, number>> {
  const [selector] = encodeEventTopics({ abi: [...paymentGatewayAbi, ...payoutVaultAbi], eventName });
  const counts = new Map<string, number>();
  for (const { anvil, chain } of [life.ethereum, life.base]) {
    const filter = {
      fromBlock: '0x0',
      toBlock: 'latest',
      address: [chain.gateway, chain.vault],
      topics: [selector],
    };
    for (const { topics } of (await anvil.request('eth_getLogs', [filter])) as { topics: string[] }[])
      counts.set(topics[1] ?? '', (counts.get(topics[1] ?? '') ?? 0) + 1);
  }
  return counts;
}

async function status(): Promise<BooksStatus> {
  return (await (await fetch(`${life.options.origin}/status`)).json()) as BooksStatus;
}

async function merchantHolds(): Promise<[bigint, bigint]> {
  return [
    await life.ethereum.balanceOf(life.ethereum.token('usdc'), life.merchantWallet),
    await life.base.balanceOf(life.base.token('usdc'), life.merchantWallet),
  ];
}

/** Sales in every state, and a backup taken while settlement and delivery were stopped. */
async function tradeAndBackUp() {
  const finished = await sell();
  await finished.pay();
  await life.sessionIn(finished.sessionId, 'completed');
  await restart('web', 'watcher');
  const unpaid = await sell();
  const paid = await sell();
  const crossing = await sell('base::usdc');
  for (const sale of [paid, crossing]) {
    await sale.pay();
    await life.sessionIn(sale.sessionId, 'paid');
  }

  const archive: Buffer[] = [];
  await backUp(life.database.url, {
    now: life.options.clock.now(),
    async write(bytes) {
      archive.push(bytes);
    },
  });
  return { finished, unpaid, paid, crossing, archive };
}

/** Checks that the restored books are sealed and match the gateway's balances. */
async function assertBooks(): Promise<void> {
  const balances = await ledgerBalances(db);
  const gateway = balances.find(({ account }) => account === 'gateway:ethereum');
  assert.equal(
    gateway?.balance,
    await life.ethereum.balanceOf(life.ethereum.token('usdc'), life.ethereum.chain.gateway),
  );
  assert.deepEqual((await verifyLedger(db)).problems, []);
}

test('after an old backup is restored, the chains restore everything that they know, and nothing is settled twice', async () => {
  const { finished, unpaid, paid, crossing, archive } = await tradeAndBackUp();
  await restart(...allRoles);
  await unpaid.pay();
  for (const { sessionId } of [unpaid, paid, crossing]) await life.sessionIn(sessionId, 'completed');
  const later = await sell();
  await later.pay();
  await life.sessionIn(later.sessionId, 'completed');
  const settledBefore = await ordersIn('Settled');
  const heldBefore = await merchantHolds();
  const [paidBefore] = (await life.eventOf(paid.sessionId, 'session.completed')).filter(
    ({ type }) => type === 'session.paid',
  );

  await life.stopService();
  await restore(restored.url, {
    now: life.options.clock.now(),
    source: (async function* () {
      yield* archive;
    })(),
  });
  databaseUrl = restored.url;
  db = openDatabase({ schema, url: restored.url });
  const early = await reportRestoration(db);
  assert.deepEqual(
    early?.chains.map(({ stopped }) => stopped),
    ['restored', 'restored'],
  );
  const heard = life.receiver.requests.length;
  await life.startService();

  for (const { sessionId } of [finished, unpaid, paid, crossing])
    await life.sessionIn(sessionId, 'completed');
  await life.eventually(status, (books) => books.isBalanced, 'books and chains to agree');
  assert.equal((await life.call('GET', `/session/${later.sessionId}`)).code, 100_201);

  const fresh = await sell('base::usdc');
  await fresh.pay();
  await life.sessionIn(fresh.sessionId, 'completed');
  await life.pauseMining();

  assert.deepEqual(
    [...(await ordersIn('Settled'))].filter(([, count]) => count !== 1),
    [],
  );
  assert.deepEqual(
    [...(await ordersIn('PaidOut'))].sort(),
    [crossing, fresh].map(({ orderId }): [string, number] => [orderId, 1]).sort(),
  );
  assert.equal((await ordersIn('Settled')).size, settledBefore.size + 1);
  assert.deepEqual(await merchantHolds(), [heldBefore[0], heldBefore[1] + 994_000n]);

  const again = life.receiver.requests
    .slice(heard)
    .map((request) => JSON.parse(request.body) as { id: string });
  assert.ok(
    again.some(({ id }) => id === paidBefore?.id),
    'what waited to be sent when the backup was taken is sent again under its old id',
  );

  const report = await reportRestoration(db);
  assert.deepEqual(
    report?.unmatched.map(({ orderId, status: became, total, recipient }) => [
      orderId,
      became,
      total,
      recipient,
    ]),
    [[later.orderId, 'settled', 1_000_000n, life.merchantWallet]],
  );
  assert.deepEqual(
    report?.chains.map(({ stopped }) => stopped),
    ['', ''],
  );
  await assertBooks();
});
