import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withSystemScope } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { findFreePort } from '@florin/world';
import pg from 'pg';
import { schema } from '#db/schema.ts';
import { startService } from '../src/service/service.ts';
import { setCaps, troublesOf } from './alert-troubles.ts';
import { Life } from './life/life.ts';
import { keys } from './life/roles.ts';

const rulesFile = fileURLToPath(new URL('../../../deploy/monitoring/florin.rules.yml', import.meta.url));
const isMissing = spawnSync('prometheus', ['--version']).error !== undefined;
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
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'florin-alerts-'));
});
after(() => rm(folder, { recursive: true, force: true }));

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

test('a real Prometheus over a real service raises every alert in its trouble, and ends it afterwards', async (context) => {
  if (isMissing) return context.skip('prometheus is missing');
  const rules = quick.reduce(
    (text, [from, to]) => {
      assert.match(text, from, 'the rules are worded anew');
      return text.replace(from, to);
    },
    await readFile(rulesFile, 'utf8'),
  );
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
  const troubles = troublesOf(whole);
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
    assert.deepEqual([...new Set(raised)].sort(), names.sort());
  } finally {
    prometheus.kill('SIGKILL');
    await sql.end();
    await life.close();
  }
});
