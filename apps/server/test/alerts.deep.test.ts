import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withSystemScope } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { findFreePort } from '@florin/world';
import { JsonRpcProvider, Wallet } from 'ethers';
import pg from 'pg';
import { backUp } from '#backup/backup.ts';
import { awaitLock } from '#db/advisory-lock.ts';
import { schema } from '#db/schema.ts';
import { startService } from '../src/service/service.ts';
import { Life } from './life/life.ts';
import { Payer } from './life/payer.ts';
import { addresses, keys } from './life/roles.ts';
import { checkout } from './life/story-fixture.ts';

const rulesFile = fileURLToPath(new URL('../../../deploy/monitoring/florin.rules.yml', import.meta.url));
/** Slow machines need it: after a difference the books are compared each minute. */
const patienceMs = 600_000;
const lookMs = 1_000;
/** The rules wait for minutes and hours. Here they wait for seconds; nothing else is changed. */
const quick: readonly (readonly [RegExp, string])[] = [
  [/for: \d+m/g, 'for: 2s'],
  [/\[\d+m\]/g, '[40s]'],
  [/(florin_watcher_age_seconds\)) > 120/, '$1 > 20'],
  [/(florin_reconciled_age_seconds\)) > 900/, '$1 > 150'],
  [/(florin_settlement_oldest_seconds\)) > 3600/, '$1 > 5'],
  [/(florin_transaction_oldest_seconds\)) > 1800/, '$1 > 20'],
  [/(florin_webhook_oldest_due_seconds\)) > 300/, '$1 > 5'],
];
/** The others need an hour of slow answers, a reorg of final blocks, or books that differ: promtool plays them (monitoring.deep.test.ts). */
const played = [
  ...[
    'FlorinAnswersSlow',
    'FlorinBooksDiffer',
    'FlorinChainHalted',
    'FlorinDatabaseBusy',
    'FlorinExceptionsOpen',
  ],
  ...['FlorinSettlementDelayed', 'FlorinSettlementStopped', 'FlorinVaultShort'],
];

let folder = '';
before(async () => {
  if (spawnSync('prometheus', ['--version']).error !== undefined)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'prometheus'], {
      stdio: 'inherit',
    });
  folder = await mkdtemp(join(tmpdir(), 'florin-alerts-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A fault of the world, the alerts that it must raise, and its end, after which all of them must clear. */
interface Trouble {
  readonly alerts: readonly string[];
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
}

/** What the faults are made with. */
interface World {
  readonly life: Life;
  readonly sql: pg.Client;
  readonly backups: string;
  settlerKey: Hex;
}

/** A payment on a chain for a settlement token. Returns the session. */
async function pay({ life }: World, chain: Life['base'], settlementToken: string, price = 2_000_000) {
  const payer = new Payer(life);
  await payer.fund(chain, chain.token('usdc'), BigInt(price));
  const sessionId = await checkout(life, price, settlementToken);
  await payer.execute(chain, await payer.prepare(sessionId, chain.token('usdc')));
  return sessionId;
}

/** Sets the caps of a chain's vault, in whole tokens. */
async function setCaps(life: Life['base'], perOrder: number, total: number): Promise<void> {
  for (const { address, decimals } of life.chain.tokens) {
    const units = (amount: number) => BigInt(amount * 10) * 10n ** BigInt(decimals - 1);
    const caps = [units(perOrder), units(total), units(total)];
    await life.call(life.chain.vault, 'PayoutVault', 'setCaps', [address, ...caps]);
  }
}

/** Holds locks of the database until the returned function is called. */
async function holding({ life }: World, statement: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: withSystemScope(life.database.url, schema) });
  await client.connect();
  await client.query('begin');
  await client.query(statement);
  return () => client.end();
}

