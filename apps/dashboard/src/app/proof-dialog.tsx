import { useQueryClient } from '@tanstack/react-query';
import { Fingerprint, Wallet } from 'lucide-react';
import { useState } from 'react';
import type { ProofReason } from '../api/prover.ts';
import { useWrite } from '../api/use-call.ts';
import { hasPasskeys } from '../proof/passkey.ts';
import { CodeField, SignInForm } from '../proof/sign-in-form.tsx';
import { useWays } from '../proof/use-ways.ts';
import { hasWallet } from '../proof/wallet.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { PasswordField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import type { Me } from './merchant.ts';
import { proofWords } from './proof-words.ts';
import { readMe } from './use-me.ts';

interface ProofDialogProps {
  readonly me: Me;
  readonly isOpen: boolean;
  readonly reason: ProofReason;
  /** What the act calls, as `POST /key/create`. */
  readonly call: string;
  readonly onEnd: (isProven: boolean) => void;
}

/** Asks the person who they are when the service wants a fresh proof, or when the session has ended. */
export default function ProofDialog({ me, isOpen, reason, call, onEnd }: ProofDialogProps) {
  const [isAnew, setAnew] = useState(false);
  const queries = useQueryClient();
  // The act that waits belongs to the person who filled the form. Another person has to press its button again.
  const signedIn = async () => {
    const now = await readMe();
    onEnd(now.userId === me.userId);
    if (now.userId === me.userId) return;
    toast(`You are signed in as ${now.email}. Nothing was sent: look at what was typed first`);
    await queries.invalidateQueries();
  };
  const isNewSignIn = reason === 'sign-in' || isAnew || !canProve(me);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={() => onEnd(false)}
      size="small"
      title={reason === 'sign-in' ? 'Sign in again' : 'Confirm that it is you'}
      description={
        reason === 'sign-in'
          ? 'Your session has ended. What you typed stays.'
          : isAnew
            ? 'A new sign-in counts as a proof. What you typed stays.'
            : `${proofWords(call)} needs a proof from the last five minutes.`
      }
    >
      {isNewSignIn ? (
        <SignInForm email={me.email} onDone={() => void signedIn()} />
      ) : (
        <ProofForm me={me} onDone={() => onEnd(true)} onAnew={() => setAnew(true)} />
      )}
    </Dialog>
  );
}

interface ProofFormProps {
  readonly me: Me;
  readonly onDone: () => void;
  /** Called when this session may guess no more, and the person signs in anew instead. */
  readonly onAnew: () => void;
}

/** With which ways the person proves themselves here. Where a password alone signs nobody in, it proves nothing either. */
function waysOf(me: Me) {
  return {
    canUsePasskey: me.passkeys > 0 && hasPasskeys(),
    canUseWallet: me.wallets.length > 0 && hasWallet(),
    canUsePassword: me.hasPassword && (me.hasSecondFactor || me.proof === 'password'),
  };
}

/** Without a way to prove themselves again, such as after a recovery code, people sign in again by what they have. */
function canProve(me: Me): boolean {
  return me.isStrong && Object.values(waysOf(me)).includes(true);
}

function ProofForm({ me, onDone, onAnew }: ProofFormProps) {
  const ways = useWays('prove', onDone);
  const { canUsePasskey, canUseWallet, canUsePassword } = waysOf(me);
  return (
    <div className="grid gap-3">
      <FailureNotice error={ways.error} />
      {canUsePasskey && (
        <Button
          kind="primary"
          size="large"
          icon={<Fingerprint />}
          isBusy={ways.running === 'passkey'}
          onClick={() => void ways.run('passkey')}
        >
          Use the passkey
        </Button>
      )}
      {canUseWallet && (
        <Button
          size="large"
          icon={<Wallet />}
          isBusy={ways.running === 'wallet'}
          onClick={() => void ways.run('wallet')}
        >
          Use the wallet
        </Button>
      )}
      {canUsePassword && <PasswordProof me={me} onDone={onDone} onAnew={onAnew} />}
    </div>
  );
}

function PasswordProof({ me, onDone, onAnew }: ProofFormProps) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const prove = useWrite('POST /me/prove');
  const confirm = async () => {
    const body = me.hasSecondFactor ? { password, code: code.replaceAll(' ', '') } : { password };
    if ((await prove.run({ body })) !== undefined) onDone();
  };
  const isRefused = prove.error?.slug === 'sign_in_failed';
  const refusedText = me.hasSecondFactor ? 'The password or the code is wrong.' : 'The password is wrong.';
  return (
    <form onSubmit={onSubmit(confirm)} className="grid gap-4">
      <input type="hidden" autoComplete="username" value={me.email} readOnly />
      <PasswordField
        label="Password"
        autoComplete="current-password"
        required
        value={password}
        onChange={setPassword}
        error={isRefused ? refusedText : undefined}
      />
      {me.hasSecondFactor && <CodeField value={code} onChange={setCode} />}
      <DialogActions notice={!isRefused && <FailureNotice error={prove.error} />}>
        <CancelButton />
        {prove.error?.slug === 'rate_limited' && <Button onClick={onAnew}>Sign in again instead</Button>}
        <Button type="submit" kind="primary" isBusy={prove.isRunning}>
          Confirm
        </Button>
      </DialogActions>
    </form>
  );
}
