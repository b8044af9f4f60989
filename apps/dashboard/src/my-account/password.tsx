import { LockKeyhole } from 'lucide-react';
import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import type { Me } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { DraftGuard } from '../ui/draft-guard.tsx';
import { NewPasswordField, PasswordField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { SettingRow } from '../ui/setting-row.tsx';
import { toast } from '../ui/toast.tsx';

export function Password({ me }: { readonly me: Me }) {
  const [isOpen, setOpen] = useState(false);
  if (!me.hasPassword) return null;
  return (
    <>
      <SettingRow
        icon={<LockKeyhole />}
        title="Password"
        action={<Button onClick={() => setOpen(true)}>Change</Button>}
      >
        A new one ends all your other sessions. Passkeys and wallets still sign in.
      </SettingRow>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title="Change the password" size="small">
        <ChangeForm email={me.email} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function ChangeForm({ email, onClose }: { readonly email: string; readonly onClose: () => void }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const change = useWrite('POST /me/password/change');
  const submit = async () => {
    if ((await change.run({ body: { currentPassword, newPassword } })) === undefined) return;
    toast('The password is changed, and your other sessions are ended');
    onClose();
  };
  const isRefused = change.error?.slug === 'sign_in_failed';
  return (
    <form onSubmit={onSubmit(submit)} className="grid gap-4">
      <input type="hidden" autoComplete="username" value={email} readOnly />
      <PasswordField
        label="Password until now"
        autoComplete="current-password"
        required
        value={currentPassword}
        onChange={setCurrent}
        error={isRefused ? 'The password is wrong.' : undefined}
      />
      <NewPasswordField
        label="New password"
        value={newPassword}
        onChange={setNew}
        error={fieldError(change.error, 'newPassword')}
      />
      <DialogActions notice={!isRefused && <FailureNotice error={change.error} fields={['newPassword']} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={change.isRunning}>
          Change
        </Button>
      </DialogActions>
      <DraftGuard isChanged={currentPassword !== '' || newPassword !== ''} onClose={onClose} />
    </form>
  );
}
