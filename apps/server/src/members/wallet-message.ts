import type { WalletPurpose } from '@florin/protocol/dashboard-sign-in.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { createSiweMessage, parseSiweMessage } from 'viem/siwe';

/** What the wallet shows to its owner, so that nobody signs one thing for another. */
export const walletStatements: Readonly<Record<WalletPurpose, string>> = {
  sign_in: 'Sign in to the dashboard.',
  prove: 'Prove that it is you, before a change in the dashboard.',
  add_wallet: 'Let this wallet sign in to the account that is open in this browser.',
};

/** Refuses a wallet of no account, which has proven itself: only its owner may learn that it has none. */
export const walletUnknown = {
  code: 'WALLET_UNKNOWN',
  message: 'no account signs in with this wallet',
} as const;

/** How long a wallet may take to sign: ten minutes, in milliseconds. */
export const messageForMs = 600_000;
/** How far the clock of another process of ours may run ahead, in milliseconds. */
const maxAheadMs = 30_000;

/**
 * The wallet and the chain of a message of EIP-4361. Undefined unless it is written exactly as the standard says, for this
 * site and scheme, with this nonce and the purpose's statement, was issued within the last ten minutes, and is valid now.
 */
export function checkWalletMessage(
  message: string,
  expected: {
    /** Of the dashboard's pages. */
    readonly origin: string;
    readonly nonce: string;
    readonly purpose: WalletPurpose;
    readonly now: Date;
  },
): { readonly address: Hex; readonly chainId: number } | undefined {
  const { host, origin, protocol } = new URL(expected.origin);
  const parsed = parseSiweMessage(message);
  const { address, chainId, issuedAt, expirationTime, notBefore, scheme } = parsed;
  const now = expected.now.getTime();
  const ageMs = issuedAt === undefined ? Number.NaN : now - issuedAt.getTime();
  const isForUs =
    parsed.domain === host &&
    (scheme === undefined || `${scheme}:` === protocol) &&
    parsed.uri === origin &&
    parsed.nonce === expected.nonce &&
    parsed.statement === walletStatements[expected.purpose];
  // Comparisons with the time of a day that no calendar has are false.
  const isNow =
    ageMs >= -maxAheadMs &&
    ageMs < messageForMs &&
    (expirationTime === undefined || now < expirationTime.getTime()) &&
    (notBefore === undefined || now >= notBefore.getTime());
  if (!isForUs || !isNow || address === undefined || chainId === undefined) return undefined;
  return isCanonical(message, parsed) ? { address, chainId } : undefined;
}

/** Whether the parts that were read are the whole message: the parser skips what it does not know. */
function isCanonical(message: string, parts: ReturnType<typeof parseSiweMessage>): boolean {
  try {
    return createSiweMessage(parts as Parameters<typeof createSiweMessage>[0]) === message;
  } catch {
    // A part that the standard does not allow.
    return false;
  }
}
