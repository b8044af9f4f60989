/** How a person proved who they are. */
export type Proof = 'password' | 'second_factor' | 'passkey' | 'wallet' | 'recovery';

/** The proof that a successful request to one of the library's paths gives. Other paths keep the session's proof. */
const proofs: Readonly<Record<string, Proof>> = {
  '/sign-in/email': 'password',
  '/two-factor/verify-totp': 'second_factor',
  '/passkey/verify-authentication': 'passkey',
  '/sign-in/wallet': 'wallet',
  '/sign-in/recovery-code': 'recovery',
};

export function proofOfPath(path: string | undefined): Proof | undefined {
  return path === undefined ? undefined : proofs[path];
}

/** How long a proof counts as fresh: five minutes, in milliseconds. */
const freshForMs = 5 * 60_000;

/**
 * Whether the proof opens the dashboard. In production a password alone and a recovery code open only the page on which a
 * passkey, a second factor or a wallet is added.
 */
export function isStrong(proof: Proof, environment: 'local' | 'production'): boolean {
  if (environment === 'local') return true;
  return proof === 'second_factor' || proof === 'passkey' || proof === 'wallet';
}

/** For how many seconds more the person counts as proven, who is so for five minutes; 0: they must prove again who they are. */
export function freshSeconds(provenAt: Date, now: Date): number {
  const ageMs = now.getTime() - provenAt.getTime();
  return ageMs >= 0 && ageMs < freshForMs ? Math.ceil((freshForMs - ageMs) / 1_000) : 0;
}
