import Type from 'typebox';
import { auditQuery, auditReply } from './audit-log.ts';
import { paymentException } from './exception.ts';
import { invitationReply } from './invitation.ts';
import { staffMailRoutes } from './mail-api.ts';
import { memberRoles } from './member-role.ts';
import { route } from './route.ts';
import { idText, nameText, pageParams, strictObject, text, timestampText } from './schema.ts';
import { healthReport, nodeReport, versions, walletReport, webhookBacklog } from './staff-health.ts';
import { staffWorkRoutes } from './staff-work.ts';

const time = Type.String({ description: 'YYYY-MM-DD HH:MM:SS, UTC; empty: never' });
const reason = text({ min: 1, max: 300, description: 'For the audit log' });
const token = text({ min: 1, max: 64, description: '`base::usdc` on one chain, `usdc` on all' });

const read = { method: 'GET', permissions: ['installation:read'], effect: 'query', errors: [] } as const;
const write = { method: 'POST', permissions: ['installation:write'], effect: 'update' } as const;

/** What the operator's staff does for the whole installation. These routes name no merchant in a header. */
export const staffRoutes = {
  listAllMerchants: route({
    ...read,
    path: '/staff/merchant/list',
    summary: 'List all merchants, oldest first',
    tag: 'Operator: merchants',
    reply: Type.Object({
      merchants: Type.Array(
        Type.Object({
          merchantId: Type.String(),
          merchantName: Type.String(),
          createAt: timestampText,
          suspendedAt: time,
        }),
      ),
    }),
  }),
  createMerchant: route({
    ...write,
    path: '/staff/merchant/create',
    summary: 'Create a merchant',
    tag: 'Operator: merchants',
    body: strictObject({ merchantName: nameText({ max: 100 }) }),
    reply: Type.Object({ merchantId: Type.String() }),
    effect: 'create',
    errors: ['field_invalid'],
  }),
  inviteToMerchant: route({
    ...write,
    path: '/staff/merchant/invite',
    summary: 'Invite the first people of a merchant, by a link',
    description:
      'For a merchant without an owner: others invite their members themselves, and the operator’s command line does. ' +
      'The link works once, within a week, and is shown this once. With a mail server it also goes to `email`.',
    tag: 'Operator: merchants',
    body: strictObject({
      merchantId: idText,
      role: Type.Enum(memberRoles),
      email: Type.Optional(text({ max: 254 })),
    }),
    reply: invitationReply,
    effect: 'create',
    errors: ['merchant_not_found', 'role_forbidden', 'field_invalid'],
  }),
  suspendMerchant: route({
    ...write,
    path: '/staff/merchant/suspend',
    summary: 'Suspend a merchant',
    description:
      'No new sessions, and links show as disabled. Open sessions, settlement, refunds and reads go on. The merchant’s owners ' +
      'and admins read the reason.',
    tag: 'Operator: merchants',
    body: strictObject({ merchantId: idText, reason }),
    errors: ['merchant_not_found'],
  }),
  resumeMerchant: route({
    ...write,
    path: '/staff/merchant/resume',
    summary: 'End the suspension of a merchant',
    tag: 'Operator: merchants',
    body: strictObject({ merchantId: idText }),
    errors: ['merchant_not_found'],
  }),
  listTokens: route({
    ...read,
    path: '/staff/token/list',
    summary: 'List the configured tokens, and which are stopped or paused',
    tag: 'Operator: tokens',
    reply: Type.Object({
      tokens: Type.Array(
        Type.Object({
          tokenId: Type.String(),
          decimals: Type.Integer(),
          isStopped: Type.Boolean(),
          isPaused: Type.Boolean({
            description:
              'By its issuer: its transfers fail, and no new orders are taken in it until it is not',
          }),
          reason: Type.String({ description: 'Why it is stopped, else empty' }),
          stoppedAt: time,
        }),
      ),
    }),
  }),
  countTokenUse: route({
    ...read,
    path: '/staff/token/use/:token',
    summary: 'What takes no payment while a token is stopped',
    description: 'A link or session that settles in a stopped token takes no payment in any token.',
    tag: 'Operator: tokens',
    params: Type.Object({ token }),
    reply: Type.Object({
      links: Type.Integer({ description: 'Active links that settle in it' }),
      merchants: Type.Integer({ description: 'Merchants who have such links' }),
      sessions: Type.Integer({
        description: 'Unpaid sessions that settle in it. Orders signed before stay payable',
      }),
    }),
    errors: ['currency_unsupported'],
  }),
  stopToken: route({
    ...write,
    path: '/staff/token/stop',
    summary: 'Take no new orders in a token, on one chain or all',
    description:
      'For a depeg or an incident of the issuer. Links and sessions that settle in it take no payment in any token. ' +
      'Orders that were signed stay payable, and what is paid settles.',
    tag: 'Operator: tokens',
    body: strictObject({ token, reason }),
    reply: Type.Object({ tokenIds: Type.Array(Type.String()) }),
    errors: ['currency_unsupported'],
  }),
  resumeToken: route({
    ...write,
    path: '/staff/token/resume',
    summary: 'Take orders in a token again',
    tag: 'Operator: tokens',
    body: strictObject({ token }),
    reply: Type.Object({ tokenIds: Type.Array(Type.String()) }),
    errors: ['field_invalid'],
  }),
  getHealth: route({
    ...read,
    path: '/staff/health',
    summary: 'Chains, books, settlements, transactions and deliveries as the service knows them',
    tag: 'Operator: health',
    reply: healthReport,
  }),
  askNodes: route({
    ...read,
    path: '/staff/node/list',
    summary: 'What each node answers now',
    description: 'Asks the nodes, so it takes as long as the slowest may.',
    tag: 'Operator: health',
    reply: Type.Object({ chains: Type.Array(nodeReport) }),
  }),
  listServiceWallets: route({
    ...read,
    path: '/staff/wallet/list',
    summary: 'The gas of the sending wallets, and the floats and caps of the vaults',
    tag: 'Operator: health',
    reply: walletReport,
  }),
  listWebhookBacklog: route({
    ...read,
    path: '/staff/webhook/list',
    summary: 'Webhooks of all merchants that are paused or have deliveries that wait, the worst first',
    description: 'At most 200.',
    tag: 'Operator: health',
    reply: Type.Object({ webhooks: Type.Array(webhookBacklog) }),
  }),
  resumeHaltedChain: route({
    ...write,
    path: '/staff/chain/resume',
    summary: 'Resume a halted chain after the cause was found',
    description:
      'The watcher goes back to the last stored block that the chain still has. Until it has found one, the chain stays ' +
      'halted. Events that are gone are taken back.',
    tag: 'Operator: health',
    body: strictObject({ chain: text({ min: 1, max: 64 }), reason }),
    reply: Type.Object({
      haltedReason: Type.String({ description: 'Why it was halted; empty when it was not' }),
    }),
    errors: ['channel_unsupported', 'field_invalid'],
  }),
  releaseSettlement: route({
    ...write,
    path: '/staff/settlement/release',
    summary: 'Send an order’s waiting settlements at once, above the caps of the configuration',
    description:
      'The caps of the contracts stay. Each order is paid once on chain, however often it is released.',
    tag: 'Operator: health',
    body: strictObject({ orderId: text({ min: 66, max: 66 }), reason }),
    reply: Type.Object({ legs: Type.Array(Type.String(), { description: 'Empty when none waits' }) }),
  }),
  ...staffWorkRoutes,
  ...staffMailRoutes,
  getConfiguration: route({
    ...read,
    path: '/staff/configuration',
    summary: 'The configuration in force without secrets, versions and migrations',
    tag: 'Operator: health',
    reply: Type.Object({
      configuration: Type.Object({}, { additionalProperties: true }),
      versions,
    }),
  }),
  listAllExceptions: route({
    ...read,
    path: '/staff/exception/list/:page/:size',
    summary: 'List exceptions over all merchants, newest first',
    tag: 'Operator: health',
    params: pageParams,
    query: strictObject({ status: Type.Optional(Type.Enum(['open', 'resolved'])) }),
    reply: Type.Object({
      hasMore: Type.Boolean(),
      exceptions: Type.Array(Type.Object({ merchantId: Type.String(), ...paymentException.properties })),
    }),
  }),
  listInstallationAudit: route({
    ...read,
    path: '/staff/audit/list',
    summary: 'The audit log of the installation, newest first: JSON or CSV',
    description:
      'Acts of the staff and of people about their own accounts. Each merchant has a log of its own.',
    tag: 'Audit log',
    query: auditQuery,
    reply: auditReply,
    errors: ['field_invalid'],
  }),
  listStaff: route({
    ...read,
    path: '/staff/member/list',
    summary: 'List the operator’s staff',
    description: '`florin staff` adds and removes people.',
    tag: 'Operator: staff',
    reply: Type.Object({
      staff: Type.Array(
        Type.Object({
          userId: Type.String(),
          name: Type.String(),
          email: Type.String(),
          createAt: timestampText,
        }),
      ),
    }),
  }),
} as const;
