import Type, { type TProperties } from 'typebox';
import { account } from './account.ts';
import { accountChange } from './account-change.ts';
import { auditQuery, auditReply } from './audit-log.ts';
import { meRoutes, openRecovery, proofRoutes, signInRoutes } from './dashboard-sign-in.ts';
import { invitationReply } from './invitation.ts';
import { linkHistoryRoutes } from './link-history.ts';
import { bouncedAt } from './mail-api.ts';
import { memberRoles } from './member-role.ts';
import { merchantApi } from './merchant-api.ts';
import { settlementModes } from './order.ts';
import { permissions } from './permission.ts';
import { refundSigningRoutes } from './refund-signing-api.ts';
import { type RouteTable, route } from './route.ts';
import { idText, successReply, text, unchangedSince } from './schema.ts';
import { sessionHistoryRoutes } from './session-history.ts';
import { staffRoutes } from './staff-api.ts';

const body = <T extends TProperties>(members: T) => Type.Object(members, { additionalProperties: false });
const role = Type.Enum(memberRoles);
const keyKind = Type.Union([Type.Literal('secret'), Type.Literal('restricted')]);

const ownMerchantRoutes = {
  renameMerchant: route({
    method: 'POST',
    path: '/merchant/rename',
    summary: 'Change the name of the merchant',
    description: 'Payers see it on payment pages and receipts from now on.',
    tag: 'Merchant',
    body: body({
      merchantName: text({ min: 1, max: 100 }),
      ifMerchantName: Type.Optional(
        text({
          max: 100,
          description: 'The name as it was read. Refused with 100811 if the merchant has another one since',
        }),
      ),
    }),
    reply: successReply,
    permissions: ['members:write'],
    effect: 'update',
    errors: ['field_invalid', 'merchant_changed'],
  }),
} as const;

const memberRoutes = {
  listMembers: route({
    method: 'GET',
    path: '/member/list',
    summary: 'List the members of the merchant',
    tag: 'Members',
    reply: Type.Object({
      members: Type.Array(
        Type.Object({
          userId: Type.String(),
          name: Type.String(),
          email: Type.String(),
          role,
          createAt: Type.String(),
          recovery: Type.Union(
            [
              Type.Object({
                ...openRecovery,
                askedBy: Type.String({ description: 'The owner who asked first; empty for the operator' }),
              }),
              Type.Null(),
            ],
            { description: 'An open recovery of the member; cancel it if the member did not lose access' },
          ),
          bouncedAt,
        }),
      ),
    }),
    permissions: ['members:read'],
    effect: 'query',
    errors: [],
  }),
  changeMemberRole: route({
    method: 'POST',
    path: '/member/role',
    summary: 'Change the role of a member',
    tag: 'Members',
    body: body({
      userId: idText,
      role,
      ifRole: Type.Optional(
        Type.Enum(memberRoles, {
          description: 'The role as it was read. Refused with 100810 if the member has another one since',
        }),
      ),
    }),
    reply: successReply,
    permissions: ['members:write'],
    effect: 'update',
    errors: ['member_not_found', 'last_owner', 'role_forbidden', 'member_changed'],
  }),
  removeMember: route({
    method: 'POST',
    path: '/member/remove',
    summary: 'Remove a member',
    description:
      'Open invitations that the member made are revoked. API keys that the member made keep working, because programs ' +
      'depend on them: the answer names those in use, and /key/disable ends them.',
    tag: 'Members',
    body: body({ userId: idText }),
    reply: Type.Object({
      ...successReply.properties,
      keys: Type.Array(Type.Object({ keyId: Type.String(), kind: keyKind, last4: Type.String() })),
    }),
    permissions: ['members:write'],
    effect: 'update',
    errors: ['member_not_found', 'last_owner', 'role_forbidden'],
  }),
  recoverMember: route({
    method: 'POST',
    path: '/member/recover',
    summary: 'Recover a member who lost every way to sign in',
    description:
      'One owner asks, a second one agrees by the same request and gets the link, shown this once. Both have been owners for ' +
      'at least the delay of the installation, for which the link then waits. It sets a new password and ends every other ' +
      'way to sign in. For a person who acts for one merchant alone; others the operator recovers.',
    tag: 'Members',
    body: body({ userId: idText }),
    reply: Type.Object({
      ...openRecovery,
      url: Type.String({ description: 'Empty unless this request made it' }),
    }),
    permissions: ['members:write'],
    effect: 'update',
    errors: ['member_not_found', 'role_forbidden'],
  }),
  cancelMemberRecovery: route({
    method: 'POST',
    path: '/member/recover/cancel',
    summary: 'Cancel the recovery of a member',
    tag: 'Members',
    body: body({ userId: idText }),
    reply: successReply,
    permissions: ['members:write'],
    effect: 'update',
    errors: ['member_not_found'],
  }),
  listInvitations: route({
    method: 'GET',
    path: '/invitation/list',
    summary: 'List the invitations that can be accepted',
    tag: 'Invitations',
    reply: Type.Object({
      invitations: Type.Array(
        Type.Object({
          invitationId: Type.String(),
          role: Type.String(),
          email: Type.String(),
          createAt: Type.String(),
          expiresAt: Type.String(),
          bouncedAt,
        }),
      ),
    }),
    permissions: ['members:read'],
    effect: 'query',
    errors: [],
  }),
  inviteMember: route({
    method: 'POST',
    path: '/invitation/create',
    summary: 'Invite a person by a link',
    description:
      'The link works once, within a week, and is shown this once. With a mail server it also goes to `email`.',
    tag: 'Invitations',
    body: body({ role, email: Type.Optional(text({ max: 254 })) }),
    reply: invitationReply,
    permissions: ['members:write'],
    effect: 'create',
    errors: ['role_forbidden', 'field_invalid'],
  }),
  revokeInvitation: route({
    method: 'POST',
    path: '/invitation/revoke',
    summary: 'Make the link of an invitation useless',
    tag: 'Invitations',
    body: body({ invitationId: idText }),
    reply: successReply,
    permissions: ['members:write'],
    effect: 'update',
    errors: ['invitation_not_found'],
  }),
} as const;

