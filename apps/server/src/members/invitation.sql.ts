import { statement } from '@florin/pg';

const columns = {
  invitation_id: 'text',
  merchant_id: 'text?',
  role: 'text',
  email: 'text',
  invited_by: 'text',
  created_at: 'timestamptz',
  expires_at: 'timestamptz',
  accepted_at: 'timestamptz?',
  revoked_at: 'timestamptz?',
} as const;

const columnList = Object.keys(columns).join(', ');

export const insertInvitation = statement({
  name: 'invitation_insert',
  parameters: {
    invitationId: 'text',
    merchantId: 'text?',
    role: 'text',
    email: 'text',
    tokenHash: 'bytea',
    invitedBy: 'text',
    createdAt: 'timestamptz',
    expiresAt: 'timestamptz',
  },
  columns,
  text: `insert into invitations
     (invitation_id, merchant_id, role, email, token_hash, invited_by, created_at, expires_at)
   values (:invitationId, :merchantId, :role, :email, :tokenHash, :invitedBy, :createdAt, :expiresAt)
   returning ${columnList}`,
});

export const openInvitations = statement({
  name: 'invitations_open',
  parameters: { merchantId: 'text', now: 'timestamptz' },
  columns,
  text: `select ${columnList} from invitations
   where merchant_id = :merchantId and accepted_at is null and revoked_at is null and expires_at > :now
   order by created_at desc, invitation_id`,
});

export const invitationByToken = statement({
  name: 'invitation_by_token',
  parameters: { tokenHash: 'bytea' },
  columns,
  text: `select ${columnList} from invitations where token_hash = :tokenHash`,
});

// The lock makes a second acceptance wait and then find the first.
export const lockInvitation = statement({
  name: 'invitation_lock_by_token',
  parameters: { tokenHash: 'bytea' },
  columns: { ...columns, merchant_name: 'text?' },
  text: `select ${columnList},
     (select merchant_name from merchants m where m.merchant_id = invitations.merchant_id) as merchant_name
   from invitations where token_hash = :tokenHash for update`,
});

// Staff invite the first owner alone: a second acceptance waits for the first.
export const lockMerchantOfInvitation = statement({
  name: 'invitation_lock_merchant',
  parameters: { merchantId: 'text' },
  columns: { merchant_id: 'text' },
  text: 'select merchant_id from merchants where merchant_id = :merchantId for no key update',
});

export const setAccepted = statement({
  name: 'invitation_set_accepted',
  parameters: { invitationId: 'text', userId: 'text', at: 'timestamptz' },
  text: 'update invitations set accepted_at = :at, accepted_by = :userId where invitation_id = :invitationId',
});

export const bindAddress = statement({
  name: 'invitation_bind_address',
  parameters: { invitationId: 'text', email: 'text' },
  text: `update invitations set email = :email where invitation_id = :invitationId and email = ''`,
});

export const setRevoked = statement({
  name: 'invitation_set_revoked',
  parameters: { merchantId: 'text', invitationId: 'text', at: 'timestamptz' },
  columns: { invitation_id: 'text' },
  text: `update invitations set revoked_at = :at
   where merchant_id = :merchantId and invitation_id = :invitationId and accepted_at is null and revoked_at is null
   returning invitation_id`,
});

export const revokeOfMember = statement({
  name: 'invitations_revoke_of_member',
  parameters: { merchantId: 'text', userId: 'text', stillGiven: 'text[]', at: 'timestamptz' },
  columns: { invitation_id: 'text' },
  text: `update invitations set revoked_at = :at
   where merchant_id = :merchantId and invited_by = :userId and role <> all(:stillGiven) and accepted_at is null
     and revoked_at is null returning invitation_id`,
});

// Every invitation of the person, or those of merchants that the person does not act for.
export const revokeOfPerson = statement({
  name: 'invitations_revoke_of_person',
  parameters: { userId: 'text', isEvery: 'bool', at: 'timestamptz' },
  columns: { invitation_id: 'text', merchant_id: 'text?' },
  text: `update invitations i set revoked_at = :at
   where invited_by = :userId and accepted_at is null and revoked_at is null and (:isEvery or not exists (
     select from memberships m where m.merchant_id = i.merchant_id and m.user_id = i.invited_by and m.role in ('owner', 'admin')))
   returning invitation_id, merchant_id`,
});
