import type { MemberRole } from '@florin/protocol/member-role.ts';
import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { roleTitle } from '../app/roles.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { useDraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { InvitationWords, invitationTitle, OnceLink } from '../ui/once-link.tsx';
import { RoleChoice } from './role-choice.tsx';

interface Made {
  readonly url: string;
  readonly role: MemberRole;
  /** Where the service sends the link; empty when it sends none. */
  readonly mailedTo: string;
}

/** Invites a person by a link, which is shown once. */
export function InviteDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const [made, setMade] = useState<Made>();
  const close = () => {
    setMade(undefined);
    onClose();
  };
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      isHeld={made !== undefined}
      title={made === undefined ? 'Invite a member' : invitationTitle(made.mailedTo !== '')}
    >
      {made === undefined ? (
        <InviteForm onMade={setMade} onClose={close} />
      ) : (
        <OnceLink label="Link of the invitation" url={made.url} onDone={close}>
          <InvitationWords mailedTo={made.mailedTo} as={roleTitle(made.role)} />
        </OnceLink>
      )}
    </Dialog>
  );
}

function InviteForm({
  onMade,
  onClose,
}: {
  readonly onMade: (made: Made) => void;
  readonly onClose: () => void;
}) {
  const actor: MemberRole = useMerchant().role === 'owner' ? 'owner' : 'admin';
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('developer');
  const invite = useWrite('POST /invitation/create');
  const guard = useDraftGuard(email.trim() !== '', onClose);
  const send = async () => {
    const named = email.trim() === '' ? {} : { email: email.trim() };
    const reply = await invite.run({ body: { role, ...named } });
    if (reply === undefined) return;
    guard.release();
    onMade({ url: reply.url, role, mailedTo: reply.isMailed ? email.trim() : '' });
  };
  return (
    <form onSubmit={onSubmit(send)} className="grid gap-4">
      <TextField
        label="E-mail"
        hint="Only an account with this address can then use the link. It goes there by e-mail where this installation sends e-mails."
        isOptional
        type="email"
        autoComplete="off"
        value={email}
        onChange={setEmail}
        error={fieldError(invite.error, 'email')}
      />
      <RoleChoice actor={actor} value={role} onChange={setRole} />
      <DialogActions notice={<FailureNotice error={invite.error} fields={['email']} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={invite.isRunning}>
          Make the link
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}
