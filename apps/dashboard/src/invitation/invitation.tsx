import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type ReplyTo, send } from '../api/call.ts';
import { ApiFailure, fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { meKey } from '../app/me-key.ts';
import type { Me } from '../app/merchant.ts';
import { operatorBase } from '../app/open-screens.ts';
import { readMe } from '../app/use-me.ts';
import { Front, SignInInstead } from '../proof/front.tsx';
import { RecoveryCodes } from '../proof/recovery-codes.tsx';
import { SignInForm } from '../proof/sign-in-form.tsx';
import { Button } from '../ui/button.tsx';
import { NewPasswordField, TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { isolated } from '../ui/isolated.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { Skeleton } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';

const noMerchant = { merchantId: undefined };

/** Accepts the invitation whose token stands behind the `#`, which no server log sees. */
export default function Invitation() {
  const [token] = useState(() => window.location.hash.slice(1));
  const invitation = useQuery({
    queryKey: ['', 'invitation', token],
    queryFn: () =>
      send('POST /invitation/show', { body: { token } }, noMerchant) as Promise<
        ReplyTo<'POST /invitation/show'>
      >,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const me = useQuery({
    queryKey: meKey,
    queryFn: readMe,
    retry: false,
  });
  if (invitation.error instanceof ApiFailure && invitation.error.slug !== 'invitation_invalid')
    return (
      <Front title="Invitation">
        <Failed error={invitation.error} onRetry={() => void invitation.refetch()} />
      </Front>
    );
  if (invitation.error !== null)
    return (
      <Front title="This invitation does not work">
        <p className="text-soft">
          It was used, withdrawn, or is older than a week. Ask the person who invited you for a new one.
        </p>
        <SignInInstead question="Do you have an account already?" />
      </Front>
    );
  if (invitation.data === undefined || me.isPending)
    return (
      <Front title="Invitation">
        <Skeleton className="h-40 w-full" />
      </Front>
    );
  return <Accept token={token} invitation={invitation.data} me={me.data} />;
}

/** A new account, by the address that it signs in with. */
type Accepted = ReplyTo<'POST /invitation/accept-as-new'> & { readonly email: string };

function Accept({
  token,
  invitation,
  me,
}: {
  readonly token: string;
  readonly invitation: ReplyTo<'POST /invitation/show'>;
  readonly me: Me | undefined;
}) {
  const [hasAccount, setHasAccount] = useState(false);
  const [accepted, setAccepted] = useState<Accepted>();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const enter = (merchantId: string) => {
    queries.clear();
    // An invitation to the operator's staff names no merchant.
    void navigate({ to: `/${merchantId === '' ? operatorBase : merchantId}` });
  };
  if (accepted !== undefined)
    return (
      <Front
        title="Keep your recovery codes"
        description="Each opens your account once, when you have lost every other way. They are shown only once."
      >
        <RecoveryCodes
          email={accepted.email}
          codes={accepted.recoveryCodes}
          onKept={() => enter(accepted.merchantId)}
        />
      </Front>
    );
  const isForStaff = invitation.role === 'staff';
  const title = isForStaff ? 'Join the operator’s staff' : `Join ${isolated(invitation.merchantName)}`;
  const description = isForStaff
    ? 'You will see every shop of this installation, and run it.'
    : `You are invited as ${invitation.role}.`;
  if (me !== undefined)
    return (
      <Front title={title} description={description}>
        {invitation.email === '' || invitation.email === me.email ? (
          <AcceptAsMe token={token} me={me} onDone={enter} />
        ) : (
          <ForOther email={invitation.email} me={me} />
        )}
      </Front>
    );
  return (
    <Front title={title} description={description}>
      {hasAccount ? (
        <SignInForm
          email={invitation.email}
          onDone={() => void queries.invalidateQueries({ queryKey: meKey })}
        />
      ) : (
        <NewAccount token={token} email={invitation.email} onDone={setAccepted} />
      )}
      <Button kind="quiet" className="mt-3 w-full" onClick={() => setHasAccount(!hasAccount)}>
        {hasAccount ? 'I have no account yet' : 'I have an account already'}
      </Button>
    </Front>
  );
}

/** Who is signed in has another address than the one that was invited. */
function ForOther({ email, me }: { readonly email: string; readonly me: Me }) {
  const queries = useQueryClient();
  const signOut = useWrite('POST /me/sign-out', { keepsReads: true });
  const leave = async () => {
    if ((await signOut.run()) !== undefined) await queries.resetQueries({ queryKey: meKey });
  };
  return (
    <div className="grid gap-4">
      <p>
        The invitation is for <strong>{email}</strong>, and you are signed in as <strong>{me.email}</strong>.
        Sign out to accept it with that address, or ask for an invitation to yours.
      </p>
      <FailureNotice error={signOut.error} />
      <Button kind="primary" size="large" isBusy={signOut.isRunning} onClick={() => void leave()}>
        Sign out
      </Button>
    </div>
  );
}

function AcceptAsMe({
  token,
  me,
  onDone,
}: {
  readonly token: string;
  readonly me: Me;
  readonly onDone: (merchantId: string) => void;
}) {
  const accept = useWrite('POST /me/invitation/accept', { keepsReads: true });
  const join = async () => {
    const reply = await accept.run({ body: { token } });
    if (reply !== undefined) onDone(reply.merchantId);
  };
  return (
    <div className="grid gap-4">
      <p>
        You are signed in as <strong>{me.email}</strong>.
      </p>
      <FailureNotice error={accept.error} />
      <Button kind="primary" size="large" isBusy={accept.isRunning} onClick={() => void join()}>
        Accept
      </Button>
    </div>
  );
}

const newFields = ['name', 'email', 'password'];

function NewAccount({
  token,
  email: invited,
  onDone,
}: {
  readonly token: string;
  readonly email: string;
  readonly onDone: (accepted: Accepted) => void;
}) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState(invited);
  const [password, setPassword] = useState('');
  const accept = useWrite('POST /invitation/accept-as-new', { keepsReads: true });
  const join = async () => {
    const reply = await accept.run({ body: { token, name, email, password } });
    if (reply !== undefined) onDone({ ...reply, email });
  };
  const { error } = accept;
  return (
    <form onSubmit={onSubmit(join)} className="grid gap-4">
      <TextField
        label="Your name"
        autoComplete="name"
        required
        maxLength={100}
        value={name}
        onChange={setName}
        error={fieldError(error, 'name')}
      />
      <TextField
        label="E-mail"
        hint={
          invited === '' ? 'You sign in with it.' : 'The invitation is for this address. You sign in with it.'
        }
        readOnly={invited !== ''}
        type="email"
        autoComplete="username"
        required
        value={email}
        onChange={setEmail}
        error={fieldError(error, 'email')}
      />
      <NewPasswordField
        label="Password"
        value={password}
        onChange={setPassword}
        error={fieldError(error, 'password')}
      />
      <FailureNotice error={error} fields={newFields} />
      <Button type="submit" kind="primary" size="large" isBusy={accept.isRunning}>
        Create the account
      </Button>
    </form>
  );
}
