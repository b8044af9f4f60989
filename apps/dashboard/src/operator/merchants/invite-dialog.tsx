import { type MemberRole, memberRoles } from '@florin/protocol/member-role.ts';
import { useState } from 'react';
import { fieldError } from '../../api/failure.ts';
import { useWrite } from '../../api/use-call.ts';
import { roleDoes, roleTitle } from '../../app/roles.ts';
import { Button } from '../../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../../ui/dialog.tsx';
import { DraftGuard } from '../../ui/draft-guard.tsx';
import { TextField } from '../../ui/field.tsx';
import { onSubmit } from '../../ui/form.ts';
import { isolated } from '../../ui/isolated.ts';
import { FailureNotice } from '../../ui/notice.tsx';
import { InvitationWords, invitationTitle, OnceLink } from '../../ui/once-link.tsx';
import { SelectField } from '../../ui/select.tsx';

interface NamedMerchant {
  readonly merchantId: string;
  readonly merchantName: string;
}

/** Makes a merchant, then invites its first owner. */
export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [merchantName, setName] = useState('');
  const [made, setMade] = useState<NamedMerchant>();
  const create = useWrite('POST /staff/merchant/create');
  if (made !== undefined) return <InviteDialog merchant={made} onClose={onClose} />;
  const submit = async () => {
    const reply = await create.run({ body: { merchantName } });
    if (reply !== undefined) setMade({ merchantName, merchantId: reply.merchantId });
  };
  return (
    <Dialog isOpen onClose={onClose} title="Create a merchant" size="small" isHeld={create.isRunning}>
      <form onSubmit={onSubmit(submit)} className="grid gap-4">
        <TextField
          label="Name"
          hint="Payers see it on the pages. Next you invite the first owner."
          required
          maxLength={100}
          value={merchantName}
          onChange={setName}
          error={fieldError(create.error, 'merchantName')}
        />
        <DialogActions notice={<FailureNotice error={create.error} fields={['merchantName']} />}>
          <CancelButton disabled={create.isRunning} />
          <Button type="submit" kind="primary" isBusy={create.isRunning}>
            Create
          </Button>
        </DialogActions>
        <DraftGuard isChanged={merchantName !== ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}

/** Invites the first people of a merchant, by a link that is shown once. The service refuses it once there is an owner. */
export function InviteDialog({
  merchant: { merchantId, merchantName },
  onClose,
}: {
  readonly merchant: NamedMerchant;
  readonly onClose: () => void;
}) {
  const [role, setRole] = useState<MemberRole>('owner');
  const [email, setEmail] = useState('');
  const [made, setMade] = useState<{ readonly url: string; readonly isMailed: boolean }>();
  const invite = useWrite('POST /staff/merchant/invite', { onDone: setMade });
  if (made !== undefined)
    return (
      <Dialog isOpen isHeld onClose={onClose} title={invitationTitle(made.isMailed)}>
        <OnceLink label="Link of the invitation" url={made.url} onDone={onClose}>
          <InvitationWords
            mailedTo={made.isMailed ? email : ''}
            as={
              <>
                {roleTitle(role)} of <bdi>{merchantName}</bdi>
              </>
            }
          />
        </OnceLink>
      </Dialog>
    );
  const send = () => invite.run({ body: { merchantId, role, ...(email === '' ? {} : { email }) } });
  return (
    <Dialog isOpen onClose={onClose} title={`Invite to ${isolated(merchantName)}`} isHeld={invite.isRunning}>
      <form onSubmit={onSubmit(send)} className="grid gap-4">
        <SelectField
          label="Role"
          hint={roleDoes(role)}
          value={role}
          onChange={setRole}
          options={memberRoles.map((value) => ({ value, label: roleTitle(value) }))}
        />
        <TextField
          label="E-mail"
          hint="Only an account with this address can then use the link. It goes there by e-mail where this installation sends e-mails."
          isOptional
          type="email"
          value={email}
          onChange={setEmail}
          error={fieldError(invite.error, 'email')}
        />
        <DialogActions notice={<FailureNotice error={invite.error} fields={['email']} />}>
          <CancelButton disabled={invite.isRunning} />
          <Button type="submit" kind="primary" isBusy={invite.isRunning}>
            Make the link
          </Button>
        </DialogActions>
        <DraftGuard isChanged={email !== ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
