import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import { networkOf, type Rate, tokenBuckets } from '../rate-limit.ts';

/** Limits on attempts to sign in; each refuses (900101) those above it. */
export interface Attempts {
  /** For one client network, over all ways to sign in. */
  readonly ofNetwork: (clientAddress: string) => void;
  /** For one account, by its e-mail address or id, wherever the attempts come from. */
  readonly ofAccount: (account: string) => void;
}

const networkRate: Rate = { count: 30, seconds: 60, burst: 30 };
const accountRate: Rate = { count: 10, seconds: 300, burst: 10 };

/** The limits of one process; none where rate limits are off. */
export function signInAttempts(clock: Clock, areOn: boolean): Attempts {
  if (!areOn) return { ofNetwork: () => {}, ofAccount: () => {} };
  const takeOfNetwork = tokenBuckets(networkRate, clock);
  const takeOfAccount = tokenBuckets(accountRate, clock);
  return {
    ofNetwork: (clientAddress) => refuseAbove(takeOfNetwork(networkOf(clientAddress))),
    ofAccount: (account) => refuseAbove(takeOfAccount(account.trim().toLowerCase())),
  };
}

function refuseAbove({ isAllowed, retryAfterSeconds }: ReturnType<ReturnType<typeof tokenBuckets>>): void {
  if (isAllowed) return;
  throw new Refusal('rate_limited', {
    detail: 'too many attempts to sign in, try again later',
    retryAfterSeconds,
  });
}
