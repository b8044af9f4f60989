import type { Database, Queryable } from '@florin/pg';
import { ofMerchantRoutes as routes } from '@florin/protocol/dashboard-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import { formatTimestamp } from '@florin/protocol/timestamp.ts';
import { findBounces } from '#mail/bounce.ts';
import type { MemberContext } from '#members/context.ts';
import { inviteByLink, listInvitations, revokeInvitation } from '#members/invitation.ts';
import { assertMayInvite, recordEnded } from '#members/inviter.ts';
import { changeRole, findMember, listMembers, removeMember } from '#members/membership.ts';
import { cancelRecovery, listRecoveries, recoverByOwner, recoveryUrl } from '#members/recovery.ts';
import { isKeyLive, listApiKeys } from '#merchants/api-key.ts';
import type { MerchantRoutes } from '../operations/once.ts';
import { type AddRoute, success } from '../route-handler.ts';
import type { DashboardContext } from './context.ts';
import { shownRecovery } from './me.ts';
import { type MemberCaller, memberOf } from './visitor.ts';

/** Recovery of members, by two owners. It touches how people sign in, which no merchant's scope shows. */
export function addRecoveryRoutes(add: AddRoute<MemberCaller>, deps: DashboardContext): void {
  const { people } = deps;
  // A lost account waits as long as a wallet: both lead to the merchant's money.
  const waiting = { ...deps, recoveryDelayMs: deps.walletDelayMs };
  add(routes.recoverMember, async ({ body: { userId }, caller: { merchantId, actor } }) => {
    const { status, effectiveAt, token } = await people.transaction((transaction) =>
      recoverByOwner(transaction, waiting, { merchantId, userId, actor }),
    );
    return {
      ...shownRecovery({ status, effectiveAt }),
      url: token === undefined ? '' : recoveryUrl(`${deps.dashboardOrigin}/dashboard`, token),
    };
  });

  add(routes.cancelMemberRecovery, async ({ body: { userId }, caller: { merchantId, actor } }) => {
    if ((await findMember(people, { merchantId, userId })) === undefined) {
      throw new Refusal('member_not_found', userId);
    }
    await people.transaction((transaction) => cancelRecovery(transaction, deps, { userId, actor }));
    return success;
  });
}

/** Members of a merchant and invitations to become one. */
export function addMemberRoutes(
  add: MerchantRoutes,
  deps: MemberContext & { readonly people: Database; readonly dashboardOrigin: string },
): void {
  add.read(routes.listMembers, async ({ caller: { merchantId } }, db) => {
    const members = await listMembers(db, merchantId);
    const recoveries = await listRecoveries(deps.people, deps, merchantId);
    const bouncedAt = await bounceTimes(db, members);
    return {
      members: members.map(({ since, ...member }) => {
        const open = recoveries.find(({ userId }) => userId === member.userId);
        return {
          ...member,
          createAt: formatTimestamp(since),
          bouncedAt: bouncedAt(member.email),
          recovery: open === undefined ? null : { ...shownRecovery(open), askedBy: open.askedBy },
        };
      }),
    };
  });

  add.action(routes.changeMemberRole, async ({ body, caller }, transaction) => {
    const { merchantId, role, actor } = memberOf(caller);
    const ended = await changeRole(transaction, deps, { ...body, merchantId, actor: role });
    await recordEnded(transaction, deps, { actor, ended });
  });

  add.change(routes.removeMember, async ({ body: { userId }, caller }, transaction) => {
    const { merchantId, role, actor } = memberOf(caller);
    const ended = await removeMember(transaction, deps, { merchantId, userId, actor: role });
    await recordEnded(transaction, deps, { actor, ended });
    const keys = await listApiKeys(transaction, merchantId);
    const left = keys.filter((key) => key.createdBy === userId && isKeyLive(key, deps.clock.now()));
    return { ...success, keys: left.map(({ keyId, kind, name, last4 }) => ({ keyId, kind, name, last4 })) };
  });

  add.read(routes.listInvitations, async ({ caller: { merchantId } }, db) => {
    const invitations = await listInvitations(db, deps, merchantId);
    const bouncedAt = await bounceTimes(db, invitations);
    return {
      invitations: invitations.map(({ invitationId, role, email, createdAt, expiresAt }) => ({
        ...{ invitationId, role, email },
        createAt: formatTimestamp(createdAt),
        expiresAt: formatTimestamp(expiresAt),
        bouncedAt: bouncedAt(email),
      })),
    };
  });

  add.change(routes.inviteMember, async ({ body: { role, email = '' }, caller }, transaction) => {
    const { merchantId, callerId: invitedBy } = caller;
    await assertMayInvite(transaction, { merchantId, userId: invitedBy, role });
    const members = await listMembers(transaction, merchantId);
    if (members.some((member) => member.email.toLowerCase() === email.toLowerCase()))
      throw new Refusal('member_exists', { detail: email, param: 'email' });
    return shownInvitation(await inviteByLink(transaction, deps, { merchantId, role, email, invitedBy }));
  });

  add.action(routes.revokeInvitation, async ({ body, caller: { merchantId } }, transaction) => {
    await revokeInvitation(transaction, deps, { ...body, merchantId });
  });
}

/** A new invitation as its inviter sees it, with the link that is shown this once. */
export function shownInvitation({ invitation, url, isMailed }: Awaited<ReturnType<typeof inviteByLink>>) {
  const { invitationId, expiresAt } = invitation;
  return { invitationId, url, expiresAt: formatTimestamp(expiresAt), isMailed };
}

/** When the mail server last refused each address for good; empty: it did not. */
async function bounceTimes(
  queryable: Queryable,
  people: readonly { readonly email: string }[],
): Promise<(email: string) => string> {
  const bounces = await findBounces(
    queryable,
    people.map(({ email }) => email),
  );
  return (email) => {
    const bounce = bounces.get(email);
    return bounce === undefined ? '' : formatTimestamp(bounce.bouncedAt);
  };
}
