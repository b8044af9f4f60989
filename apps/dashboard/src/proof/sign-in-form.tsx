import { Fingerprint, KeyRound, Wallet } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { PasswordField, TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { hasPasskeys } from './passkey.ts';
import { useWays } from './use-ways.ts';
import { hasWallet } from './wallet.ts';

type Step = 'password' | 'code' | 'recovery';

/** Signing in by every way: first by a passkey, where the browser knows them. `email` is given where the person is known. */
export function SignInForm({
  onDone,
  email: known = '',
}: {
  readonly onDone: () => void;
  readonly email?: string;
}) {
  const [step, setStep] = useState<Step>('password');
  const [email, setEmail] = useState(known);
  const name = { email, setEmail };
  if (step === 'code')
    return (
      <CodeForm onDone={onDone} onBack={() => setStep('password')} onRecovery={() => setStep('recovery')} />
    );
  if (step === 'recovery')
    return <RecoveryForm {...name} onDone={onDone} onBack={() => setStep('password')} />;
  return (
    <PasswordForm
      {...name}
      onDone={onDone}
      onCode={() => setStep('code')}
      onRecovery={() => setStep('recovery')}
    />
  );
}

interface NameProps {
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly onDone: () => void;
}

function PasswordForm({
  email,
  setEmail,
  onDone,
  onCode,
  onRecovery,
}: NameProps & { readonly onCode: () => void; readonly onRecovery: () => void }) {
  const [password, setPassword] = useState('');
  const signIn = useWrite('POST /sign-in/password');
  const ways = useWays('sign_in', onDone);
  const enter = async () => {
    const reply = await signIn.run({ body: { email, password } });
    if (reply?.needsCode === true) onCode();
    else if (reply !== undefined) onDone();
  };
  const isRefused = signIn.error?.slug === 'sign_in_failed';
  const isPasskeyFirst = hasPasskeys();
  return (
    <div className="grid gap-5">
      {isPasskeyFirst && (
        <>
          <div className="grid gap-2">
            <Way
              kind="primary"
              icon={<Fingerprint />}
              isBusy={ways.running === 'passkey'}
              onClick={() => void ways.run('passkey')}
            >
              Use a passkey
            </Way>
            {ways.failedWay === 'passkey' && <FailureNotice error={ways.error} />}
          </div>
          <Or />
        </>
      )}
      <form onSubmit={onSubmit(enter)} className="grid gap-4">
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username webauthn"
          required
          value={email}
          onChange={setEmail}
        />
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={setPassword}
          error={isRefused ? 'The e-mail or the password is wrong.' : undefined}
        />
        {!isRefused && <FailureNotice error={signIn.error} />}
        <Button
          type="submit"
          kind={isPasskeyFirst ? 'plain' : 'primary'}
          size="large"
          isBusy={signIn.isRunning}
        >
          Sign in
        </Button>
      </form>
      {!isPasskeyFirst && <Or />}
      <div className="grid gap-2">
        {hasWallet() && (
          <Way icon={<Wallet />} isBusy={ways.running === 'wallet'} onClick={() => void ways.run('wallet')}>
            Use an Ethereum wallet
          </Way>
        )}
        {ways.failedWay === 'wallet' && <FailureNotice error={ways.error} />}
        <Way icon={<KeyRound />} onClick={onRecovery}>
          Use a recovery code
        </Way>
      </div>
    </div>
  );
}

function Or() {
  return (
    <div className="flex items-center gap-3 text-sm text-faint before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">
      or
    </div>
  );
}

function Way({
  kind = 'plain',
  icon,
  children,
  isBusy = false,
  onClick,
}: {
  readonly kind?: 'plain' | 'primary';
  readonly icon: ReactNode;
  readonly children: ReactNode;
  readonly isBusy?: boolean;
  readonly onClick: () => void;
}) {
  return (
    <Button kind={kind} size="large" icon={icon} isBusy={isBusy} onClick={onClick}>
      {children}
    </Button>
  );
}

function CodeForm({
  onDone,
  onBack,
  onRecovery,
}: {
  readonly onDone: () => void;
  readonly onBack: () => void;
  readonly onRecovery: () => void;
}) {
  const [code, setCode] = useState('');
  const check = useWrite('POST /sign-in/code');
  const enter = async () => {
    if ((await check.run({ body: { code: code.replaceAll(' ', '') } })) !== undefined) onDone();
  };
  const isRefused = check.error?.slug === 'sign_in_failed';
  return (
    <form onSubmit={onSubmit(enter)} className="grid gap-4">
      <CodeField
        value={code}
        onChange={setCode}
        error={isRefused ? 'The code is wrong or has expired.' : undefined}
      />
      {!isRefused && <FailureNotice error={check.error} />}
      {check.error?.slug === 'rate_limited' && (
        <p className="text-sm text-soft">
          Another device on which you signed in before, a passkey or a wallet still signs you in. If you did
          not enter wrong codes, change your password.
        </p>
      )}
      <Button type="submit" kind="primary" size="large" isBusy={check.isRunning}>
        Continue
      </Button>
      <Button kind="quiet" onClick={onRecovery}>
        Use a recovery code
      </Button>
      <Button kind="quiet" onClick={onBack}>
        Back
      </Button>
    </form>
  );
}

/** The six digits of an authenticator. */
export function CodeField({
  value,
  onChange,
  error,
}: {
  readonly value: string;
  readonly onChange: (code: string) => void;
  readonly error?: string | undefined;
}) {
  return (
    <TextField
      label="Code of the authenticator"
      hint="The six digits that your authenticator app shows now."
      inputMode="numeric"
      autoComplete="one-time-code"
      autoFocus
      required
      maxLength={7}
      value={value}
      onChange={onChange}
      error={error}
    />
  );
}

function RecoveryForm({ email, setEmail, onDone, onBack }: NameProps & { readonly onBack: () => void }) {
  const [code, setCode] = useState('');
  const enterCode = useWrite('POST /sign-in/recovery-code');
  const enter = async () => {
    if ((await enterCode.run({ body: { email, code } })) !== undefined) onDone();
  };
  const isRefused = enterCode.error?.slug === 'sign_in_failed';
  return (
    <form onSubmit={onSubmit(enter)} className="grid gap-4">
      <TextField
        label="E-mail"
        type="email"
        autoComplete="username"
        required
        value={email}
        onChange={setEmail}
      />
      <TextField
        label="Recovery code"
        hint="Each code works once. Add a passkey or a new second factor afterwards."
        autoComplete="off"
        required
        value={code}
        onChange={setCode}
        error={isRefused ? 'The e-mail or the code is wrong, or the code is used up.' : undefined}
      />
      {!isRefused && <FailureNotice error={enterCode.error} />}
      <Button type="submit" kind="primary" size="large" isBusy={enterCode.isRunning}>
        Sign in
      </Button>
      <Button kind="quiet" onClick={onBack}>
        Back
      </Button>
    </form>
  );
}
