import { Refusal } from '@florin/protocol/error.ts';
import type { Clock } from '#outside/clock.ts';
import { networkOf, type Rate, tokenBuckets } from '../rate-limit.ts';

/** Limits on attempts to sign in; each refuses (900101) those above it. */
export interface Attempts {
  /** For one client network, over all ways to sign in. */
  readonly ofNetwork: (clientAddress: string) => void;
  /**
   * For one account by one way. A device that its person used before has an allowance of its own, so attackers who know only
   * the e-mail address cannot use up the owner's. All other devices share one, of which each client network gets a part.
   */
  readonly ofAccount: (attempt: {
    readonly way: 'password' | 'recovery';
    readonly email: string;
    readonly device: string | undefined;
    readonly clientAddress: string;
  }) => void;
  /** For guesses of a password or code by a person who is signed in. Other sessions of the person have their own. */
  readonly ofSession: (sessionId: string) => void;
}

const networkRate: Rate = { count: 30, seconds: 60, burst: 30 };
const knownRate: Rate = { count: 10, seconds: 300, burst: 10 };
/** Less than the whole account's, so that one network alone cannot use that up. */
const accountOfNetworkRate: Rate = { count: 20, seconds: 3_600, burst: 10 };
const accountRate: Rate = { count: 100, seconds: 3_600, burst: 100 };

/** The limits of one process; none where rate limits are off. */
export function signInAttempts(clock: Clock, areOn: boolean): Attempts {
  if (!areOn) return { ofNetwork: () => {}, ofAccount: () => {}, ofSession: () => {} };
  const limitOf = (rate: Rate) => {
    const take = tokenBuckets(rate, clock);
    return (caller: string) => refuseAbove(take(caller));
  };
  const ofNetwork = limitOf(networkRate);
  const ofDevice = limitOf(knownRate);
  const ofAccountFromNetwork = limitOf(accountOfNetworkRate);
  const ofAccount = limitOf(accountRate);
  return {
    ofNetwork: (clientAddress) => ofNetwork(networkOf(clientAddress)),
    ofAccount: ({ way, email, device, clientAddress }) => {
      if (device !== undefined) return ofDevice(`${way} ${device}`);
      const account = `${way} ${email.trim().toLowerCase()}`;
      ofAccountFromNetwork(`${account} ${networkOf(clientAddress)}`);
      ofAccount(account);
    },
    ofSession: limitOf(knownRate),
  };
}

function refuseAbove({ isAllowed, retryAfterSeconds }: ReturnType<ReturnType<typeof tokenBuckets>>): void {
  if (isAllowed) return;
  throw new Refusal('rate_limited', {
    detail: 'too many attempts to sign in, try again later',
    retryAfterSeconds,
  });
}
