import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import type { TeamMember } from './member.ts';

type LeftKeys = ReplyTo<'POST /member/remove'>['keys'];

/** Asks before a member is removed, then names the keys that the member leaves behind. */
export function RemoveMember({
  member,
  onClose,
}: {
  readonly member: TeamMember | undefined;
  readonly onClose: () => void;
}) {
  const [keys, setKeys] = useState<LeftKeys>([]);
  const remove = useWrite('POST /member/remove', { onDone: () => toast('The member was removed') });
  return (
    <>
      <Confirm
        isOpen={member !== undefined}
        onClose={onClose}
        title={`Remove ${member?.name ?? ''}?`}
        act="Remove"
        isDangerous
        write={remove}
        onConfirm={async () => {
          const done = await remove.run({ body: { userId: member?.userId ?? '' } });
          if (done === undefined) return;
          setKeys(done.keys);
          onClose();
        }}
      >
        <p>
          {member?.email} loses access to this shop at once, and the invitations that the member made stop
          working. API keys that the member made keep working: you see them next.
        </p>
      </Confirm>
      {keys.length > 0 && <LeftKeysDialog keys={keys} onClose={() => setKeys([])} />}
    </>
  );
}

function LeftKeysDialog({ keys, onClose }: { readonly keys: LeftKeys; readonly onClose: () => void }) {
  const [ended, setEnded] = useState<readonly string[]>([]);
  const disable = useWrite('POST /key/disable');
  const left = keys.filter(({ keyId }) => !ended.includes(keyId));
  return (
    <Dialog
      isOpen
      isHeld={disable.isRunning}
      onClose={onClose}
      title="Keys that the member made"
      description="They keep working, because programs of the shop may use them. Disable those that only the member knew."
    >
      <ul className="grid gap-2">
        {left.map(({ keyId, kind, name, last4 }) => (
          <li key={keyId} className="flex items-center justify-between gap-4">
            <span>
              {name !== '' && <span className="block">{name}</span>}
              <span className="font-mono text-sm">{`${kind === 'secret' ? 'sk_live' : 'rk_live'}_…${last4}`}</span>
            </span>
            <Button
              kind="danger"
              size="small"
              isBusy={disable.isRunning}
              onClick={async () => {
                if ((await disable.run({ body: { keyId } })) === undefined) return;
                toast('The key is disabled');
                setEnded([...ended, keyId]);
              }}
            >
              Disable
            </Button>
          </li>
        ))}
      </ul>
      <DialogActions notice={<FailureNotice error={disable.error} />}>
        <Button kind="primary" onClick={onClose} disabled={disable.isRunning}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
