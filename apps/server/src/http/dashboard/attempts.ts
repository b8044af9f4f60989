import { Refusal } from '@florin/protocol/error.ts';
import { codeLockout } from '#members/code-lockout.ts';
import { type Limits, networkOf } from '../rate-limit.ts';
import type { Rate } from '../token-bucket.ts';

/** Limits on attempts to sign in, over all processes together; each refuses (900101) those above it. */
export interface Attempts {
  /** For one client network, over all ways to sign in. */
  readonly ofNetwork: (clientAddress: string) => Promise<void>;
  /**
   * For one account by one way. A device that its person used before has an allowance of its own, so attackers who know only
   * the e-mail address cannot use up the owner's. All other devices share one, of which each client network gets a part.
   */
  readonly ofAccount: (attempt: {
    readonly way: 'password' | 'recovery';
    readonly email: string;
    readonly device: string | undefined;
    readonly clientAddress: string;
  }) => Promise<void>;
  /**
   * For codes of the second factor on a device that its person used before: a stranger's wrong codes do not lock it. Undefined
   * where rate limits are off; then every device has the account's lockout.
   */
  readonly ofCode: ((device: string) => Promise<void>) | undefined;
  /**
   * For guesses of a password or code by a person who is signed in. Other sessions of the person have their own. So has, within
   * one session, a device that the person used before, and each client network: who copied all cookies uses up nothing of
   * the owner, unless from many networks. A new sign-in counts as a proof all the same.
   */
  readonly ofSession: (attempt: {
    readonly sessionId: string;
    readonly device: string | undefined;
    readonly clientAddress: string;
  }) => Promise<void>;
}

const networkRate: Rate = { count: 30, seconds: 60, burst: 30 };
const knownRate: Rate = { count: 10, seconds: 300, burst: 10 };
const { maxFailedAttempts, durationSeconds } = codeLockout;
const codeRate: Rate = { count: maxFailedAttempts, seconds: durationSeconds, burst: maxFailedAttempts };
/** Less than the whole account's, so that one network alone cannot use that up. */
const accountOfNetworkRate: Rate = { count: 20, seconds: 3_600, burst: 10 };
const accountRate: Rate = { count: 100, seconds: 3_600, burst: 100 };

/** None where rate limits are off. */
export function signInAttempts(limits: Limits | undefined): Attempts {
  if (limits === undefined)
    return {
      ofNetwork: async () => {},
      ofAccount: async () => {},
      ofCode: undefined,
      ofSession: async () => {},
    };
  const limitOf = (name: string, rate: Rate) => {
    const take = limits.exactly(`sign-in ${name}`, rate);
    return async (caller: string): Promise<void> => {
      const { isAllowed, retryAfterSeconds } = await take(caller);
      if (isAllowed) return;
      const detail = 'too many attempts to sign in, try again later';
      throw new Refusal('rate_limited', { detail, retryAfterSeconds });
    };
  };
  const ofNetwork = limitOf('network', networkRate);
  const ofDevice = limitOf('device', knownRate);
  const ofSessionFromNetwork = limitOf('session from network', knownRate);
  const ofSession = limitOf('session', accountRate);
  const ofAccountFromNetwork = limitOf('account from network', accountOfNetworkRate);
  const ofAccount = limitOf('account', accountRate);
  return {
    ofNetwork: (clientAddress) => ofNetwork(networkOf(clientAddress)),
    ofAccount: async ({ way, email, device, clientAddress }) => {
      if (device !== undefined) return ofDevice(`${way} ${device}`);
      const account = `${way} ${email.trim().toLowerCase()}`;
      await ofAccountFromNetwork(`${account} ${networkOf(clientAddress)}`);
      await ofAccount(account);
    },
    ofCode: limitOf('code', codeRate),
    ofSession: async ({ sessionId, device, clientAddress }) => {
      const session = device === undefined ? sessionId : `${sessionId} ${device}`;
      await ofSessionFromNetwork(`${session} ${networkOf(clientAddress)}`);
      await ofSession(session);
    },
  };
}
