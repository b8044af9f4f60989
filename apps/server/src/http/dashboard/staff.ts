import type { Database, Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { BodyOf, Route } from '@florin/protocol/route.ts';
import { formatTimestamp } from '@florin/protocol/schema.ts';
import { staffRoutes as routes } from '@florin/protocol/staff-api.ts';
import type { Chains } from '#chains/chain.ts';
import { listTokenStops, resumeToken, stopToken } from '#chains/token-stop.ts';
import { type Act, recordAct } from '#members/audit.ts';
import type { MemberContext } from '#members/context.ts';
import { invitationUrl, invite } from '#members/invitation.ts';
import { listStaff } from '#members/staff.ts';
import { createMerchant, findMerchant, listMerchants } from '#merchants/merchant.ts';
import { suspendMerchant } from '#merchants/suspension.ts';
import { type AddRoute, type ReplyData, success } from '../route-handler.ts';
import type { StaffCaller } from './visitor.ts';

interface StaffDeps extends MemberContext {
  readonly people: Database;
  readonly dashboardOrigin: string;
  readonly chains: Chains;
}

/** What a change answers, and its entry in the log: of the merchant, or of the installation without one. */
interface Done<R extends Route> {
  readonly reply: ReplyData<R>;
  readonly merchantId?: string;
  readonly act: Omit<Act, 'action'>;
}

/** The operator's screens: merchants, tokens and staff. */
export function addStaffRoutes(add: AddRoute<StaffCaller>, deps: StaffDeps): void {
  const { people, chains } = deps;
  /** A change and its entry in the audit log, in one transaction. */
  const change = <R extends Route>(
    route: R,
    action: string,
    handle: (transaction: Transaction, body: BodyOf<R>, userId: string) => Promise<Done<R>>,
  ): void =>
    add(route, ({ body, caller: { userId, actor } }) =>
      people.transaction(async (transaction) => {
        const { reply, merchantId, act } = await handle(transaction, body, userId);
        await recordAct(transaction, deps, { merchantId, actor, act: { ...act, action } });
        return reply;
      }),
    );

  add(routes.listAllMerchants, async () => {
    const merchants = await listMerchants(people);
    return {
      merchants: merchants.map(({ createdAt, suspendedAt, ...merchant }) => ({
        ...merchant,
        createAt: formatTimestamp(createdAt),
        suspendedAt: suspendedAt === undefined ? '' : formatTimestamp(suspendedAt),
      })),
    };
  });

  change(routes.createMerchant, 'createMerchant', async (transaction, body) => {
    const { merchantId, merchantName } = await createMerchant(transaction, deps, body);
    const act = { subject: merchantId, after: JSON.stringify({ merchantName }) };
    return { reply: { merchantId }, merchantId, act };
  });

  change(routes.inviteToMerchant, 'inviteMember', async (transaction, body, invitedBy) => {
    const { merchantId, role, email = '' } = body;
    if ((await findMerchant(transaction, merchantId)) === undefined) {
      throw new Refusal('merchant_not_found', merchantId);
    }
    const { invitation, token } = await invite(transaction, deps, { merchantId, role, email, invitedBy });
    const { invitationId, expiresAt } = invitation;
    const url = invitationUrl(`${deps.dashboardOrigin}/dashboard`, token);
    return {
      reply: { invitationId, url, expiresAt: formatTimestamp(expiresAt) },
      merchantId,
      act: { subject: invitationId, after: JSON.stringify({ role, email: invitation.email }) },
    };
  });

  change(routes.suspendMerchant, 'suspendMerchant', async (transaction, { merchantId, reason }) => {
    await suspendMerchant(transaction, deps, { merchantId, isSuspended: true });
    const act = { subject: merchantId, after: JSON.stringify({ isSuspended: true, reason }) };
    return { reply: success, merchantId, act };
  });

  change(routes.resumeMerchant, 'resumeMerchant', async (transaction, { merchantId }) => {
    await suspendMerchant(transaction, deps, { merchantId, isSuspended: false });
    const act = { subject: merchantId, after: JSON.stringify({ isSuspended: false }) };
    return { reply: success, merchantId, act };
  });

  add(routes.listTokens, async () => {
    const stops = new Map((await listTokenStops(people)).map((stop) => [stop.tokenId, stop]));
    return {
      tokens: chains.tokens.map(({ tokenId }) => {
        const stop = stops.get(tokenId);
        return {
          tokenId,
          isStopped: stop !== undefined,
          reason: stop?.reason ?? '',
          stoppedAt: stop === undefined ? '' : formatTimestamp(stop.stoppedAt),
        };
      }),
    };
  });

  change(routes.stopToken, 'stopToken', async (transaction, { token, reason }) => {
    const tokenIds = await stopToken(transaction, deps, { token, reason });
    return { reply: { tokenIds }, act: { subject: token, after: JSON.stringify({ tokenIds, reason }) } };
  });

  change(routes.resumeToken, 'resumeToken', async (transaction, { token }) => {
    const tokenIds = await resumeToken(transaction, token);
    return { reply: { tokenIds }, act: { subject: token, before: JSON.stringify({ tokenIds }) } };
  });

  add(routes.listStaff, async () => ({
    staff: (await listStaff(people)).map(({ since, ...person }) => ({
      ...person,
      createAt: formatTimestamp(since),
    })),
  }));
}