const address = text({ min: 42, max: 42, description: 'An EVM address, with its checksum or in lower case' });
const settlementMode = Type.Enum(['', 'escrow', 'direct']);
const settlementCurrencies = Type.Array(text({ min: 1, max: 64 }), { minItems: 1, maxItems: 100 });
const proof = body({ chainId: Type.Integer({ minimum: 1 }), signature: text({ min: 4, max: 20_000 }) });

const ifUpdateAt = unchangedSince('account', 100403);

const noSuchAccount = ['account_not_found', 'account_removed', 'account_version_changed'] as const;

const accountRoutes = {
  getWalletProofText: route({
    method: 'GET',
    path: '/account/proof/:accountAddress',
    summary: 'The text that a wallet signs to prove that it takes settlements',
    tag: 'Accounts',
    params: Type.Object({ accountAddress: address }),
    reply: Type.Object({ message: Type.String() }),
    permissions: ['accounts:read'],
    effect: 'query',
    errors: ['field_invalid'],
  }),
  addWalletAccount: route({
    method: 'POST',
    path: '/account/create',
    summary: 'Add a wallet',
    description:
      'The first wallet of a merchant takes effect at once, every other after the delay of the installation. Until ' +
      'then no link and no session can name it, and it can be cancelled. Without a proof it is marked as not proven.',
    tag: 'Accounts',
    body: body({
      accountName: text({ min: 1, max: 100 }),
      accountAddress: address,
      settlementCurrencies,
      settlementMode: Type.Optional(settlementMode),
      proof: Type.Optional(proof),
    }),
    reply: accountChange,
    permissions: ['accounts:write'],
    effect: 'create',
    errors: [
      'field_invalid',
      'account_limit',
      'currency_unsupported',
      'signature_invalid',
      'chain_unavailable',
    ],
  }),
  listAccountChanges: route({
    method: 'GET',
    path: '/account/change/list',
    summary: 'The latest changes of wallets, with those that wait',
    tag: 'Accounts',
    reply: Type.Object({
      delaySeconds: Type.Integer({ description: 'How long a wallet waits that is not the merchant’s first' }),
      settlementMode: Type.Enum(settlementModes, {
        description: 'Of this installation, for wallets without a mode of their own',
      }),
      changes: Type.Array(accountChange),
    }),
    permissions: ['accounts:read'],
    effect: 'query',
    errors: [],
  }),
  cancelAccountChange: route({
    method: 'POST',
    path: '/account/change/cancel',
    summary: 'Cancel a wallet or an address that waits',
    tag: 'Accounts',
    body: body({ changeId: idText }),
    reply: successReply,
    permissions: ['accounts:write'],
    effect: 'update',
    errors: ['account_change_not_found'],
  }),
  updateAccount: route({
    method: 'POST',
    path: '/account/update',
    summary: 'Change the name, the tokens or the settlement mode at once',
    description: 'What is absent stays. A token in which an active payment link settles cannot go.',
    tag: 'Accounts',
    body: body({
      accountId: idText,
      accountName: Type.Optional(text({ min: 1, max: 100 })),
      settlementCurrencies: Type.Optional(settlementCurrencies),
      settlementMode: Type.Optional(settlementMode),
      ifUpdateAt,
    }),
    reply: account,
    permissions: ['accounts:write'],
    effect: 'update',
    errors: [...noSuchAccount, 'currency_unsupported', 'field_invalid'],
  }),
  changeAccountAddress: route({
    method: 'POST',
    path: '/account/address',
    summary: 'Give an account another address, after the delay of the installation',
    description:
      'The account then has a new version. Sessions made before keep the old address. It can be cancelled while it waits. ' +
      'Without a proof it is marked as not proven.',
    tag: 'Accounts',
    body: body({ accountId: idText, accountAddress: address, proof: Type.Optional(proof), ifUpdateAt }),
    reply: accountChange,
    permissions: ['accounts:write'],
    effect: 'update',
    errors: [...noSuchAccount, 'field_invalid', 'signature_invalid', 'chain_unavailable'],
  }),
  removeAccount: route({
    method: 'POST',
    path: '/account/remove',
    summary: 'Remove a wallet and disable its payment links',
    tag: 'Accounts',
    body: body({ accountId: idText, ifUpdateAt }),
    reply: Type.Object({ disabledLinks: Type.Integer() }),
    permissions: ['accounts:write'],
    effect: 'update',
    errors: noSuchAccount,
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
    body: body({ linkId: idText }),
    reply: successReply,
    permissions: ['payment_links:write'],
    effect: 'update',
    errors: ['link_not_found', 'link_archived'],
  }),
} as const;

