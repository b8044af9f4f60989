import type { BooksStatus } from '#reconcile/status.ts';

/** The books as metrics in Prometheus' text format. Names and labels are stable. */
export function renderMetrics(status: BooksStatus): string {
  const balances = status.chains.flatMap((chain) =>
    chain.balances.map((balance) => ({ ...balance, name: chain.chain })),
  );
  return [
    '# HELP florin_ledger_minus_chain Ledger minus chain in the smallest units of the token: 0, or something is wrong.',
    '# TYPE florin_ledger_minus_chain gauge',
    ...balances.map(
      ({ name, holder, token, difference }) =>
        `florin_ledger_minus_chain{chain="${name}",holder="${holder}",token="${token}"} ${difference}`,
    ),
    '# HELP florin_reconciled_block The last final block at which books and chain agreed.',
    '# TYPE florin_reconciled_block gauge',
    ...status.chains.flatMap(({ chain, reconciledBlock }) =>
      reconciledBlock === null ? [] : [`florin_reconciled_block{chain="${chain}"} ${reconciledBlock}`],
    ),
    '# HELP florin_reconciled_timestamp_seconds When books and chain last agreed.',
    '# TYPE florin_reconciled_timestamp_seconds gauge',
    ...status.chains.flatMap(({ chain, reconciledAt }) =>
      reconciledAt === null
        ? []
        : [`florin_reconciled_timestamp_seconds{chain="${chain}"} ${Date.parse(reconciledAt) / 1000}`],
    ),
    '# HELP florin_settlement_stopped 1 while nothing is settled, paid out or refunded on the chain.',
    '# TYPE florin_settlement_stopped gauge',
    ...status.chains.map(
      ({ chain, settlement }) =>
        `florin_settlement_stopped{chain="${chain}"} ${settlement === 'stopped' ? 1 : 0}`,
    ),
    '# HELP florin_payments_available 1 while new payments are taken on the chain, also when they take longer than usual.',
    '# TYPE florin_payments_available gauge',
    ...status.chains.map(
      ({ chain, payments }) =>
        `florin_payments_available{chain="${chain}"} ${payments === 'unavailable' ? 0 : 1}`,
    ),
    '',
  ].join('\n');
}
