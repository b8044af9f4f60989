import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { DialogActions } from './dialog.tsx';
import { Secret } from './secret.tsx';

/** The part of a dialog that shows a link once, to be handed over. The dialog is held until the person is done. */
export function OnceLink({
  label,
  url,
  onDone,
  children,
}: {
  /** What the link is, for screen readers and tests: `Link of the invitation`. */
  readonly label: string;
  readonly url: string;
  readonly onDone: () => void;
  /** For whom it is and how long it works. */
  readonly children: ReactNode;
}) {
  return (
    <>
      <p className="mb-4 text-soft">{children}</p>
      <Secret label={label} text={url} />
      <DialogActions>
        <Button kind="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

/** What an invitation's link does, and where it goes. */
export function InvitationWords({
  mailedTo,
  as,
}: {
  /** Where the service sends the link; empty when it sends none. */
  readonly mailedTo: string;
  /** What the link makes a person: `Viewer of Tea`. */
  readonly as: ReactNode;
}) {
  return (
    <>
      {mailedTo !== '' && (
        <>
          It goes to <bdi>{mailedTo}</bdi> by e-mail.{' '}
        </>
      )}
      It makes one person {as}. It works once, within a week.
    </>
  );
}

/** The title of the dialog with an invitation's link. */
export function invitationTitle(isMailed: boolean): string {
  return isMailed ? 'The link is on its way' : 'Send this link';
}
