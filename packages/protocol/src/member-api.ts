import Type from 'typebox';
import { openRecovery } from './dashboard-sign-in.ts';
import { invitationReply } from './invitation.ts';
import { keyKind } from './key-api.ts';
import { bouncedAt } from './mail-api.ts';
import { memberRoles } from './member-role.ts';
import { route } from './route.ts';
import { idText, strictObject, successReply, text } from './schema.ts';

const role = Type.Enum(memberRoles);

const read = { method: 'GET', permissions: ['members:read'], effect: 'query' } as const;
const write = { method: 'POST', tag: 'Members', permissions: ['members:write'], effect: 'update' } as const;

/** Who acts for a merchant: members, their recovery and invitations. */
export const memberRoutes = {
  listMembers: route({
    ...read,
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
  }),
  changeMemberRole: route({
    ...write,
    path: '/member/role',
    summary: 'Change the role of a member',
    body: strictObject({
      userId: idText,
      role,
      ifRole: Type.Optional(
        Type.Enum(memberRoles, {
          description: 'The role as it was read. Refused with 100810 if the member has another one since',
        }),
      ),
    }),
    errors: ['member_not_found', 'last_owner', 'role_forbidden', 'member_changed'],
  }),
  removeMember: route({
    ...write,
    path: '/member/remove',
    summary: 'Remove a member',
    description:
      'Open invitations that the member made are revoked. API keys that the member made keep working, because programs ' +
      'depend on them: the answer names those in use, and /key/disable ends them.',
    body: strictObject({ userId: idText }),
    reply: Type.Object({
      ...successReply.properties,
      keys: Type.Array(
        Type.Object({ keyId: Type.String(), kind: keyKind, name: Type.String(), last4: Type.String() }),
      ),
    }),
    errors: ['member_not_found', 'last_owner', 'role_forbidden'],
  }),
  recoverMember: route({
    ...write,
    path: '/member/recover',
    summary: 'Recover a member who lost every way to sign in',
    description:
      'One owner asks, a second one agrees by the same request and gets the link, shown this once. Both have been owners for ' +
      'at least the delay of the installation, for which the link then waits. It sets a new password and ends every other ' +
      'way to sign in. For a person who acts for one merchant alone; others the operator recovers.',
    body: strictObject({ userId: idText }),
    reply: Type.Object({
      ...openRecovery,
      url: Type.String({ description: 'Empty unless this request made it' }),
    }),
    errors: ['member_not_found', 'role_forbidden'],
  }),
  cancelMemberRecovery: route({
    ...write,
    path: '/member/recover/cancel',
    summary: 'Cancel the recovery of a member',
    body: strictObject({ userId: idText }),
    errors: ['member_not_found'],
  }),
  listInvitations: route({
    ...read,
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
  }),
  inviteMember: route({
    ...write,
    path: '/invitation/create',
    summary: 'Invite a person by a link',
    description:
      'The link works once, within a week, and is shown this once. With `email`, only the account of that address accepts it, ' +
      'and with a mail server the link also goes there.',
    tag: 'Invitations',
    body: strictObject({ role, email: Type.Optional(text({ max: 254 })) }),
    reply: invitationReply,
    effect: 'create',
    errors: ['role_forbidden', 'member_exists', 'field_invalid'],
  }),
  revokeInvitation: route({
    ...write,
    path: '/invitation/revoke',
    summary: 'Make the link of an invitation useless',
    tag: 'Invitations',
    body: strictObject({ invitationId: idText }),
    errors: ['invitation_not_found'],
  }),
} as const;
