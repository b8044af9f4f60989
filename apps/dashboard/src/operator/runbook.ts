/** Where the documentation says what to do; `apps/docs` serves docs/runbook there. */
export const runbooks = {
  haltedChain: { path: '/docs/runbook/chain-halted', title: 'A chain is halted' },
  chainHealth: { path: '/docs/runbook/production#9-health', title: 'Health of chains and nodes' },
  differences: {
    path: '/docs/runbook/restore#when-the-books-and-a-chain-differ',
    title: 'When the books and a chain differ',
  },
  restored: { path: '/docs/runbook/restore#restore', title: 'After a restore' },
  settlements: { path: '/docs/runbook/settlement', title: 'Settlements that wait' },
  funds: { path: '/docs/runbook/production#5-caps-float-and-gas', title: 'Caps, float and gas' },
  exceptions: { path: '/docs/runbook/exceptions', title: 'Decide about exceptions' },
  webhooks: { path: '/docs/runbook/webhooks', title: 'Webhooks that fail' },
  mail: { path: '/docs/runbook/e-mail#e-mails-that-do-not-arrive', title: 'E-mails that do not arrive' },
  tokens: {
    path: '/docs/runbook/production#tokens-that-take-no-orders',
    title: 'Tokens that take no orders',
  },
  merchants: { path: '/docs/runbook/production#your-staff', title: 'Suspended merchants' },
  keys: { path: '/docs/runbook/keys', title: 'Keys of the service' },
  upgrade: { path: '/docs/runbook/production#10-upgrade', title: 'Upgrade' },
} as const;
export type RunbookName = keyof typeof runbooks;
