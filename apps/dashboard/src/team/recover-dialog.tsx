import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useWrite } from '../api/use-call.ts';
import { useMe } from '../app/use-me.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { isolated } from '../ui/isolated.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { OnceLink } from '../ui/once-link.tsx';
import { toast } from '../ui/toast.tsx';
import { Time } from '../ui/value.tsx';
import type { TeamMember } from './member.ts';

type Step = ReplyTo<'POST /member/recover'>;

/** Recovers a member who lost every way to sign in: one owner asks, a second one agrees and gets the link, shown once. */
export function RecoverDialog({
  member,
  onClose,
}: {
  readonly member: TeamMember | undefined;
  readonly onClose: () => void;
}) {
  const [made, setMade] = useState<Step>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  return (
    <Dialog
      isOpen={member !== undefined}
      onClose={close}
      isHeld={made !== undefined}
      title={made === undefined ? `Recover ${isolated(member?.name ?? '')}?` : 'Hand over this link'}
    >
      {member !== undefined &&
        (made === undefined ? (
          <Ask member={member} onMade={setMade} onClose={close} />
        ) : (
          <OnceLink label="Link of the recovery" url={made.url} onDone={close}>
            It works <Time time={made.effectiveAt} />, for a week. Give it to <bdi>{member.name}</bdi> in a
            way that you trust. <bdi>{member.name}</bdi> and every owner can cancel it.
          </OnceLink>
        ))}
    </Dialog>
  );
}

function Ask({
  member: { userId, name, recovery },
  onMade,
  onClose,
}: {
  readonly member: TeamMember;
  readonly onMade: (step: Step) => void;
  readonly onClose: () => void;
}) {
  const me = useMe();
  const isSecond = recovery?.status === 'asked' && recovery.askedBy !== me.userId;
  const recover = useWrite('POST /member/recover');
  const ask = async () => {
    const step = await recover.run({ body: { userId } });
    if (step === undefined) return;
    if (step.url !== '') onMade(step);
    else {
      toast(step.status === 'asked' ? 'Now a second owner agrees here' : 'The recovery waits already');
      onClose();
    }
  };
  const isForbidden = recover.error?.slug === 'role_forbidden';
  return (
    <>
      <div className="grid gap-3 text-soft">
        <p>
          For a member who lost every way to sign in, recovery codes too. A link sets a new password and ends
          every other way to sign in.
        </p>
        <p>
          {isSecond
            ? 'One owner has asked for it. Agree only if you know that this is true.'
            : 'You ask, and a second owner agrees. Then the link waits for a delay, in which it can be cancelled.'}
        </p>
        {isForbidden ? (
          <Notice tone="bad" title="Two other owners recover a member">
            Both must have been owners for some time. The operator recovers <bdi>{name}</bdi> if{' '}
            <bdi>{name}</bdi> also acts for another shop, or if there are not two such owners.
          </Notice>
        ) : (
          <FailureNotice error={recover.error} />
        )}
      </div>
      <DialogActions>
        <CancelButton disabled={recover.isRunning} />
        <Button kind="primary" isBusy={recover.isRunning} onClick={() => void ask()}>
          {isSecond ? 'Agree' : 'Ask for the recovery'}
        </Button>
      </DialogActions>
    </>
  );
}
