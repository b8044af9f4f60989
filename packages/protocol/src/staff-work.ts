import Type, { type Static } from 'typebox';
import { route } from './route.ts';
import { strictObject, text } from './schema.ts';

/** States of a leg in the operator's list. `held` waits for a person; `open` is all but `done`. */
export const listedLegStates = ['open', 'waiting', 'held', 'sent', 'done'] as const;
export type ListedLegState = (typeof listedLegStates)[number];

/** States of a sent transaction. `superseded`: another transaction took its nonce. */
export const listedTransactionStates = ['pending', 'succeeded', 'failed', 'superseded'] as const;
export type ListedTransactionState = (typeof listedTransactionStates)[number];

const chainFilter = Type.Optional(text({ min: 1, max: 64, description: 'The name of a chain' }));
const rfcTime = Type.String({ description: 'RFC 3339' });
const explorer = Type.String({ description: 'The explorer of the chain; empty where there is none' });
const params = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000, description: 'Later pages are slower' }),
  size: Type.Integer({ minimum: 1, maximum: 100 }),
});

/** What was sent for one nonce of a wallet. */
export const sentAttempts = {
  attemptCount: Type.Integer(),
  isCapped: Type.Boolean({
    description: 'Blocks ask for more than `maxFeePerGasGwei` allows; it goes on once they ask for less',
  }),
  attempts: Type.Array(
    Type.Object({
      txHash: Type.String(),
      maxFee: Type.String({ description: 'The highest fee, in wei per gas' }),
      refusal: Type.String({ description: 'Why every node refuses it; empty: a node has it' }),
      createAt: rfcTime,
    }),
    { description: 'Each replaced the one after it in this list: the latest first, at most 10' },
  ),
};

/** A transaction that a wallet of the service has signed, with the attempts to send it. */
const sentTransaction = Type.Object({
  transactionId: Type.String(),
  chain: Type.String(),
  explorer,
  wallet: Type.String(),
  nonce: Type.String(),
  purpose: Type.String(),
  status: Type.Enum(listedTransactionStates),
  minedHash: Type.String({ description: 'The attempt that a block has; empty: none' }),
  ...sentAttempts,
  createAt: rfcTime,
  updateAt: rfcTime,
});
export type ServiceTransaction = Static<typeof sentTransaction>;

const settlementLeg = Type.Object({
  orderId: Type.String(),
  leg: Type.String({ description: 'settle, payout, mint or refund' }),
  sessionId: Type.String(),
  merchantId: Type.String(),
  chain: Type.String(),
  status: Type.Enum(['waiting', 'held', 'sent', 'done']),
  reason: Type.String({ description: 'Why it is delayed, or closed without a transaction; else empty' }),
  attempts: Type.Integer(),
  value: Type.String({
    description: 'What the merchant gets, or the payer of a refund, in Micro-USD',
  }),
  createAt: rfcTime,
  updateAt: rfcTime,
  nextAt: Type.String({ description: 'The next attempt while it waits, RFC 3339; else empty' }),
  transaction: Type.Union([sentTransaction, Type.Null()], {
    description: 'The transaction that carries it, or the last one that did',
  }),
});
export type SettlementLeg = Static<typeof settlementLeg>;

const read = { method: 'GET', permissions: ['installation:read'], effect: 'query' } as const;

/** What the service has to send and has sent, usual or not. Both lists are newest first. */
export const staffWorkRoutes = {
  listSettlementLegs: route({
    ...read,
    path: '/staff/settlement/list/:page/:size',
    summary: 'List settlement legs, newest first, each with its transaction',
    tag: 'Operator: health',
    params,
    query: strictObject({
      state: Type.Optional(Type.Enum(listedLegStates)),
      chain: chainFilter,
      of: Type.Optional(text({ min: 1, max: 80, description: 'The id of a session or of an order' })),
    }),
    reply: Type.Object({ hasMore: Type.Boolean(), legs: Type.Array(settlementLeg) }),
    errors: ['channel_unsupported', 'field_invalid'],
  }),
  listSentTransactions: route({
    ...read,
    path: '/staff/transaction/list/:page/:size',
    summary: 'List the transactions of the service’s wallets, newest first, each with what replaced what',
    tag: 'Operator: health',
    params,
    query: strictObject({
      state: Type.Optional(Type.Enum(listedTransactionStates)),
      chain: chainFilter,
      of: Type.Optional(text({ min: 1, max: 80, description: 'The hash of any of its attempts' })),
    }),
    reply: Type.Object({ hasMore: Type.Boolean(), transactions: Type.Array(sentTransaction) }),
    errors: ['channel_unsupported', 'field_invalid'],
  }),
} as const;
