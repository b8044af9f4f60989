import { useWrite } from '../api/use-call.ts';
import { Confirm } from '../ui/confirm.tsx';
import { isolated } from '../ui/isolated.ts';
import { toast } from '../ui/toast.tsx';
import type { TeamMember } from './member.ts';

/** Asks before the recovery of a member is cancelled. */
export function CancelRecovery({
  member,
  onClose,
}: {
  readonly member: TeamMember | undefined;
  readonly onClose: () => void;
}) {
  const cancel = useWrite('POST /member/recover/cancel', {
    onDone: () => toast('The recovery was cancelled'),
  });
  return (
    <Confirm
      isOpen={member !== undefined}
      onClose={onClose}
      title={`Cancel the recovery of ${isolated(member?.name ?? '')}?`}
      act="Cancel the recovery"
      isDangerous
      write={cancel}
      onConfirm={async () => {
        const done = await cancel.run({ body: { userId: member?.userId ?? '' } });
        if (done !== undefined) onClose();
      }}
    >
      <p>Its link does not work. The ways to sign in stay as they are.</p>
    </Confirm>
  );
}
