import type { MemberRole } from '@florin/protocol/member-role.ts';
import { mayAssign } from '@florin/protocol/member-role.ts';
import { Ellipsis, KeyRound, ShieldX, Trash2, UserCog, UserPlus, Users } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { roleTitle } from '../app/roles.ts';
import { useMe } from '../app/use-me.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { isolated } from '../ui/isolated.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { PageHeader, Section } from '../ui/page.tsx';
import { Empty, EmptyLine } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Time } from '../ui/value.tsx';
import { CancelRecovery } from './cancel-recovery.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import type { TeamMember } from './member.ts';
import { RecoverDialog } from './recover-dialog.tsx';
import { RemoveMember } from './remove-member.tsx';
import { RoleDialog } from './role-dialog.tsx';

type Invitation = ReplyTo<'GET /invitation/list'>['invitations'][number];

export default function Team() {
  const { role } = useMerchant();
  const [isInviting, setInviting] = useState(false);
  const mayChange = mayDo(role, 'members:write');
  return (
    <>
      <PageHeader
        title="Team"
        description="The people who work with this shop, and what each of them may do."
        actions={
          mayChange && (
            <Button kind="primary" icon={<UserPlus />} onClick={() => setInviting(true)}>
              Invite a member
            </Button>
          )
        }
      />
      <Members mayChange={mayChange} />
      <Invitations mayChange={mayChange} />
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
    </>
  );
}

const recoveryStates = { asked: 'Recovery asked for', waiting: 'Recovery waits' };

