import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Front, SignInInstead } from '../proof/front.tsx';
import { RecoveryCodes } from '../proof/recovery-codes.tsx';
import { SignInForm } from '../proof/sign-in-form.tsx';
import { Button } from '../ui/button.tsx';
import { NewPasswordField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';

type Recovered = ReplyTo<'POST /recovery/complete'>;

/** Sets a new password by the link of a recovery, whose token stands behind the `#`, which no server log sees. */
export default function Recovery() {
  const [token] = useState(() => window.location.hash.slice(1));
  const [recovered, setRecovered] = useState<Recovered>();
  const [hasKeptCodes, setKeptCodes] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const enter = () => {
    queries.clear();
    void navigate({ to: '/my-account' });
  };
  if (token === '')
    return (
      <Front title="This link is incomplete">
        <p className="text-soft">Open the whole link that you were given, with all that follows the #.</p>
        <SignInInstead question="Can you sign in?" />
      </Front>
    );
  if (recovered === undefined)
    return (
      <Front
        title="Recover your account"
        description="This sets a new password. Your passkeys, wallets, second factor and old recovery codes stop working, and you are signed out everywhere."
      >
        <NewPassword token={token} onDone={setRecovered} />
        <SignInInstead question="Can you sign in?" />
      </Front>
    );
  if (!hasKeptCodes)
    return (
      <Front
        title="Keep your new recovery codes"
        description="Each opens your account once, when you have lost every other way. They are shown only once."
      >
        <RecoveryCodes
          email={recovered.email}
          codes={recovered.recoveryCodes}
          onKept={() => setKeptCodes(true)}
        />
      </Front>
    );
  return (
    <Front title="Sign in" description="Use your new password. Then add a passkey to your account.">
      <SignInForm email={recovered.email} onDone={enter} />
    </Front>
  );
}

function NewPassword({
  token,
  onDone,
}: {
  readonly token: string;
  readonly onDone: (recovered: Recovered) => void;
}) {
  const [password, setPassword] = useState('');
  const complete = useWrite('POST /recovery/complete', { keepsReads: true });
  const recover = async () => {
    const reply = await complete.run({ body: { token, password } });
    if (reply !== undefined) onDone(reply);
  };
  const { error } = complete;
  return (
    <form onSubmit={onSubmit(recover)} className="grid gap-4">
      <NewPasswordField
        label="New password"
        value={password}
        onChange={setPassword}
        error={fieldError(error, 'password')}
      />
      <FailureNotice error={error} fields={['password']} />
      <Button type="submit" kind="primary" size="large" isBusy={complete.isRunning}>
        Set the password
      </Button>
    </form>
  );
}
