import type { RunbookName } from './runbook.ts';

/**
 * Everything that the operator's screens show red (`bad`) or amber (`warn`), with the runbook that says what to do. The screens
 * take colour and link from here alone.
 */
export const troubles = {
  chainHalted: { tone: 'bad', runbook: 'haltedChain' },
  chainUnavailable: { tone: 'bad', runbook: 'chainHealth' },
  chainLate: { tone: 'warn', runbook: 'chainHealth' },
  chainWithoutNode: { tone: 'bad', runbook: 'chainHealth' },
  nodeFails: { tone: 'warn', runbook: 'chainHealth' },
  nodeBehind: { tone: 'warn', runbook: 'chainHealth' },
  figuresStale: { tone: 'warn', runbook: 'chainHealth' },
  stoppedByHalt: { tone: 'bad', runbook: 'haltedChain' },
  stoppedByRestore: { tone: 'bad', runbook: 'restored' },
  stoppedByDifference: { tone: 'bad', runbook: 'differences' },
  booksDiffer: { tone: 'bad', runbook: 'differences' },
  gasOut: { tone: 'bad', runbook: 'funds' },
  gasLow: { tone: 'warn', runbook: 'funds' },
  gasUnknown: { tone: 'warn', runbook: 'funds' },
  vaultEmpty: { tone: 'bad', runbook: 'funds' },
  vaultLow: { tone: 'warn', runbook: 'funds' },
  vaultUnknown: { tone: 'warn', runbook: 'funds' },
  settlementHeld: { tone: 'bad', runbook: 'settlements' },
  settlementDelayed: { tone: 'warn', runbook: 'settlements' },
  transactionRefused: { tone: 'bad', runbook: 'transactions' },
  transactionNotMined: { tone: 'bad', runbook: 'transactions' },
  transactionCapped: { tone: 'bad', runbook: 'transactions' },
  transactionFailed: { tone: 'warn', runbook: 'transactions' },
  transactionSuperseded: { tone: 'warn', runbook: 'usedKey' },
  webhookPaused: { tone: 'warn', runbook: 'webhooks' },
  webhookFails: { tone: 'warn', runbook: 'webhooks' },
  mailWaits: { tone: 'warn', runbook: 'mail' },
  mailGivenUp: { tone: 'bad', runbook: 'mail' },
  exceptionOpen: { tone: 'warn', runbook: 'exceptions' },
  tokenPaused: { tone: 'bad', runbook: 'tokens' },
  tokenStopped: { tone: 'warn', runbook: 'tokens' },
  merchantSuspended: { tone: 'warn', runbook: 'merchants' },
} as const satisfies Readonly<
  Record<string, { readonly tone: 'bad' | 'warn'; readonly runbook: RunbookName }>
>;
export type Trouble = keyof typeof troubles;
