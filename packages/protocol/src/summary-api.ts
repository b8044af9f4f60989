import Type from 'typebox';
import { keyWarningDays } from './permission.ts';
import { route } from './route.ts';
import { idText, strictObject } from './schema.ts';

const attention = Type.Object({
  count: Type.Integer(),
  ids: Type.Array(Type.String(), { description: 'Of the oldest, at most 20' }),
});

const periodRow = {
  period: Type.Integer({ description: 'From 0: the period that begins at this place of the times' }),
  tokenId: Type.String(),
  payments: Type.Integer(),
};

const write = { method: 'POST', tag: 'Summary', effect: 'query' } as const;

/** Sums of payments, and what needs attention. */
export const summaryRoutes = {
  getSummary: route({
    method: 'GET',
    path: '/summary',
    summary: 'What is on its way, and what needs attention',
    tag: 'Summary',
    reply: Type.Object({
      onItsWay: Type.Array(
        Type.Object({
          accountId: Type.String({ description: 'The account that it goes to' }),
          tokenId: Type.String({ description: 'The token that is settled' }),
          status: Type.String({ description: 'paid, settling or settlement_pending' }),
          payments: Type.Integer(),
          netValue: Type.String({ description: 'Micro-USD that reach the wallets, as a decimal text' }),
        }),
      ),
      exceptions: Type.Object(attention.properties, { description: 'Open ones' }),
      undecidedExceptions: Type.Object(attention.properties, {
        description: 'Those of the open ones whose money goes back unless a member accepts it in time',
      }),
      pausedWebhooks: attention,
      delayedSettlements: Type.Object(attention.properties, { description: 'Sessions' }),
      lostPayments: Type.Object(attention.properties, {
        description: 'Sessions whose payment the chain took back: deliver nothing for them',
      }),
      expiringKeys: Type.Object(attention.properties, {
        description: `API keys that expire within ${keyWarningDays} days`,
      }),
      closedLinks: Type.Object(attention.properties, {
        description:
          'Active links that take no payment, because the token that they settle in is stopped or paused',
      }),
      closedNetworks: Type.Array(Type.String(), {
        description: 'Names of networks on which nobody can pay now: no node answers, or the chain is halted',
      }),
    }),
    permissions: ['sessions:read'],
    effect: 'query',
  }),
  getPeriodSums: route({
    ...write,
    path: '/summary/periods',
    summary: 'What was received and settled in each period',
    description:
      'A period lasts from one of the times up to the next. The reader chooses them, as the midnights of its own time zone. ' +
      'Periods and tokens without a payment have no row.',
    body: strictObject({
      times: Type.Array(Type.Integer({ minimum: 0, maximum: 9_999_999_999 }), {
        minItems: 2,
        maxItems: 100,
        description: 'Unix seconds, ascending, at most 100 days from the first to the last',
      }),
    }),
    reply: Type.Object({
      received: Type.Array(
        Type.Object({
          ...periodRow,
          totalValue: Type.String({ description: 'Micro-USD that payers paid, as a decimal text' }),
        }),
        { description: 'By the time of the final payment, and the token that was paid' },
      ),
      settled: Type.Array(
        Type.Object({
          ...periodRow,
          feeValue: Type.String({ description: 'Micro-USD' }),
          netValue: Type.String({ description: 'Micro-USD that reached the wallets' }),
        }),
        { description: 'By the time when the money was in the wallet, and its token' },
      ),
    }),
    permissions: ['sessions:read'],
    errors: ['field_invalid'],
  }),
  getAccountSums: route({
    ...write,
    path: '/report/sums',
    summary: 'What was received, settled and refunded in each period, by account and token',
    description:
      'A period lasts from one of the times up to the next. Periods, accounts and tokens without money have no row. The ' +
      'sums equal those of reports of the same time.',
    body: strictObject({
      times: Type.Array(Type.Integer({ minimum: 0, maximum: 9_999_999_999 }), {
        minItems: 2,
        maxItems: 13,
        description: 'Unix seconds, ascending, at most 100 days from the first to the last',
      }),
      accountId: Type.Optional(idText),
    }),
    reply: Type.Object({
      asOf: Type.Integer({ description: 'Unix seconds: the time of the service' }),
      sums: Type.Array(
        Type.Object({
          period: periodRow.period,
          kind: Type.Enum(['received', 'settled', 'refunded'], {
            description: 'By the time of the final payment, of the money in the wallet, or of the money back',
          }),
          accountId: Type.String(),
          accountName: Type.String({ description: 'Also of an account that was removed' }),
          tokenId: Type.String({
            description: 'Settled: the token that arrived. Else the token that was paid',
          }),
          count: Type.Integer({ description: 'Payments, or refunds' }),
          totalValue: Type.String({
            description: 'Micro-USD that payers paid or got back, as a decimal text',
          }),
          feeValue: Type.String({ description: 'Micro-USD. 0 for refunds' }),
          netValue: Type.String({ description: 'Micro-USD for the wallets. 0 for refunds' }),
        }),
      ),
    }),
    permissions: ['reports:read'],
    errors: ['field_invalid', 'account_not_found'],
  }),
} as const;
