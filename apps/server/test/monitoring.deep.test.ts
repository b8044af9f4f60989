import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '@florin/world';
import { startService } from '../src/service/service.ts';
import { Life } from './life/life.ts';

const run = promisify(execFile);
const rulesFile = fileURLToPath(new URL('../../../deploy/monitoring/florin.rules.yml', import.meta.url));
let folder = '';

before(async () => {
  if (spawnSync('promtool', ['--version']).error !== undefined)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'prometheus'], {
      stdio: 'inherit',
    });
  folder = await mkdtemp(join(tmpdir(), 'florin-monitoring-'));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Of each alert: a series, a value at which it fires, and one at which it does not. */
const cases: Readonly<Record<string, readonly (readonly [series: string, bad: string, good: string])[]>> = {
  FlorinProcessDown: [['up{job="florin"}', '0', '1']],
  FlorinChainHalted: [['florin_chain_halted{chain="base"}', '1', '0']],
  FlorinPaymentsUnavailable: [['florin_payments_available{chain="base"}', '0', '1']],
  FlorinWatcherStopped: [['florin_watcher_age_seconds{chain="base"}', '121', '119']],
  FlorinBooksDiffer: [['florin_ledger_minus_chain{chain="base",holder="vault",token="t"}', '-1', '0']],
  FlorinSettlementStopped: [['florin_settlement_stopped{chain="base"}', '1', '0']],
  FlorinBooksNotCompared: [['florin_reconciled_age_seconds{chain="base"}', '901', '60']],
  FlorinSettlementDelayed: [['florin_settlement_oldest_seconds', '3601', '3600']],
  FlorinTransactionStuck: [['florin_transaction_oldest_seconds{chain="base"}', '1801', '1800']],
  FlorinGasLow: [['florin_wallet_gas_seconds{chain="base",role="settler"}', '259199', '259200']],
  FlorinGasOut: [['florin_wallet_gas_seconds{chain="base",role="settler"}', '21599', '21600']],
  FlorinVaultShort: [
    ['florin_vault_float_micro_usd{token="t"}', '9', '10'],
    ['florin_vault_order_cap_micro_usd{token="t"}', '10', '10'],
  ],
  FlorinWebhooksOverdue: [['florin_webhook_oldest_due_seconds', '301', '300']],
  FlorinWebhooksPaused: [['florin_webhooks_paused', '1', '0']],
  FlorinExceptionsOpen: [['florin_exceptions_open', '1', '0']],
  FlorinDatabaseBusy: [['florin_database_connections{state="waiting",instance="a"}', '6', '5']],
  FlorinCapNearlyUsed: [['florin_cap_used_ratio{token="t",window="hour"}', '0.81', '0.8']],
  FlorinBackupOld: [['florin_backup_age_seconds', '93601', '93600']],
  FlorinMailsWaiting: [['florin_mails_waiting', '101', '100']],
  FlorinWalletUsedElsewhere: [['florin_wallet_foreign_transactions{chain="base",role="settler"}', '1', '0']],
  FlorinOrderUnknown: [['florin_orders_unknown{chain="base"}', '1', '0']],
};
/** The same for alerts on how fast something grows: what is added each minute. */
const growing: typeof cases = {
  FlorinNodeFails: [
    ['florin_rpc_requests_total{chain="base",node="n",outcome="failed"}', '60', '10'],
    ['florin_rpc_requests_total{chain="base",node="n",outcome="answered"}', '10', '60'],
  ],
  FlorinErrors: [['florin_log_events_total{level="error",event="settlement.failed"}', '1', '0']],
  FlorinAnswersSlow: [
    ['florin_http_request_seconds_bucket{le="1"}', '90', '100'],
    ['florin_http_request_seconds_bucket{le="2.5"}', '100', '100'],
    ['florin_http_request_seconds_bucket{le="+Inf"}', '100', '100'],
  ],
};
/** Minutes of trouble, longer than any rule waits, and of peace afterwards. */
const troubleMinutes = 60;

