import Type from 'typebox';
import { auditQuery, auditReply } from './audit-log.ts';
import { meRoutes, proofRoutes, signInRoutes } from './dashboard-sign-in.ts';
import { keyRoutes } from './key-api.ts';
import { linkHistoryRoutes } from './link-history.ts';
import { memberRoutes } from './member-api.ts';
import { merchantApi } from './merchant-api.ts';
import { refundSigningRoutes } from './refund-signing-api.ts';
import { reportFormats, reportTypes } from './report-api.ts';
import { type RouteTable, route } from './route.ts';
import { idText, nameText, strictObject, text } from './schema.ts';
import { sessionHistoryRoutes } from './session-history.ts';
import { staffRoutes } from './staff-api.ts';
import { summaryRoutes } from './summary-api.ts';
import { accountRoutes } from './wallet-api.ts';

const ownMerchantRoutes = {
  renameMerchant: route({
    method: 'POST',
    path: '/merchant/rename',
    summary: 'Change the name of the merchant',
    description: 'Payers see it on payment pages and receipts from now on.',
    tag: 'Merchant',
    body: strictObject({
      merchantName: nameText({ max: 100 }),
      ifMerchantName: Type.Optional(
        text({
          max: 100,
          description: 'The name as it was read. Refused with 100811 if the merchant has another one since',
        }),
      ),
    }),
    permissions: ['members:write'],
    effect: 'update',
    errors: ['field_invalid', 'merchant_changed'],
  }),
} as const;

const ownLinkRoutes = {
  deleteLink: route({
    method: 'POST',
    path: '/payment/link/delete',
    summary: 'Delete a payment link for good',
    description:
      'Its page and its reads answer that it is gone. Its sessions stay, and open ones stay payable.',
    tag: 'Payment links',
    body: strictObject({ linkId: idText }),
    permissions: ['payment_links:write'],
    effect: 'update',
    errors: ['link_not_found', 'link_archived'],
  }),
} as const;

const auditRoutes = {
  listAudit: route({
    method: 'GET',
    path: '/audit/list',
    summary: 'The audit log, newest first',
    description: 'With `format=csv` the page is a CSV, and its cursor is in the header Florin-Next-Cursor.',
    tag: 'Audit log',
    query: auditQuery,
    reply: auditReply,
    permissions: ['audit:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  recordExport: route({
    method: 'POST',
    path: '/export/record',
    summary: 'Write into the audit log that a file is saved',
    description:
      'The dashboard sends it before it saves the list of payments or a report as a file. To look at them writes no entry.',
    tag: 'Audit log',
    body: strictObject({
      what: Type.Enum(['list of payments', ...reportTypes.map((type) => `report of ${type}` as const)]),
      format: Type.Enum(reportFormats),
      filters: text({
        max: 1_000,
        description: 'What the file is narrowed to, in words; empty for everything',
      }),
    }),
    permissions: ['sessions:read', 'reports:read'],
    effect: 'update',
    errors: ['field_invalid'],
  }),
} as const;

/** The merchant API's operations as the dashboard has them; the public ones need no second door. */
const { getCapabilities: _, ...sharedRoutes } = merchantApi.routes;

/** Operations of a member for the merchant that the header `Florin-Merchant` names. */
export const ofMerchantRoutes = {
  ...sharedRoutes,
  ...ownMerchantRoutes,
  ...accountRoutes,
  ...ownLinkRoutes,
  ...linkHistoryRoutes,
  ...summaryRoutes,
  ...memberRoutes,
  ...keyRoutes,
  ...auditRoutes,
  ...sessionHistoryRoutes,
  ...refundSigningRoutes,
} as const;

/** What the dashboard's pages call, with the cookie of a session. */
export const dashboardApi = {
  title: 'Dashboard API',
  basePath: '/dashboard/api',
  shape: 'envelope',
  security: 'session',
  errors: [
    'sign_in_required',
    'second_factor_required',
    'fresh_proof_required',
    'role_forbidden',
    'origin_forbidden',
    'rate_limited',
    'internal',
  ],
  routes: { ...signInRoutes, ...meRoutes, ...proofRoutes, ...ofMerchantRoutes, ...staffRoutes },
} as const satisfies RouteTable;

/** Names the merchant that a member acts for. */
export const merchantHeader = 'florin-merchant';