/** The processes, the nodes, and the wallets and vaults of a chain. */
function chainTroubles(world: World): readonly Trouble[] {
  const { life } = world;
  const { base } = life;
  return [
    {
      alerts: ['FlorinBackupOld'],
      begin: async () => undefined,
      async end() {
        const file = createWriteStream(join(world.backups, 'florin.gz'));
        const write = (bytes: Buffer) =>
          new Promise<void>((resolve, reject) => {
            file.write(bytes, (error) => (error === null || error === undefined ? resolve() : reject(error)));
          });
        await backUp(life.database.url, { now: new Date(), write });
        await new Promise((resolve) => file.end(resolve));
      },
    },
    {
      alerts: ['FlorinProcessDown'],
      begin: () => life.stopService(),
      end: () => life.startService(),
    },
    {
      alerts: [
        'FlorinPaymentsUnavailable base',
        'FlorinWatcherStopped base',
        'FlorinNodeFails base',
        'FlorinBooksNotCompared base',
      ],
      begin: async () => base.anvil.pause(true),
      end: async () => base.anvil.pause(false),
    },
    {
      alerts: ['FlorinGasLow base', 'FlorinGasOut base', 'FlorinTransactionStuck base'],
      async begin() {
        await life.sessionIn(await pay(world, base, 'base::usdc'), 'completed');
        await base.anvil.request('anvil_setBalance', [addresses.settler, '0x1']);
        await pay(world, base, 'base::usdc');
      },
      async end() {
        await base.anvil.request('anvil_setBalance', [addresses.settler, '0x56bc75e2d63100000']);
      },
    },
    {
      alerts: ['FlorinCapNearlyUsed base::usdc'],
      async begin() {
        await life.sessionIn(await pay(world, life.ethereum, 'base::usdc'), 'completed');
        await setCaps(base, 2, 2.1);
      },
      end: () => setCaps(base, 1_000, 1_000_000),
    },
  ];
}

/** Deliveries, answers, and payments that wait for a person. */
function workTroubles(world: World): readonly Trouble[] {
  const { life, sql } = world;
  let end: () => Promise<void> = async () => undefined;
  return [
    {
      alerts: ['FlorinWebhooksPaused'],
      async begin() {
        life.receiver.behave({ kind: 'answer', status: 410 });
        await checkout(life, 1_000_000);
      },
      async end() {
        life.receiver.behave({ kind: 'answer', status: 204 });
        const { rows } = await sql.query("select webhook_id from webhooks where status = 'paused'");
        await life.post('/webhook/enable', { webhookId: rows[0]?.webhook_id });
      },
    },
    {
      alerts: ['FlorinWebhooksOverdue'],
      async begin() {
        end = await holding(world, `select ${awaitLock('deliveries')}`);
        await checkout(life, 1_000_000);
      },
      end: () => end(),
    },
  ];
}

/** What is in the database, what contradicts it on chain, and keys that others use. */
function strangeTroubles(world: World): readonly Trouble[] {
  const { life, sql } = world;
  const { base } = life;
  return [
    {
      alerts: ['FlorinMailsWaiting'],
      async begin() {
        await sql.query(`insert into mails (fact, recipient, kind, language, sealed_data, status, next_attempt_at, created_at)
          select 'alert:' || n, 'payer@example.com', 'paid', '', '\\x00', 'pending', now() + interval '1 day', now()
          from generate_series(1, 101) as n`);
      },
      async end() {
        await sql.query("delete from mails where fact like 'alert:%'");
      },
    },
    {
      alerts: ['FlorinErrors'],
      begin: async () => void (await sql.query('alter table session_search_queue rename to away')),
      end: async () => void (await sql.query('alter table away rename to session_search_queue')),
    },
    {
      alerts: ['FlorinOrderUnknown base'],
      async begin() {
        await sql.query(
          `insert into unmatched_payments (chain_id, order_id, tx_hash, block_number, block_time, channel_id, meta_data, payer,
             recipient, token, total, payment, fee, order_type, status)
           values ($1, '0x01', '0x02', 1, now(), '0x', '0x', '0x', '0x', '0x', 1, 1, 0, 0, 'paid')`,
          [base.chain.chainId],
        );
      },
      async end() {
        await sql.query("delete from unmatched_payments where order_id = '0x01'");
      },
    },
    {
      alerts: ['FlorinWalletUsedElsewhere base'],
      async begin() {
        const [url = ''] = base.chain.rpcUrls;
        const wallet = new Wallet(keys.settler, new JsonRpcProvider(url));
        await wallet.sendTransaction({ to: wallet.address, value: 1n });
      },
      async end() {
        await life.stopService();
        world.settlerKey = `0x${'7'.repeat(64)}`;
        await life.startService();
      },
    },
  ];
}

