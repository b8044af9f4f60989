import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { LeaveContext } from './leave.ts';

/**
 * Keeps what was typed: Escape, Back, a link and closing the tab ask first while `isChanged`. Render `question` in the form.
 * Call `release` before the form closes by itself, as after saving. `onClose` closes the dialog around the form.
 */
export function useDraftGuard(
  isChanged: boolean,
  onClose?: () => void,
): { readonly release: () => void; readonly question: ReactNode } {
  const isGuarded = useRef(false);
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    isGuarded.current = isChanged;
  }, [isChanged]);
  const dialog = useContext(LeaveContext);
  useEffect(() => {
    if (dialog === undefined) return undefined;
    dialog.current = () => {
      setAsking(isGuarded.current);
      return isGuarded.current;
    };
    return () => {
      dialog.current = undefined;
    };
  }, [dialog]);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isGuarded.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isGuarded.current,
    withResolver: true,
  });
  const isBlocked = blocker.status === 'blocked';
  const release = () => {
    isGuarded.current = false;
  };
  const stay = () => {
    setAsking(false);
    if (isBlocked) blocker.reset();
  };
  const leave = () => {
    release();
    setAsking(false);
    if (isBlocked) blocker.proceed();
    else onClose?.();
  };
  return { release, question: <Question isOpen={isAsking || isBlocked} onStay={stay} onLeave={leave} /> };
}

/** `useDraftGuard` for a form that closes by being taken away: render it in the form. */
export function DraftGuard(props: { readonly isChanged: boolean; readonly onClose: () => void }) {
  return useDraftGuard(props.isChanged, props.onClose).question;
}

function Question({
  isOpen,
  onStay,
  onLeave,
}: {
  readonly isOpen: boolean;
  readonly onStay: () => void;
  readonly onLeave: () => void;
}) {
  return (
    <Dialog isOpen={isOpen} onClose={onStay} title="Discard your changes?" size="small">
      <p className="text-soft">What you typed is not saved.</p>
      <DialogActions>
        <Button kind="danger" onClick={onLeave}>
          Discard
        </Button>
        <Button kind="primary" onClick={onStay}>
          Keep editing
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/** Whether two drafts differ in what they hold. */
export function differs(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) !== JSON.stringify(other);
}