const attention = Type.Object({
  count: Type.Integer(),
  ids: Type.Array(Type.String(), { description: 'Of the oldest, at most 20' }),
});

const periodRow = {
  period: Type.Integer({ description: 'From 0: the period that begins at this place of the times' }),
  tokenId: Type.String(),
  payments: Type.Integer(),
};

const summaryRoutes = {
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
      pausedWebhooks: attention,
      delayedSettlements: Type.Object(attention.properties, { description: 'Sessions' }),
      expiringKeys: Type.Object(attention.properties, { description: 'API keys that expire within 14 days' }),
    }),
    permissions: ['sessions:read'],
    effect: 'query',
    errors: [],
  }),
  getPeriodSums: route({
    method: 'POST',
    path: '/summary/periods',
    summary: 'What was received and settled in each period',
    description:
      'A period lasts from one of the times up to the next. The reader chooses them, as the midnights of its own time zone. ' +
      'Periods and tokens without a payment have no row.',
    tag: 'Summary',
    body: body({
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
    effect: 'query',
    errors: ['field_invalid'],
  }),
  getAccountSums: route({
    method: 'POST',
    path: '/report/sums',
    summary: 'What was received, settled and refunded in each period, by account and token',
    description:
      'A period lasts from one of the times up to the next. Periods, accounts and tokens without money have no row. The ' +
      'sums equal those of reports of the same time.',
    tag: 'Summary',
    body: body({
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
    effect: 'query',
    errors: ['field_invalid', 'account_not_found'],
  }),
} as const;

const amount = Type.Integer({ minimum: 1, maximum: 9_000_000_000_000_000, description: 'Micro-USD' });

const keyRoutes = {
  listApiKeys: route({
    method: 'GET',
    path: '/key/list',
    summary: 'List the API keys',
    tag: 'API keys',
    reply: Type.Object({
      keys: Type.Array(
        Type.Object({
          keyId: Type.String(),
          kind: keyKind,
          last4: Type.String(),
          createdBy: Type.String({ description: 'The id of the member who made it; empty: the operator' }),
          permissions: Type.Array(Type.String()),
          ipAllowList: Type.Array(Type.String()),
          origins: Type.Array(Type.String()),
          maxSessionAmount: Type.Union([Type.Integer(), Type.Null()]),
          maxDayAmount: Type.Union([Type.Integer(), Type.Null()]),
          createAt: Type.String(),
          expiresAt: Type.String({ description: 'Empty: never' }),
          lastUsedAt: Type.String({ description: 'Empty: never; at most a minute behind' }),
          revokedAt: Type.String({ description: 'Empty: in use' }),
        }),
      ),
    }),
    permissions: ['keys:read'],
    effect: 'query',
    errors: [],
  }),
  createApiKey: route({
    method: 'POST',
    path: '/key/create',
    summary: 'Create an API key',
    description: 'The key is shown this once. It has no permission that the member’s role lacks.',
    tag: 'API keys',
    body: body({
      kind: keyKind,
      permissions: Type.Optional(Type.Array(Type.Enum(permissions))),
      expiresAt: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 9_999_999_999, description: 'Unix seconds' }),
      ),
      ipAllowList: Type.Optional(Type.Array(text({ max: 64 }))),
      origins: Type.Optional(Type.Array(text({ max: 300 }))),
      maxSessionAmount: Type.Optional(amount),
      maxDayAmount: Type.Optional(amount),
    }),
    reply: Type.Object({ keyId: Type.String(), key: Type.String() }),
    permissions: ['keys:write'],
    effect: 'create',
    errors: ['field_invalid', 'role_forbidden'],
  }),
  disableApiKey: route({
    method: 'POST',
    path: '/key/disable',
    summary: 'Disable an API key for good',
    tag: 'API keys',
    body: body({ keyId: idText }),
    reply: successReply,
    permissions: ['keys:write'],
    effect: 'update',
    errors: ['api_key_not_found'],
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
