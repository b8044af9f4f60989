import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import type { Me } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Notice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { Time } from '../ui/value.tsx';

/** An open recovery of the person's own account, which ends every way to sign in, and the button that cancels it. */
export function RecoveryNotice({ recovery }: { readonly recovery: NonNullable<Me['recovery']> }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useWrite('POST /me/recovery/cancel', { onDone: () => toast('The recovery was cancelled') });
  return (
    <>
      <Notice
        tone="bad"
        title="Your account is being recovered"
        action={<Button onClick={() => setAsking(true)}>Cancel the recovery</Button>}
      >
        {recovery.status === 'asked' ? (
          'An owner asks for it. Once a second owner agrees, a link sets a new password after a delay.'
        ) : (
          <>
            A link sets a new password, and ends every other way to sign in. It works{' '}
            <Time time={recovery.effectiveAt} />.
          </>
        )}{' '}
        If you did not ask for this, cancel it.
      </Notice>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Cancel the recovery?"
        act="Cancel the recovery"
        isDangerous
        write={cancel}
        onConfirm={async () => {
          if ((await cancel.run()) !== undefined) setAsking(false);
        }}
      >
        <p>Its link does not work. Your ways to sign in stay as they are.</p>
      </Confirm>
    </>
  );
}
