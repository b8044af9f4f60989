import { Fingerprint } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useAct } from '../api/use-act.ts';
import { request, useRead, useWrite } from '../api/use-call.ts';
import { hasPasskeys, makePasskey } from '../proof/passkey.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { SettingRow } from '../ui/setting-row.tsx';
import { toast } from '../ui/toast.tsx';
import { Time } from '../ui/value.tsx';

type PasskeyEntry = ReplyTo<'GET /me/passkey/list'>['passkeys'][number];

export function Passkeys() {
  const list = useRead('GET /me/passkey/list', {});
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<PasskeyEntry>();
  const remove = useWrite('POST /me/passkey/remove', {
    onDone: () => toast('The passkey was removed, and your other sessions are ended'),
  });
  const passkeys = list.data?.passkeys ?? [];
  return (
    <>
      <SettingRow
        icon={<Fingerprint />}
        title="Passkeys"
        action={
          <Button onClick={() => setAdding(true)} disabled={!hasPasskeys()}>
            Add a passkey
          </Button>
        }
      >
        {hasPasskeys()
          ? 'Your fingerprint, face or security key. No site can steal it.'
          : 'This browser has no passkeys.'}
      </SettingRow>
      {passkeys.map((passkey) => (
        <SettingRow
          key={passkey.passkeyId}
          title={<span className="sm:pl-13">{passkey.name}</span>}
          action={
            <Button kind="quiet" size="small" onClick={() => setRemoved(passkey)}>
              Remove
            </Button>
          }
        >
          <span className="sm:pl-13">
            Added <Time time={passkey.createAt} />
          </span>
        </SettingRow>
      ))}
      <Dialog
        isOpen={isAdding}
        onClose={() => setAdding(false)}
        title="Add a passkey"
        description="Your browser asks you in a moment."
        size="small"
      >
        <AddForm onClose={() => setAdding(false)} />
      </Dialog>
      <Confirm
        isOpen={removed !== undefined}
        onClose={() => setRemoved(undefined)}
        title={`Remove ${removed?.name ?? ''}?`}
        act="Remove"
        isDangerous
        write={remove}
        onConfirm={async () => {
          const done = await remove.run({ body: { passkeyId: removed?.passkeyId ?? '' } });
          if (done !== undefined) setRemoved(undefined);
        }}
      >
        <p>It no longer opens your account, and all your other sessions end.</p>
      </Confirm>
    </>
  );
}

function AddForm({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState(deviceName);
  const add = useAct(async () => {
    const options = await request(undefined, 'POST /me/passkey/start');
    const response = await makePasskey(options);
    await request(undefined, 'POST /me/passkey/add', { body: { response, name } });
  });
  const submit = async () => {
    if (!(await add.run())) return;
    toast('The passkey was added');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} className="grid gap-4">
      <TextField
        label="Name"
        hint="So that you recognise it later."
        required
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <DialogActions notice={<FailureNotice error={add.error} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={add.isRunning}>
          Add
        </Button>
      </DialogActions>
    </form>
  );
}

/** A name for a passkey of this device. */
function deviceName(): string {
  const known = ['iPhone', 'iPad', 'Android', 'Mac', 'Windows', 'Linux'];
  return known.find((name) => navigator.userAgent.includes(name)) ?? 'This device';
}
