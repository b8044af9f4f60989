import Type, { type Static } from 'typebox';
import { sentAttempts } from './staff-work.ts';

const rfcTime = Type.String({ description: 'RFC 3339; empty: unknown' });
const integer = Type.String({ description: 'A decimal integer; empty: unknown' });

/** What the service knows of itself without asking a node. */
export const healthReport = Type.Object({
  at: rfcTime,
  chains: Type.Array(
    Type.Object({
      chain: Type.String(),
      chainId: Type.String(),
      payments: Type.Enum(['available', 'delayed', 'unavailable']),
      paymentsReason: Type.String(),
      settlement: Type.Enum(['running', 'stopped']),
      settlementReason: Type.String({ description: 'drift, restored or halted; empty while running' }),
      haltedReason: Type.String({ description: 'Why its blocks are not read; empty while they are' }),
      isResuming: Type.Boolean({
        description: 'Staff has resumed it, and the watcher has not acted on it yet',
      }),
      headNumber: integer,
      headAt: Type.String({ description: 'The time in the newest block; RFC 3339; empty: unknown' }),
      finalNumber: integer,
      finalAt: Type.String({ description: 'The time in the final block; RFC 3339; empty: unknown' }),
      watchedAt: Type.String({ description: 'When the watcher last wrote; RFC 3339; empty: never' }),
      secondsToFinal: Type.Integer({ description: 'As measured over the last minutes' }),
      reconciledAt: Type.String({ description: 'When every balance last agreed; empty: never' }),
      lastTriedAt: Type.String({
        description: 'When a comparison was last tried, with or without an answer; empty: never',
      }),
      balances: Type.Array(
        Type.Object({
          holder: Type.Enum(['gateway', 'vault', 'fees']),
          token: Type.String(),
          ledger: Type.String(),
          chain: Type.String(),
          difference: Type.String({ description: 'Ledger minus chain; anything but 0 is an error' }),
          blockNumber: Type.String(),
        }),
      ),
    }),
  ),
  settlements: Type.Array(
    Type.Object({
      orderId: Type.String(),
      leg: Type.String(),
      sessionId: Type.String(),
      merchantId: Type.String(),
      chainId: Type.Integer(),
      status: Type.Enum(['waiting', 'sent']),
      reason: Type.String(),
      attempts: Type.Integer(),
      netValue: Type.String({ description: 'What the merchant gets, in Micro-USD' }),
      since: rfcTime,
      nextAt: Type.String({ description: 'The next attempt; empty: waits for a person' }),
    }),
    { description: 'Delayed and held settlements, the oldest first, at most 200' },
  ),
  transactions: Type.Array(
    Type.Object({
      chainId: Type.String(),
      wallet: Type.String(),
      nonce: Type.String(),
      purpose: Type.String(),
      minedHash: Type.String({ description: 'The attempt that a block has; empty: none yet' }),
      ...sentAttempts,
      createAt: rfcTime,
    }),
    { description: 'Sent transactions in no final block yet, the oldest first, at most 200' },
  ),
  deliveries: Type.Object({
    waiting: Type.Integer(),
    overdue: Type.Integer({ description: 'Whose time has come' }),
    oldestDueAt: rfcTime,
    pausedWebhooks: Type.Integer(),
    failingWebhooks: Type.Integer({
      description: 'Whose receivers have taken nothing for more than an hour',
    }),
  }),
  mails: Type.Object({
    waiting: Type.Integer(),
    oldestAt: Type.String({
      description: 'When the oldest waiting one was stored; RFC 3339; empty: none waits',
    }),
    lastSentAt: Type.String({ description: 'When the mail server last took one; RFC 3339; empty: never' }),
  }),
  openExceptions: Type.Integer(),
  exceptionsForPeople: Type.Integer({
    description:
      'Open exceptions that the merchant can decide, that were settled before they could go back, or that are open for more than eight days. The others go back by themselves',
  }),
});
export type HealthReport = Static<typeof healthReport>;

/** What each configured node of a chain answers now. */
export const nodeReport = Type.Object({
  chain: Type.String(),
  chainId: Type.String(),
  nodes: Type.Array(
    Type.Object({
      node: Type.String({ description: 'Host and port' }),
      headNumber: integer,
      problem: Type.String({ description: 'Why it gave no block number; empty when it answered' }),
    }),
  ),
});
export type NodeReport = Static<typeof nodeReport>;

export const walletReport = Type.Object({
  wallets: Type.Array(
    Type.Object({
      chain: Type.String(),
      role: Type.String(),
      address: Type.String(),
      balance: Type.String({ description: 'Wei; empty: no node answered' }),
      needed: Type.String({ description: 'Wei for three days of the recent use, at least a reserve' }),
      secondsLeft: Type.Integer({ description: 'How long the gas lasts at that use; -1: unknown' }),
    }),
  ),
  vaults: Type.Array(
    Type.Object({
      tokenId: Type.String(),
      cap: Type.String({ description: 'The most for one order, in Micro-USD; empty: unknown' }),
      float: Type.String({
        description:
          'What the vault can pay now: what it holds, at most what its caps leave for the hour and the day. Micro-USD; empty: unknown',
      }),
      readAt: Type.String({ description: 'When the vault was asked; RFC 3339; empty: it never answered' }),
    }),
  ),
});
export type WalletReport = Static<typeof walletReport>;

export const webhookBacklog = Type.Object({
  webhookId: Type.String(),
  merchantId: Type.String(),
  merchantName: Type.String(),
  webhookUrl: Type.String({ description: 'Without the values of its query' }),
  status: Type.String({ description: 'active, inactive or paused' }),
  failures: Type.Integer({ description: 'In a row' }),
  failingSince: Type.String({ description: 'RFC 3339; empty: the last attempt succeeded' }),
  waiting: Type.Integer({ description: 'Deliveries' }),
  overdue: Type.Integer({ description: 'Of these, whose time has come' }),
  oldestAt: Type.String({ description: 'When the oldest waiting delivery was made; empty: none waits' }),
});
export type WebhookBacklog = Static<typeof webhookBacklog>;

export const versions = Type.Object({
  service: Type.String({ description: 'Florin' }),
  runtime: Type.String({ description: 'Node.js' }),
  database: Type.String({ description: 'PostgreSQL' }),
  migrations: Type.Array(Type.Object({ version: Type.Integer(), appliedAt: rfcTime })),
});
export type Versions = Static<typeof versions>;
