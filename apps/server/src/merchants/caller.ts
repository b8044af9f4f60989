import type { MemberPermission } from '@florin/protocol/permission.ts';
import type { ApiKeyLimits } from './api-key-limits.ts';

/** Who calls a merchant's operation: an API key, or a member in the dashboard. */
export interface Caller {
  /** The API key's id, or the member's. */
  readonly callerId: string;
  readonly merchantId: string;
  readonly kind: 'secret' | 'restricted' | 'member';
  readonly permissions: ReadonlySet<MemberPermission>;
  /** A member whose last proof of who they are is older than five minutes. */
  readonly lacksProof?: boolean;
  /** Limits on the sessions that the caller creates. */
  readonly limits: Pick<ApiKeyLimits, 'maxSessionAmount' | 'maxDayAmount'>;
}