/** The alerts that fire, with the chain or token that they are about. */
async function firingAt(port: number): Promise<string[]> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/alerts`).catch(() => undefined);
  // It does not answer, or with 503, while it starts.
  if (response?.ok !== true) return ['Prometheus does not answer'];
  const { data } = (await response.json()) as {
    data: { alerts: { state: string; labels: Record<string, string> }[] };
  };
  return data.alerts
    .filter(({ state }) => state === 'firing')
    .map(({ labels }) => `${labels['alertname']} ${labels['chain'] ?? labels['token'] ?? ''}`.trim());
}

function startPrometheus(port: number): ChildProcess {
  const own = ['--config.file', join(folder, 'prometheus.yml'), '--storage.tsdb.path', join(folder, 'data')];
  return spawn('prometheus', [...own, '--web.listen-address', `127.0.0.1:${port}`], { stdio: 'ignore' });
}

test('a real Prometheus over a real service raises alerts in their troubles, and ends them afterwards', async () => {
  const rules = quick.reduce((text, [from, to]) => text.replace(from, to), await readFile(rulesFile, 'utf8'));
  await writeFile(join(folder, 'rules.yml'), rules);
  const [port, own] = [await findFreePort(), await findFreePort()];
  const backups = join(folder, 'backups');
  await mkdir(backups);
  const world = { backups, settlerKey: keys.settler as Hex };
  const life = await Life.start((options) =>
    startService({
      ...options,
      databaseConnections: 10,
      settlerKey: world.settlerKey,
      monitoring: { host: '127.0.0.1', port, backups },
    }),
  );
  const sql = new pg.Client({ connectionString: withSystemScope(life.database.url, schema) });
  await sql.connect();
  life.mine();
  // Below the floats of the vaults.
  for (const chain of [life.ethereum, life.base]) await setCaps(chain, 1_000, 1_000_000);
  const config = {
    global: { scrape_interval: '5s', evaluation_interval: '2s', scrape_timeout: '5s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'florin', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
  };
  await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
  const prometheus = startPrometheus(own);
  const until = async (what: string, isSo: (firing: readonly string[]) => boolean) => {
    const begin = performance.now();
    for (;;) {
      const firing = await firingAt(own);
      if (isSo(firing)) return;
      assert.ok(performance.now() - begin < patienceMs, `${what}; firing: ${firing.join(', ')}`);
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  };
  const whole = Object.assign(world, { life, sql });
  const troubles = [...chainTroubles(whole), ...workTroubles(whole), ...strangeTroubles(whole)];
  try {
    for (const { alerts, begin, end } of troubles) {
      const start = performance.now();
      // The first one begins with the world.
      if (alerts !== troubles[0]?.alerts)
        await until('something fires at rest', (firing) => firing.length === 0);
      await begin();
      for (const alert of alerts) await until(`${alert} does not fire`, (firing) => firing.includes(alert));
      await end();
      await until(
        `${alerts.join(', ')} do not clear`,
        (firing) => !firing.some((alert) => alerts.includes(alert) || alert.startsWith('Prometheus')),
      );
      console.log(`${Math.round((performance.now() - start) / 1_000)} s: ${alerts.join(', ')}`);
    }
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
    const raised = troubles.flatMap(({ alerts }) => alerts.map((alert) => alert.split(' ')[0] ?? ''));
    assert.deepEqual([...raised, ...played].sort(), names.sort());
  } finally {
    prometheus.kill('SIGKILL');
    await sql.end();
    await life.close();
  }
});
