import { useQueryClient } from '@tanstack/react-query';
import type { Me } from '../app/merchant.ts';
import { hasPasskeys } from '../proof/passkey.ts';
import { useWays } from '../proof/use-ways.ts';
import { hasWallet } from '../proof/wallet.ts';
import { Button } from '../ui/button.tsx';
import { FailureNotice, Notice } from '../ui/notice.tsx';

/** What is missing until this session opens a shop: a stronger way to sign in, then signing in with it. */
export function StrongStep({ me }: { readonly me: Me }) {
  const queries = useQueryClient();
  const ways = useWays('prove', () => void queries.invalidateQueries());
  const way = wayOf(me);
  const { title, text } = wordsOf(me, way);
  return (
    <div className="grid gap-3">
      <Notice
        tone="warn"
        title={title}
        action={
          way !== undefined && (
            <Button kind="primary" isBusy={ways.running !== undefined} onClick={() => void ways.run(way)}>
              Sign in with the {way}
            </Button>
          )
        }
      >
        {text}
      </Notice>
      <FailureNotice error={ways.error} />
    </div>
  );
}

function wayOf(me: Me): 'passkey' | 'wallet' | undefined {
  if (me.passkeys > 0 && hasPasskeys()) return 'passkey';
  return me.wallets.length > 0 && hasWallet() ? 'wallet' : undefined;
}

function wordsOf({ proof }: Me, way: 'passkey' | 'wallet' | undefined): { title: string; text: string } {
  // Who uses a recovery code has probably lost the passkey that stands below.
  if (proof === 'recovery')
    return {
      title: 'Add a way to sign in',
      text: 'A recovery code does not open a shop. Add a passkey here, remove what you lost, then sign in with the new one.',
    };
  if (way === undefined)
    return {
      title: 'Add a second way to sign in',
      text: 'A password alone does not open a shop. Add a passkey or a second factor.',
    };
  return { title: 'One step is left', text: `Sign in with the ${way}. Then your shop is open.` };
}
