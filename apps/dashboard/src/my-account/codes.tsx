import { LifeBuoy } from 'lucide-react';
import { useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import type { Me } from '../app/merchant.ts';
import { RecoveryCodes } from '../proof/recovery-codes.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SettingRow } from '../ui/setting-row.tsx';

/** So few are left that new ones are due. */
const fewCodes = 3;

export function Codes({ me }: { readonly me: Me }) {
  const [isAsking, setAsking] = useState(false);
  const [codes, setCodes] = useState<readonly string[]>();
  const renew = useWrite('POST /me/recovery-codes/renew');
  return (
    <>
      <SettingRow
        icon={<LifeBuoy />}
        title={
          <>
            Recovery codes
            <Badge tone={me.recoveryCodes <= fewCodes ? 'warn' : 'neutral'}>{me.recoveryCodes} left</Badge>
          </>
        }
        action={<Button onClick={() => setAsking(true)}>Make new codes</Button>}
      >
        Each opens your account once, when you have lost every other way.
      </SettingRow>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title="Make new recovery codes?"
        act="Make new codes"
        write={renew}
        onConfirm={async () => {
          const reply = await renew.run();
          if (reply === undefined) return;
          setAsking(false);
          setCodes(reply.recoveryCodes);
        }}
      >
        <p>The codes that you have now stop working.</p>
      </Confirm>
      <Dialog
        isOpen={codes !== undefined}
        onClose={() => setCodes(undefined)}
        isHeld
        size="small"
        title="Your recovery codes"
        description="They are shown only once."
      >
        <RecoveryCodes email={me.email} codes={codes ?? []} onKept={() => setCodes(undefined)} />
      </Dialog>
    </>
  );
}
