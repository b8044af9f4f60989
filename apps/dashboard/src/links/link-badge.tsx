import type { Link } from '@florin/protocol/link.ts';
import { useTokenClosure } from '../api/use-token-names.ts';
import { Badge } from '../ui/badge.tsx';

/** States whose reason says more than that the link is disabled. */
const stateNames: Readonly<Record<string, string>> = { limit_reached: 'All paid', ended: 'Ended' };

/** Whether the link takes payments: one whose token is closed for all merchants takes none, although it is active. */
export function LinkBadge({
  link: { status, disabledReason, settlementToken },
}: {
  readonly link: Pick<Link, 'status' | 'disabledReason' | 'settlementToken'>;
}) {
  const closureOf = useTokenClosure();
  if (status !== 'active') return <Badge>{stateNames[disabledReason ?? 'other'] ?? 'Disabled'}</Badge>;
  if (closureOf(settlementToken) !== undefined) return <Badge tone="bad">No payments now</Badge>;
  return <Badge tone="good">Active</Badge>;
}
