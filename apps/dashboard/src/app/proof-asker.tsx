import { lazy, useEffect, useRef, useState } from 'react';
import { type ProofReason, setProver } from '../api/prover.ts';
import { WhenOpened } from '../ui/when-opened.tsx';
import { loadPatiently } from './lazy-screen.ts';
import type { Me } from './merchant.ts';

const loadDialog = loadPatiently(() => import('./proof-dialog.tsx'));
const ProofDialog = lazy(loadDialog);

/**
 * Opens the dialog that asks who acts, for every request that needs it. Its file is read beside the first screen: an act whose
 * dialog could not be read later, such as after an update of the service, would lose what was typed.
 */
export function ProofAsker({ me }: { readonly me: Me }) {
  const [asked, setAsked] = useState<{ readonly reason: ProofReason; readonly call: string }>();
  const answer = useRef<(isProven: boolean) => void>(undefined);
  useEffect(() => {
    void loadDialog();
    setProver(
      (reason, call) =>
        new Promise((resolve) => {
          answer.current = resolve;
          setAsked({ reason, call });
        }),
    );
    return () => setProver(undefined);
  }, []);
  const end = (isProven: boolean) => {
    setAsked(undefined);
    answer.current?.(isProven);
  };
  const { reason = 'prove', call = '' } = asked ?? {};
  const isOpen = asked !== undefined;
  return (
    <WhenOpened isOpen={isOpen}>
      <ProofDialog {...{ me, isOpen, reason, call }} onEnd={end} />
    </WhenOpened>
  );
}
