import Type, { type Static } from 'typebox';
import { route } from './route.ts';
import { idText, strictObject, timestampText } from './schema.ts';

export const reportTypes = ['settlements', 'payments', 'fees', 'refunds'] as const;
export type ReportType = (typeof reportTypes)[number];
export const reportFormats = ['csv', 'json'] as const;
export type ReportFormat = (typeof reportFormats)[number];
export const reportStatuses = ['pending', 'ready', 'failed'] as const;
export type ReportStatus = (typeof reportStatuses)[number];

/** How long the file of a report can be downloaded, in hours from its order. */
export const reportLifeHours = 24;
/** Rows of one report; a report of more fails. */
export const maxReportRows = 2_000_000;
/** Reports of one merchant that are pending. */
export const maxPendingReports = 10;

/** The columns of each type of report, in their order. A row of a JSON report has them as members, with values in Micro-USD. */
export const reportColumns = {
  payments: [
    'sessionId',
    'receiptId',
    'orderId',
    'accountId',
    'linkId',
    'paidAt',
    'payer',
    'paidToken',
    'paidAmountInToken',
    'totalValue',
    'feeValue',
    'netValue',
    'refundedAmount',
    'initiateTx',
  ],
  settlements: [
    'sessionId',
    'orderId',
    'accountId',
    'linkId',
    'settledAt',
    'recipient',
    'settlementToken',
    'totalValue',
    'feeValue',
    'netValue',
    'completeTx',
  ],
  fees: [
    'sessionId',
    'orderId',
    'accountId',
    'linkId',
    'settledAt',
    'feeModel',
    'totalValue',
    'feeValue',
    'netValue',
  ],
  refunds: ['refundId', 'sessionId', 'orderId', 'accountId', 'refundedAt', 'totalValue', 'reason', 'txHash'],
} as const satisfies Record<ReportType, readonly string[]>;

/** Columns that have US dollars and another name in CSV: people add them up as they are. */
export const dollarColumns: Readonly<Record<string, string>> = {
  totalValue: 'amountInUSD',
  feeValue: 'feeInUSD',
  netValue: 'netInUSD',
  refundedAmount: 'refundedInUSD',
};

const reportTime = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 9_999_999_999, description: `Unix seconds. ${description}` });

const sum = (description: string) => Type.String({ description: `${description}, in Micro-USD` });

export const report = Type.Object({
  reportId: Type.String({ description: 'Prefix `rpt_`' }),
  type: Type.Enum(reportTypes),
  format: Type.Enum(reportFormats),
  from: Type.Integer(),
  to: Type.Integer(),
  accountId: Type.String({ description: 'Empty: every account' }),
  status: Type.Enum(reportStatuses),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Percent' }),
  reason: Type.String({ description: 'Why status is `failed`, else empty' }),
  url: Type.String({ description: 'The file, for who knows this address; empty until status is `ready`' }),
  expiresAt: Type.Integer({ description: 'Unix seconds: the file is deleted then' }),
  rows: Type.Integer({ description: 'Rows so far' }),
  totals: Type.Object(
    { totalValue: sum('The sum of totalValue'), feeValue: sum('Of feeValue'), netValue: sum('Of netValue') },
    { description: 'Sums of all rows, as decimal texts. Columns that the type does not have are 0' },
  ),
  createAt: timestampText,
});
export type ReportView = Static<typeof report>;

export const reportCreateBody = strictObject({
  type: Type.Enum(reportTypes),
  from: reportTime('The first second of the report'),
  to: reportTime('The second behind the last one. Not in the future'),
  accountId: Type.Optional(idText),
  format: Type.Enum(reportFormats),
});
export type ReportCreateBody = Static<typeof reportCreateBody>;

/** Reports of the merchant API. */
export const reportRoutes = {
  createReport: route({
    method: 'POST',
    path: '/report/create',
    summary: 'Order a report',
    description:
      'The answer is pending. Read the report until it is ready; then `url` is its file for 24 hours. `payments` has ' +
      'sessions by when their payment was final, `settlements` and `fees` by when the money was in your wallet, ' +
      '`refunds` by when the money was back. Values are Micro-USD in JSON and US dollars in CSV. A payment that becomes final after ' +
      'the report was made is not in it, even if its block is older. A second payment of a session and its return are in no ' +
      'report: its exceptions have them. At most ten reports are pending.',
    tag: 'Reports',
    body: reportCreateBody,
    reply: Type.Object({ reportId: Type.String(), status: Type.Enum(reportStatuses) }),
    permissions: ['reports:read'],
    effect: 'create',
    errors: ['field_invalid', 'account_not_found', 'rate_limited'],
  }),
  getReport: route({
    method: 'GET',
    path: '/report/:reportId',
    summary: 'Read a report',
    description: 'Progress, sums, and the address of the file. A report is forgotten after 24 hours.',
    tag: 'Reports',
    params: Type.Object({ reportId: idText }),
    reply: report,
    permissions: ['reports:read'],
    effect: 'query',
    errors: ['report_not_found'],
  }),
} as const;
