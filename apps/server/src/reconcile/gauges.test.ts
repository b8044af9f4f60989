import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { HealthReport } from '@florin/protocol/staff-health.ts';
import { openMetrics } from '#telemetry/metrics.ts';
import { foreignUseGauges } from './foreign-use.ts';
import { gaugesOf, installationGauges } from './gauges.ts';
import { nodeGauges, workGauges } from './work-gauges.ts';

const root = new URL('../../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const now = new Date('2030-01-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1_000).toISOString();

const chain: HealthReport['chains'][number] = {
  ...{
    chain: 'base',
    chainId: '8453',
    payments: 'available' as const,
    paymentsReason: '',
    settlement: 'running' as const,
  },
  ...{
    settlementReason: '',
    haltedReason: '',
    isResuming: false,
    headNumber: '120',
    headAt: ago(3),
    finalNumber: '100',
  },
  ...{
    finalAt: ago(40),
    watchedAt: ago(1),
    secondsToFinal: 40,
    reconciledAt: ago(30),
    lastTriedAt: ago(30),
    balances: [],
  },
};
const healthy: HealthReport = {
  at: now.toISOString(),
  chains: [chain],
  settlements: [],
  transactions: [],
  deliveries: { waiting: 0, overdue: 0, oldestDueAt: '', pausedWebhooks: 0, failingWebhooks: 0 },
  mails: { waiting: 0, oldestAt: '', lastSentAt: '' },
  openExceptions: 3,
  exceptionsForPeople: 0,
};
const noWallets = { wallets: [], vaults: [] };

async function pageOf(
  health: Parameters<typeof gaugesOf>[0],
  wallets: Parameters<typeof gaugesOf>[1],
): Promise<string> {
  const metrics = openMetrics({ version: '1.2.3', roles: ['worker'] });
  metrics.addReader(installationGauges, async () => gaugesOf(health, wallets, now));
  return (await metrics.render()).text;
}

/** Values that differ from those of a healthy installation, which has none of the second kind. */
const troubles: readonly (readonly [
  name: string,
  health: object,
  wallets: object,
  lines: readonly string[],
])[] = [
  [
    'a halted chain',
    { chains: [{ ...chain, haltedReason: 'reorg' }] },
    {},
    ['florin_chain_halted{chain="base"} 1'],
  ],
  [
    'refused payments and a stopped settlement',
    { chains: [{ ...chain, payments: 'unavailable', settlement: 'stopped' }] },
    {},
    ['florin_payments_available{chain="base"} 0', 'florin_settlement_stopped{chain="base"} 1'],
  ],
  [
    'delayed payments are still taken',
    { chains: [{ ...chain, payments: 'delayed' }] },
    {},
    ['florin_payments_available{chain="base"} 1'],
  ],
  [
    'a difference of the books',
    {
      chains: [
        {
          ...chain,
          balances: [
            {
              holder: 'vault',
              token: 'base::usdc',
              ledger: '5',
              chain: '7',
              difference: '-2',
              blockNumber: '9',
            },
          ],
        },
      ],
    },
    {},
    ['florin_ledger_minus_chain{chain="base",holder="vault",token="base::usdc"} -2'],
  ],
  [
    'settlements by their reasons, and the age of the oldest',
    {
      settlements: [600, 50, 70].map((seconds, index) => ({
        ...{
          orderId: '',
          leg: 'settle',
          sessionId: '',
          chainId: 1,
          status: 'waiting',
          attempts: 1,
          netValue: '1',
          nextAt: '',
        },
        ...{ since: ago(seconds), reason: index === 0 ? 'vault_short' : 'held' },
      })),
    },
    {},
    [
      'florin_settlements_delayed{reason="held"} 2',
      'florin_settlements_delayed{reason="vault_short"} 1',
      'florin_settlement_oldest_seconds 600',
    ],
  ],
  [
    'an unfinished transaction',
    {
      transactions: [
        {
          chainId: '8453',
          wallet: '',
          nonce: '1',
          purpose: '',
          minedHash: '',
          attemptCount: 1,
          attempts: [],
          createAt: ago(90),
        },
      ],
    },
    {},
    ['florin_transactions_unfinished{chain="base"} 1', 'florin_transaction_oldest_seconds{chain="base"} 90'],
  ],
  [
    'late deliveries and a paused webhook',
    { deliveries: { waiting: 7, overdue: 3, oldestDueAt: ago(400), pausedWebhooks: 1, failingWebhooks: 0 } },
    {},
    [
      'florin_webhook_deliveries_waiting 7',
      'florin_webhook_deliveries_overdue 3',
      'florin_webhook_oldest_due_seconds 400',
      'florin_webhooks_paused 1',
    ],
  ],
  [
    'gas, float and cap',
    {},
    {
      wallets: [
        { chain: 'base', role: 'settler', address: '0x1', balance: '12', needed: '3', secondsLeft: 77 },
      ],
      vaults: [{ tokenId: 'base::usdc', cap: '50', float: '20', readAt: ago(1) }],
    },
    [
      'florin_wallet_gas_seconds{chain="base",role="settler"} 77',
      'florin_vault_float_micro_usd{token="base::usdc"} 20',
      'florin_vault_order_cap_micro_usd{token="base::usdc"} 50',
    ],
  ],
];
for (const [name, health, wallets, lines] of troubles) {
  test(`the gauges show ${name}`, async () => {
    const page = await pageOf({ ...healthy, ...health }, { ...noWallets, ...wallets });
    for (const line of lines) assert.ok(page.split('\n').includes(line), line);
  });
}

