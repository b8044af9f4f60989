import { Refusal } from '@florin/protocol/error.ts';
import { staffRoutes as routes } from '@florin/protocol/staff-api.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { listTokenStops, resumeToken, stopToken, tokensNamed } from '#chains/token-stop.ts';
import { countLinksSettlingIn } from '#links/settling-links.ts';
import { inviteByLink } from '#members/invitation.ts';
import { assertMayInviteAsStaff } from '#members/inviter.ts';
import { listStaff } from '#members/staff.ts';
import { createMerchant, findMerchant, listMerchants } from '#merchants/merchant.ts';
import { suspendMerchant } from '#merchants/suspension.ts';
import { countOpenSettlingIn } from '#sessions/open-sessions.ts';
import { type AddRoute, success } from '../route-handler.ts';
import type { DashboardContext } from './context.ts';
import { shownInvitation } from './members.ts';
import { staffChanges } from './staff-change.ts';
import type { StaffCaller } from './visitor.ts';

/** The operator's screens: merchants, tokens and staff. */
export function addStaffRoutes(add: AddRoute<StaffCaller>, deps: DashboardContext): void {
  const { people, chains } = deps;
  const change = staffChanges(add, deps);

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
    await assertMayInviteAsStaff(transaction, { merchantId, userId: invitedBy });
    const made = await inviteByLink(transaction, deps, { merchantId, role, email, invitedBy });
    const { invitationId: subject, email: invited } = made.invitation;
    const act = { subject, after: JSON.stringify({ role, email: invited }) };
    return { reply: shownInvitation(made), merchantId, act };
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
      tokens: chains.tokens.map(({ tokenId, decimals }) => {
        const stop = stops.get(tokenId);
        return {
          tokenId,
          decimals,
          isStopped: stop !== undefined,
          isPaused: chains.conditions?.isPaused?.(tokenId) === true,
          reason: stop?.reason ?? '',
          stoppedAt: stop === undefined ? '' : formatTimestamp(stop.stoppedAt),
        };
      }),
    };
  });

  add(routes.countTokenUse, async ({ params: { token } }) => {
    const tokenIds = tokensNamed(
      chains.tokens.map(({ tokenId }) => tokenId),
      token,
    );
    const use = await countLinksSettlingIn(people, tokenIds);
    return { ...use, sessions: await countOpenSettlingIn(people, tokenIds) };
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
