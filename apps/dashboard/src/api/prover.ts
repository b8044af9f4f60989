import { ApiFailure } from './failure.ts';

/** `prove`: a fresh proof of who acts. `sign-in`: the session has ended. */
export type ProofReason = 'prove' | 'sign-in';
type Ask = (reason: ProofReason, call: string) => Promise<boolean>;

let ask: Ask | undefined;
let asking: Promise<boolean> | undefined;

/** Gives the dialog that asks; the shell does so while it stands. */
export function setProver(given: Ask | undefined): void {
  ask = given;
}

/**
 * Does an act; when the service wants a proof of who acts, asks the person and does it again. What was typed stays,
 * because the dialog stands above the screen. Throws `proof_declined` when the person closes the dialog.
 * @param call What the act calls, as `POST /key/create`: the dialog says it.
 */
export async function withProof<T>(act: () => Promise<T>, call = ''): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined || ask === undefined) throw error;
    asking ??= ask(reason, call).finally(() => {
      asking = undefined;
    });
    if (await asking) return act();
    throw new ApiFailure({ slug: 'proof_declined', message: 'Not confirmed: nothing was changed.' });
  }
}

function reasonOf(error: unknown): ProofReason | undefined {
  if (!(error instanceof ApiFailure)) return undefined;
  if (error.slug === 'fresh_proof_required') return 'prove';
  return error.slug === 'sign_in_required' ? 'sign-in' : undefined;
}
