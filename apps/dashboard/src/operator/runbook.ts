/** Where the documentation says what to do; `apps/docs` serves docs/runbook there. */
export const runbooks = {
  haltedChain: { path: '/docs/runbook/chain-halted#1-find-the-cause', title: 'A chain is halted' },
  chainHealth: { path: '/docs/runbook/production#9-health', title: 'Health of chains and nodes' },
  differences: {
    path: '/docs/runbook/restore#when-the-books-and-a-chain-differ',
    title: 'When the books and a chain differ',
  },
  restored: { path: '/docs/runbook/restore#restore', title: 'After a restore' },
  settlements: { path: '/docs/runbook/settlement#reasons', title: 'Settlements that wait' },
  orderInDoubt: { path: '/docs/runbook/settlement#an-order-in-doubt', title: 'An order in doubt' },
  attestations: {
    path: '/docs/runbook/settlement#when-circle-stands-still',
    title: 'When Circle stands still',
  },
  transactions: { path: '/docs/runbook/alerts#florintransactionstuck', title: 'Transactions that are stuck' },
  funds: { path: '/docs/runbook/production#5-caps-float-and-gas', title: 'Caps, float and gas' },
  exceptions: { path: '/docs/runbook/exceptions#decide-for-a-merchant', title: 'Decide about exceptions' },
  webhooks: { path: '/docs/runbook/webhooks', title: 'Webhooks that fail' },
  mail: { path: '/docs/runbook/e-mail#e-mails-that-do-not-arrive', title: 'E-mails that do not arrive' },
  tokens: {
    path: '/docs/runbook/production#tokens-that-take-no-orders',
    title: 'Tokens that take no orders',
  },
  merchants: { path: '/docs/runbook/production#your-staff', title: 'Suspended merchants' },
  usedKey: { path: '/docs/runbook/key-used-elsewhere#is-it-harmless', title: 'A key is used elsewhere' },
  upgrade: { path: '/docs/runbook/production#10-upgrade', title: 'Upgrade' },
} as const;
export type RunbookName = keyof typeof runbooks;

/** The runbook of one settlement's reason: some have a section of their own. */
export function runbookOfReason(reason: string): RunbookName {
  if (reason === 'order_in_doubt') return 'orderInDoubt';
  return reason === 'attestation_pending' ? 'attestations' : 'settlements';
}
