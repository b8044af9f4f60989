import type { HealthReport, WalletReport } from '@florin/protocol/staff-health.ts';
import type { ReadGauge, Reading } from '#telemetry/metrics.ts';

const chainLabel = ['chain'] as const;
const gauge = (name: string, help: string, labels: readonly string[] = []): ReadGauge => ({
  name,
  help,
  labels,
});

/** The gauges of the whole installation, as the operator's screens show it. */
export const installationGauges = [
  gauge('florin_chain_head_block', 'The newest block that the watcher has read.', chainLabel),
  gauge('florin_chain_final_block', 'The newest final block that the watcher has read.', chainLabel),
  gauge('florin_chain_head_age_seconds', 'Age of the newest block that the watcher has read.', chainLabel),
  gauge('florin_watcher_age_seconds', 'Time since the watcher last stored its progress.', chainLabel),
  gauge('florin_chain_seconds_to_final', 'Time that a block takes to be final, as measured.', chainLabel),
  gauge(
    'florin_chain_halted',
    '1 while the blocks of the chain are not read, until a person resumes it.',
    chainLabel,
  ),
  gauge(
    'florin_payments_available',
    '1 while new payments are taken on the chain, also when they take longer than usual.',
    chainLabel,
  ),
  gauge(
    'florin_settlement_stopped',
    '1 while nothing is settled, paid out or refunded on the chain.',
    chainLabel,
  ),
  gauge(
    'florin_ledger_minus_chain',
    'Ledger minus chain in the smallest units of the token: 0, or something is wrong.',
    ['chain', 'holder', 'token'],
  ),
  gauge('florin_reconciled_age_seconds', 'Time since books and chain last agreed.', chainLabel),
  gauge('florin_settlements_delayed', 'Delayed and held settlements, at most 200, by why they wait.', [
    'reason',
  ]),
  gauge('florin_settlement_oldest_seconds', 'Age of the oldest delayed or held settlement; 0 without one.'),
  gauge(
    'florin_transactions_unfinished',
    'Sent transactions in no final block yet, at most 200.',
    chainLabel,
  ),
  gauge(
    'florin_transaction_oldest_seconds',
    'Age of the oldest sent transaction in no final block yet; 0 without one.',
    chainLabel,
  ),
  gauge('florin_webhook_deliveries_waiting', 'Deliveries that wait for their first or next attempt.'),
  gauge('florin_webhook_deliveries_overdue', 'Deliveries whose time has come.'),
  gauge('florin_webhook_oldest_due_seconds', 'How long the oldest delivery is overdue; 0 without one.'),
  gauge('florin_webhooks_paused', 'Webhooks that were paused after failures.'),
  gauge('florin_exceptions_open', 'Payments that differ from their order and wait for a person.'),
  gauge('florin_mails_waiting', 'E-mails that wait to be sent.'),
  gauge('florin_wallet_gas_wei', "The chain's coin in a sending wallet.", ['chain', 'role']),
  gauge('florin_wallet_gas_seconds', 'How long the gas of a sending wallet lasts at its recent use.', [
    'chain',
    'role',
  ]),
  gauge('florin_vault_float_micro_usd', 'What the vault of a token could pay.', ['token']),
  gauge('florin_vault_order_cap_micro_usd', 'The most that the vault of a token pays for one order.', [
    'token',
  ]),
] as const satisfies readonly ReadGauge[];

/** The values of the installation's gauges. What is unknown has no value. */
export function gaugesOf(health: HealthReport, { wallets, vaults }: WalletReport, now: Date): Reading[] {
  const age = (at: string) => (at === '' ? undefined : Math.max(0, (now.getTime() - Date.parse(at)) / 1_000));
  const oldest = (times: readonly string[]) => Math.max(0, ...times.map((at) => age(at) ?? 0));
  const readings: Reading[] = [];
  const put = (
    name: (typeof installationGauges)[number]['name'],
    value: number | undefined,
    labels: Record<string, string> = {},
  ) => {
    if (value !== undefined) readings.push({ gauge: name, labels, value });
  };
  for (const chain of health.chains) putChain(put, chain, age);
  for (const { chain, chainId } of health.chains) {
    const own = health.transactions.filter((each) => each.chainId === chainId);
    put('florin_transactions_unfinished', own.length, { chain });
    put('florin_transaction_oldest_seconds', oldest(own.map(({ createAt }) => createAt)), { chain });
  }
  const byReason = Map.groupBy(health.settlements, ({ reason }) => reason);
  for (const [reason, legs] of byReason) put('florin_settlements_delayed', legs.length, { reason });
  put('florin_settlement_oldest_seconds', oldest(health.settlements.map(({ since }) => since)));
  const { waiting, overdue, oldestDueAt, pausedWebhooks } = health.deliveries;
  put('florin_webhook_deliveries_waiting', waiting);
  put('florin_webhook_deliveries_overdue', overdue);
  put('florin_webhook_oldest_due_seconds', age(oldestDueAt) ?? 0);
  put('florin_webhooks_paused', pausedWebhooks);
  put('florin_exceptions_open', health.exceptionsForPeople);
  put('florin_mails_waiting', health.mails.waiting);
  for (const { chain, role, balance, secondsLeft } of wallets) {
    put('florin_wallet_gas_wei', numberOf(balance), { chain, role });
    put('florin_wallet_gas_seconds', secondsLeft < 0 ? undefined : secondsLeft, { chain, role });
  }
  for (const { tokenId: token, float, cap } of vaults) {
    put('florin_vault_float_micro_usd', numberOf(float), { token });
    put('florin_vault_order_cap_micro_usd', numberOf(cap), { token });
  }
  return readings;
}

function putChain(
  put: (
    name: (typeof installationGauges)[number]['name'],
    value: number | undefined,
    labels: Record<string, string>,
  ) => void,
  report: HealthReport['chains'][number],
  age: (at: string) => number | undefined,
): void {
  const { chain } = report;
  put('florin_chain_head_block', numberOf(report.headNumber), { chain });
  put('florin_chain_final_block', numberOf(report.finalNumber), { chain });
  put('florin_chain_head_age_seconds', age(report.headAt), { chain });
  put('florin_watcher_age_seconds', age(report.watchedAt), { chain });
  put('florin_chain_seconds_to_final', report.secondsToFinal, { chain });
  put('florin_chain_halted', report.haltedReason === '' ? 0 : 1, { chain });
  put('florin_payments_available', report.payments === 'unavailable' ? 0 : 1, { chain });
  put('florin_settlement_stopped', report.settlement === 'stopped' ? 1 : 0, { chain });
  put('florin_reconciled_age_seconds', age(report.reconciledAt), { chain });
  for (const { holder, token, difference } of report.balances)
    put('florin_ledger_minus_chain', numberOf(difference), { chain, holder, token });
}

/** Undefined for an unknown value. A gauge is a double: amounts beyond 2^53 are rounded. */
function numberOf(text: string): number | undefined {
  return text === '' ? undefined : Number(text);
}