test('every alert fires in its trouble, names what it is about, and clears afterwards', async () => {
  const rules = await readFile(rulesFile, 'utf8');
  const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  assert.deepEqual([...Object.keys(cases), ...Object.keys(growing)].sort(), names.toSorted());
  await run('promtool', ['check', 'rules', rulesFile]);
  for (const name of names) {
    const held = (cases[name] ?? []).map(([series, bad, good]) => ({
      series,
      values: `${bad}x${troubleMinutes} ${good}x${troubleMinutes}`,
    }));
    const grown = (growing[name] ?? []).map(([series, bad, good]) => {
      const top = Number(bad) * troubleMinutes;
      return { series, values: `0+${bad}x${troubleMinutes} ${top}+${good}x${troubleMinutes}` };
    });
    const tests = join(folder, `${name}.json`);
    const at = async (minute: number) => {
      // Without a wish of its own, promtool compares with no alert at all, and prints what it got.
      const one = {
        interval: '1m',
        input_series: [...held, ...grown],
        alert_rule_test: [{ eval_time: `${minute}m`, alertname: name, exp_alerts: [] }],
      };
      await writeFile(
        tests,
        JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [one] }),
      );
      try {
        await run('promtool', ['test', 'rules', tests]);
        return '';
      } catch (error) {
        return String((error as { stderr?: string }).stderr) + String((error as { stdout?: string }).stdout);
      }
    };
    const firing = await at(troubleMinutes - 1);
    assert.match(firing, new RegExp(`alertname="${name}"`), name);
    assert.doesNotMatch(firing, /no value|\{\{/, name);
    assert.equal(await at(2 * troubleMinutes), '', `${name} clears`);
  }
});

test('a real Prometheus reads a real service, tells that a chain is away, and that it is back', async () => {
  const port = await findFreePort();
  const life = await Life.start((options) =>
    startService({ ...options, monitoring: { host: '127.0.0.1', port } }),
  );
  life.mine();
  let prometheus: ChildProcess | undefined;
  try {
    // The rules wait for minutes. Here they wait for seconds.
    const rules = (await readFile(rulesFile, 'utf8')).replaceAll(/for: \d+m/g, 'for: 7s');
    await writeFile(join(folder, 'rules.yml'), rules);
    const config = {
      global: { scrape_interval: '3s', evaluation_interval: '1s', scrape_timeout: '3s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'florin', static_configs: [{ targets: [`127.0.0.1:${port}`] }] }],
    };
    await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const own = await findFreePort();
    prometheus = spawn(
      'prometheus',
      [
        '--config.file',
        join(folder, 'prometheus.yml'),
        '--storage.tsdb.path',
        join(folder, 'data'),
        '--web.listen-address',
        `127.0.0.1:${own}`,
      ],
      { stdio: 'ignore' },
    );
    const firing = async () => {
      try {
        const response = await fetch(`http://127.0.0.1:${own}/api/v1/alerts`);
        // It answers 503 while it starts.
        if (response.status === 503) return ['Prometheus does not answer yet'];
        const { data } = (await response.json()) as {
          data: { alerts: { state: string; labels: Record<string, string> }[] };
        };
        return data.alerts
          .filter(({ state }) => state === 'firing')
          .map(({ labels }) => `${labels['alertname']} ${labels['chain'] ?? ''}`.trim());
      } catch (error) {
        if (error instanceof TypeError) return ['Prometheus does not answer yet'];
        throw error;
      }
    };
    const query = async (expression: string) => {
      const response = await fetch(
        `http://127.0.0.1:${own}/api/v1/query?query=${encodeURIComponent(expression)}`,
      );
      return ((await response.json()) as { data: { result: unknown[] } }).data.result.length;
    };
    const isUp = async () =>
      (await firing())[0] === 'Prometheus does not answer yet' ? 0 : query('up{job="florin"} == 1');
    await life.eventually(isUp, (count) => count === 1, 'the first scrape');
    const alert = 'FlorinPaymentsUnavailable base';
    life.base.anvil.pause(true);
    await life.eventually(firing, (alerts) => alerts.includes(alert), 'the alert of the chain that is away');
    life.base.anvil.pause(false);
    await life.eventually(firing, (alerts) => !alerts.includes(alert), 'the end of the alert');
    await life.stopService();
    await life.eventually(
      firing,
      (alerts) => alerts.includes('FlorinProcessDown'),
      'the alert of the process that is down',
    );
    await life.startService();
    await life.eventually(firing, (alerts) => !alerts.includes('FlorinProcessDown'), 'the end of that alert');
  } finally {
    prometheus?.kill('SIGKILL');
    await life.close();
  }
});

test('every expression of the dashboard is one that Prometheus understands', async () => {
  const dashboard = JSON.parse(
    await readFile(
      fileURLToPath(new URL('../../../deploy/monitoring/florin.dashboard.json', import.meta.url)),
      'utf8',
    ),
  ) as { panels: { targets?: { expr: string }[] }[] };
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length > 20);
  const rules = expressions.map((expr, index) => ({ record: `panel_${index}`, expr }));
  const file = join(folder, 'panels.json');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  await run('promtool', ['check', 'rules', file]);
});
