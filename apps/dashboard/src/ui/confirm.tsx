import type { ReactNode } from 'react';
import type { Write } from '../api/use-call.ts';
import { Button } from './button.tsx';
import { CancelButton, Dialog, DialogActions } from './dialog.tsx';
import { FailureNotice } from './notice.tsx';

/**
 * Asks before an act that cannot be undone, and shows its failure. Acts that need a fresh proof ask for it by themselves.
 */
export function Confirm({
  isOpen,
  onClose,
  title,
  children,
  act,
  back = 'Cancel',
  onConfirm,
  write,
  isDangerous = false,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** A question that names the thing: `Remove Ada?` */
  readonly title: string;
  /** What will be so afterwards. */
  readonly children: ReactNode;
  /** The verb on the button: `Remove`. */
  readonly act: string;
  /** On the button that changes nothing, where the act itself is to cancel something. */
  readonly back?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly write: Pick<Write<never>, 'isRunning' | 'error' | 'reset'>;
  readonly isDangerous?: boolean;
}) {
  const close = () => {
    write.reset();
    onClose();
  };
  return (
    <Dialog isOpen={isOpen} onClose={close} title={title} size="small" isHeld={write.isRunning}>
      <div className="grid gap-3 text-soft">
        {children}
        <FailureNotice error={write.error} />
      </div>
      <DialogActions>
        <CancelButton disabled={write.isRunning}>{back}</CancelButton>
        <Button
          kind={isDangerous ? 'danger' : 'primary'}
          isBusy={write.isRunning}
          onClick={() => void onConfirm()}
        >
          {act}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