test('what is unknown has no value', async () => {
  const unknown = { ...chain, headNumber: '', headAt: '', finalNumber: '', watchedAt: '', reconciledAt: '' };
  const wallet = { chain: 'base', role: 'settler', address: '0x1', balance: '', needed: '', secondsLeft: -1 };
  const vault = { tokenId: 'base::usdc', cap: '', float: '', readAt: '' };
  const page = await pageOf({ ...healthy, chains: [unknown] }, { wallets: [wallet], vaults: [vault] });
  const missing = ['chain_head', 'chain_final', 'watcher_age', 'reconciled_age', 'wallet_gas', 'vault_'];
  const shown = page.split('\n').filter((line) => missing.some((part) => line.startsWith(`florin_${part}`)));
  assert.deepEqual(shown, []);
});

test('a trouble that is over is gone from the page', async () => {
  let health: HealthReport = { ...healthy, exceptionsForPeople: 4 };
  const metrics = openMetrics({ version: '1.2.3', roles: [] });
  metrics.addReader(installationGauges, async () => gaugesOf(health, noWallets, now));
  assert.match((await metrics.render()).text, /^florin_exceptions_open 4$/m);
  health = { ...healthy, chains: [] };
  const { text } = await metrics.render();
  assert.match(text, /^florin_exceptions_open 0$/m);
  assert.doesNotMatch(text, /chain="base"/);
});

test('every metric is in the runbook, and alerts and dashboard use only metrics and pages that exist', async () => {
  const page = await pageOf(healthy, noWallets);
  const names = [...page.matchAll(/^# HELP (florin_\w+) /gm)].map(([, metric = '']) => metric);
  // They are added with the pool, and by the service.
  names.push('florin_database_connections', 'florin_cap_used_ratio', 'florin_backup_age_seconds');
  names.push(...[...foreignUseGauges, ...workGauges, ...nodeGauges].map(({ name }) => name));
  const runbook = read('docs/runbook/monitoring.md');
  const rules = read('deploy/monitoring/florin.rules.yml');
  const dashboard = read('deploy/monitoring/florin.dashboard.json');
  for (const name of names) assert.ok(runbook.includes(`| \`${name}\` |`), `the runbook lacks ${name}`);
  for (const text of [runbook, rules, dashboard])
    for (const [used] of text.matchAll(/florin_[a-z_]+/g))
      assert.ok(names.includes(used.replace(/_(bucket|count|sum)$/, '')), `there is no metric ${used}`);
  for (const [, path = ''] of rules.matchAll(/runbook: \/docs\/(\S+?)(?:#\S+)?$/gm))
    assert.ok(existsSync(new URL(`docs/${path}.md`, root)), path);
  const sections = read('docs/runbook/alerts.md').split(/^## /m);
  for (const [, alert = '', rule = ''] of rules.matchAll(/- alert: (\w+)\n([\s\S]*?)(?=\n {6}- alert:|$)/g)) {
    assert.ok(runbook.includes(`| \`${alert}\` |`), `the runbook lacks ${alert}`);
    assert.ok(
      rule.includes(`runbook: /docs/runbook/alerts#${alert.toLowerCase()}`),
      `${alert} leads elsewhere`,
    );
    const section = sections.find((each) => each.startsWith(`${alert}\n`)) ?? '';
    const isWhole = ['Meaning', 'Look at', 'Do'].every((part) => section.includes(`\n**${part}.** `));
    assert.ok(isWhole, `alerts.md does not say what ${alert} means, what to look at and what to do`);
  }
});
