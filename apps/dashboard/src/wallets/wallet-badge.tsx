import { Badge } from '../ui/badge.tsx';
import type { WalletAccount, WalletChange } from './types.ts';
import { isProvenWallet } from './wallet-words.ts';

/** How a wallet stands: proven or not, or about to get another address. */
export function WalletBadge({
  account,
  changes,
}: {
  readonly account: WalletAccount;
  readonly changes: readonly WalletChange[];
}) {
  const isMoving = changes.some(
    ({ status, accountId }) => status === 'waiting' && accountId === account.accountId,
  );
  if (isMoving) return <Badge tone="warn">Address changes</Badge>;
  const isProven = isProvenWallet(account, changes);
  if (isProven === undefined) return <Badge tone="good">In use</Badge>;
  return isProven ? <Badge tone="good">In use, proven</Badge> : <Badge>In use, not proven</Badge>;
}
