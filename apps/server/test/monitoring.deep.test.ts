import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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