const memberColumns = (own: string): readonly Column<TeamMember>[] => [
  {
    key: 'name',
    header: 'Name',
    isWide: true,
    cell: ({ userId, name, email, recovery, bouncedAt }) => (
      <span className="flex items-center gap-3">
        <span
          aria-hidden
          className="hidden size-8 shrink-0 items-center justify-center rounded-full bg-tint text-sm font-semibold text-accent sm:flex"
        >
          {name.charAt(0).toUpperCase()}
        </span>
        <span className="min-w-0">
          <span className="flex items-center gap-2">
            <span className="truncate font-medium">{name}</span>
            {userId === own && <Badge>You</Badge>}
            {recovery !== null && <Badge tone="warn">{recoveryStates[recovery.status]}</Badge>}
            <BounceBadge bouncedAt={bouncedAt} />
          </span>
          <span className="block truncate text-sm text-soft">{email}</span>
        </span>
      </span>
    ),
  },
  { key: 'role', header: 'Role', cell: ({ role }) => roleTitle(role) },
  {
    key: 'since',
    header: 'Member since',
    from: 'md',
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

/** Nothing where the mail server takes the address, as far as is known. */
function BounceBadge({ bouncedAt }: { readonly bouncedAt: string }) {
  if (bouncedAt === '') return null;
  return (
    <span title={`The mail server refused this address on ${bouncedAt} UTC, so it gets no e-mails.`}>
      <Badge tone="warn">E-mails come back</Badge>
    </span>
  );
}

function Members({ mayChange }: { readonly mayChange: boolean }) {
  const me = useMe();
  const { role: actor } = useMerchant();
  const members = useRead('GET /member/list', {});
  const [changed, setChanged] = useState<TeamMember>();
  const [removed, setRemoved] = useState<TeamMember>();
  const [recovered, setRecovered] = useState<TeamMember>();
  const [cancelled, setCancelled] = useState<TeamMember>();
  const mayRecover = ({ userId, recovery }: TeamMember) =>
    actor === 'owner' &&
    userId !== me.userId &&
    (recovery === null || (recovery.status === 'asked' && recovery.askedBy !== me.userId));
  const isOpen = (member: TeamMember) => mayChange && mayAssign(asRole(actor), member.role);
  const acts: Column<TeamMember> = {
    key: 'acts',
    header: '',
    isAtEnd: true,
    cell: (member) =>
      isOpen(member) && (
        <Menu
          trigger={
            <IconButton label={`Acts for ${isolated(member.name)}`}>
              <Ellipsis />
            </IconButton>
          }
        >
          <MenuItem icon={<UserCog />} onSelect={() => setChanged(member)}>
            Change the role
          </MenuItem>
          {mayRecover(member) && (
            <MenuItem icon={<KeyRound />} onSelect={() => setRecovered(member)}>
              Recover the account
            </MenuItem>
          )}
          {member.recovery !== null && (
            <MenuItem icon={<ShieldX />} onSelect={() => setCancelled(member)}>
              Cancel the recovery
            </MenuItem>
          )}
          <MenuItem icon={<Trash2 />} isDangerous onSelect={() => setRemoved(member)}>
            Remove
          </MenuItem>
        </Menu>
      ),
  };
  return (
    <>
      <Table
        label="Members"
        columns={[...memberColumns(me.userId), ...(mayChange ? [acts] : [])]}
        source={{ rows: members.data?.members, error: members.error, onRetry: () => void members.refetch() }}
        keyOf={({ userId }) => userId}
        skeletonRows={3}
        empty={<Empty icon={<Users />} title="No members" />}
      />
      <RoleDialog member={changed} actor={asRole(actor)} onClose={() => setChanged(undefined)} />
      <RecoverDialog member={recovered} onClose={() => setRecovered(undefined)} />
      <CancelRecovery member={cancelled} onClose={() => setCancelled(undefined)} />
      <RemoveMember member={removed} onClose={() => setRemoved(undefined)} />
    </>
  );
}

/** The role of the one who acts. Staff changes nothing, so it counts as a viewer here. */
function asRole(role: string): MemberRole {
  return role === 'owner' || role === 'admin' ? role : 'viewer';
}

const invitationColumns: readonly Column<Invitation>[] = [
  {
    key: 'for',
    header: 'For',
    isWide: true,
    cell: ({ email, bouncedAt }) =>
      email === '' ? (
        <span className="text-soft">Anyone with the link</span>
      ) : (
        <span className="flex flex-wrap items-center gap-2">
          <span className="truncate" title={email}>
            {email}
          </span>
          <BounceBadge bouncedAt={bouncedAt} />
        </span>
      ),
  },
  { key: 'role', header: 'Role', cell: ({ role }) => roleTitle(role) },
  {
    key: 'created',
    header: 'Created',
    from: 'md',
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
  { key: 'expires', header: 'Ends', from: 'sm', cell: ({ expiresAt }) => <Time time={expiresAt} /> },
];

function Invitations({ mayChange }: { readonly mayChange: boolean }) {
  const invitations = useRead('GET /invitation/list', {});
  const [revoked, setRevoked] = useState<Invitation>();
  const revoke = useWrite('POST /invitation/revoke', {
    onDone: () => toast('The invitation was withdrawn'),
  });
  const acts: Column<Invitation> = {
    key: 'acts',
    header: '',
    isAtEnd: true,
    cell: (invitation) => (
      <Button kind="quiet" size="small" onClick={() => setRevoked(invitation)}>
        Withdraw
      </Button>
    ),
  };
  return (
    <Section title="Open invitations" description="Each link works once, within a week.">
      <Table
        label="Open invitations"
        columns={[...invitationColumns, ...(mayChange ? [acts] : [])]}
        source={{
          rows: invitations.data?.invitations,
          error: invitations.error,
          onRetry: () => void invitations.refetch(),
        }}
        keyOf={({ invitationId }) => invitationId}
        skeletonRows={1}
        empty={
          <EmptyLine>
            No open invitations. Invite the people who refund, look after payments or build the shop.
          </EmptyLine>
        }
      />
      <Confirm
        isOpen={revoked !== undefined}
        onClose={() => setRevoked(undefined)}
        title="Withdraw the invitation?"
        act="Withdraw"
        isDangerous
        write={revoke}
        onConfirm={async () => {
          const done = await revoke.run({ body: { invitationId: revoked?.invitationId ?? '' } });
          if (done !== undefined) setRevoked(undefined);
        }}
      >
        <p>Its link stops working at once.</p>
      </Confirm>
    </Section>
  );
}
