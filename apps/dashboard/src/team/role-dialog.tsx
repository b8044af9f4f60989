import type { MemberRole } from '@florin/protocol/member-role.ts';
import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { roleTitle } from '../app/roles.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { isolated } from '../ui/isolated.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import type { TeamMember } from './member.ts';
import { RoleChoice } from './role-choice.tsx';

/** Gives a member another role. */
export function RoleDialog({
  member,
  actor,
  onClose,
}: {
  readonly member: TeamMember | undefined;
  readonly actor: MemberRole;
  readonly onClose: () => void;
}) {
  return (
    <Dialog isOpen={member !== undefined} onClose={onClose} title={`Role of ${isolated(member?.name ?? '')}`}>
      {member !== undefined && <RoleForm member={member} actor={actor} onClose={onClose} />}
    </Dialog>
  );
}

function RoleForm({
  member,
  actor,
  onClose,
}: {
  readonly member: TeamMember;
  readonly actor: MemberRole;
  readonly onClose: () => void;
}) {
  const [role, setRole] = useState(member.role);
  const change = useWrite('POST /member/role');
  const save = async () => {
    if ((await change.run({ body: { userId: member.userId, role, ifRole: member.role } })) === undefined)
      return;
    toast(`${isolated(member.name)} is ${roleTitle(role)} now`);
    onClose();
  };
  return (
    <div className="grid gap-4">
      <RoleChoice actor={actor} value={role} onChange={setRole} />
      <DialogActions notice={<FailureNotice error={change.error} />}>
        <CancelButton />
        <Button
          kind="primary"
          isBusy={change.isRunning}
          disabled={role === member.role}
          onClick={() => void save()}
        >
          Save
        </Button>
      </DialogActions>
    </div>
  );
}
