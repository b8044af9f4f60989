import { Smartphone } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { loadPatiently } from '../app/lazy-screen.ts';
import type { Me } from '../app/merchant.ts';
import { CodeField } from '../proof/sign-in-form.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { PasswordField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { SettingRow } from '../ui/setting-row.tsx';
import { toast } from '../ui/toast.tsx';
import { CopyButton } from '../ui/value.tsx';

const QrCode = lazy(loadPatiently(() => import('../ui/qr.tsx')));

export function SecondFactor({ me }: { readonly me: Me }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <SettingRow
        icon={<Smartphone />}
        title={
          <>
            Second factor
            <Badge tone={me.hasSecondFactor ? 'good' : 'neutral'}>{me.hasSecondFactor ? 'On' : 'Off'}</Badge>
          </>
        }
        action={
          <Button onClick={() => setOpen(true)} disabled={!me.hasPassword}>
            {me.hasSecondFactor ? 'Remove' : 'Set up'}
          </Button>
        }
      >
        Six digits of an authenticator app, beside the password. A change ends all your other sessions.
      </SettingRow>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        size="small"
        title={me.hasSecondFactor ? 'Remove the second factor' : 'Set up the second factor'}
      >
        {me.hasSecondFactor ? <RemoveForm onClose={close} /> : <SetUp onClose={close} />}
      </Dialog>
    </>
  );
}

function RemoveForm({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const remove = useWrite('POST /me/second-factor/remove');
  const submit = async () => {
    if ((await remove.run({ body: { password } })) === undefined) return;
    toast('The second factor was removed, and your other sessions are ended');
    onClose();
  };
  return (
    <PasswordForm
      {...{ password, setPassword, write: remove, act: 'Remove' }}
      onSubmit={() => void submit()}
    />
  );
}

function PasswordForm({
  password,
  setPassword,
  onSubmit: submit,
  write,
  act,
}: {
  readonly password: string;
  readonly setPassword: (password: string) => void;
  readonly onSubmit: () => void;
  readonly write: { readonly isRunning: boolean; readonly error: { readonly slug: string } | undefined };
  readonly act: string;
}) {
  const isRefused = write.error?.slug === 'sign_in_failed';
  return (
    <form onSubmit={onSubmit(submit)} className="grid gap-4">
      <PasswordField
        label="Password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
        error={isRefused ? 'The password is wrong.' : undefined}
      />
      <DialogActions notice={!isRefused && <FailureNotice error={write.error} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={write.isRunning}>
          {act}
        </Button>
      </DialogActions>
    </form>
  );
}

/** First the password, then the code of the authenticator that has scanned the secret. */
function SetUp({ onClose }: { readonly onClose: () => void }) {
  const [password, setPassword] = useState('');
  const [uri, setUri] = useState<string>();
  const start = useWrite('POST /me/second-factor/start');
  const submit = async () => {
    const reply = await start.run({ body: { password } });
    if (reply !== undefined) setUri(reply.totpUri);
  };
  if (uri !== undefined) return <ConfirmForm uri={uri} onClose={onClose} />;
  return (
    <PasswordForm
      {...{ password, setPassword, write: start, act: 'Continue' }}
      onSubmit={() => void submit()}
    />
  );
}

function ConfirmForm({ uri, onClose }: { readonly uri: string; readonly onClose: () => void }) {
  const [code, setCode] = useState('');
  const confirm = useWrite('POST /me/second-factor/confirm');
  const secret = new URL(uri).searchParams.get('secret') ?? '';
  const submit = async () => {
    const reply = await confirm.run({ body: { code: code.replaceAll(' ', '') } });
    if (reply === undefined) return;
    toast('The second factor is on, and your other sessions are ended');
    onClose();
  };
  const isRefused = confirm.error?.slug === 'sign_in_failed';
  return (
    <form onSubmit={onSubmit(submit)} className="grid gap-4">
      <p className="text-soft">Scan this with your authenticator app, or type the secret into it.</p>
      <div className="flex h-44 justify-center">
        <Suspense>
          <QrCode text={uri} label="Secret of the second factor" />
        </Suspense>
      </div>
      <p className="flex items-center justify-center gap-1 font-mono text-sm break-all">
        {secret}
        <CopyButton text={secret} label="Copy the secret" />
      </p>
      <CodeField
        value={code}
        onChange={setCode}
        error={isRefused ? 'The code is wrong or has expired.' : undefined}
      />
      <DialogActions notice={!isRefused && <FailureNotice error={confirm.error} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={confirm.isRunning}>
          Turn on
        </Button>
      </DialogActions>
    </form>
  );
}
