import { type ReactNode, useState } from 'react';
import { fieldError } from '../api/failure.ts';
import type { Write } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { DraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';

/** Asks before an act on the installation, with the reason for the audit log. The service asks for a fresh proof. */
export function ActDialog({
  onClose,
  title,
  children,
  act,
  isDangerous = false,
  onConfirm,
  write,
  fields = [],
}: {
  readonly onClose: () => void;
  /** A question that names the thing. */
  readonly title: string;
  /** What will be so afterwards. */
  readonly children: ReactNode;
  /** The verb on the button. */
  readonly act: string;
  readonly isDangerous?: boolean;
  readonly onConfirm: (reason: string) => Promise<unknown>;
  readonly write: Pick<Write<never>, 'isRunning' | 'error'>;
  /** Further fields among the children, which show their own errors. */
  readonly fields?: readonly string[];
}) {
  const [reason, setReason] = useState('');
  const { isRunning, error } = write;
  return (
    <Dialog isOpen onClose={onClose} title={title} size="small" isHeld={isRunning}>
      <form onSubmit={onSubmit(() => onConfirm(reason))} className="grid gap-4">
        <div className="grid gap-3 text-soft">{children}</div>
        <TextField
          label="Reason"
          hint="The audit log keeps it."
          required
          maxLength={300}
          value={reason}
          onChange={setReason}
          error={fieldError(error, 'reason')}
        />
        <DialogActions notice={<FailureNotice error={error} fields={['reason', ...fields]} />}>
          <CancelButton disabled={isRunning} />
          <Button type="submit" kind={isDangerous ? 'danger' : 'primary'} isBusy={isRunning}>
            {act}
          </Button>
        </DialogActions>
        <DraftGuard isChanged={reason !== ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
