import { type ReactNode, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Notice } from '../ui/notice.tsx';
import type { WalletAccount } from './types.ts';

/** The wallet as it was when a form was opened, and whether another member changed it since. */
export function useSeen(account: WalletAccount) {
  const [seen, setSeen] = useState(account);
  return {
    seen,
    isStale: seen.updateAt !== account.updateAt,
    /** Goes on with the wallet as it is now. */
    goOn: () => setSeen(account),
  };
}

/** Tells that another member changed the wallet meanwhile. */
export function ChangedNotice({
  children,
  onTake,
  onKeep,
}: {
  /** How the wallet is now. */
  readonly children: ReactNode;
  /** Fills the form with what the other member saved. */
  readonly onTake?: () => void;
  readonly onKeep: () => void;
}) {
  return (
    <div role="alert">
      <Notice tone="warn" title="This wallet was changed meanwhile">
        {children}
        <div className="mt-2 flex flex-wrap gap-2">
          {onTake !== undefined && (
            <Button size="small" onClick={onTake}>
              Take the new values
            </Button>
          )}
          <Button size="small" onClick={onKeep}>
            {onTake === undefined ? 'Go on' : 'Keep mine'}
          </Button>
        </div>
      </Notice>
    </div>
  );
}
