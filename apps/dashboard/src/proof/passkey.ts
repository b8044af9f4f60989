import { ApiFailure } from '../api/failure.ts';

/** Whether this browser knows passkeys and their JSON. */
export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function'
  );
}

/** Asks the browser for a passkey's signature. Throws ApiFailure when the person closes its dialog. */
export function askPasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  return jsonOf(navigator.credentials.get({ publicKey }));
}

/** Asks the browser to make a passkey. */
export function makePasskey(options: object): Promise<object> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  return jsonOf(navigator.credentials.create({ publicKey }));
}

async function jsonOf(asked: Promise<Credential | null>): Promise<object> {
  try {
    const credential = await asked;
    if (credential instanceof PublicKeyCredential) return credential.toJSON() as object;
  } catch (error) {
    // The browser tells a closed dialog, a missing passkey and a time-out by the same name.
    if (!(error instanceof DOMException)) throw error;
    if (error.name === 'InvalidStateError')
      throw new ApiFailure({ slug: 'sign_in_failed', message: 'This device already has a passkey here.' });
  }
  throw new ApiFailure({ slug: 'sign_in_failed', message: 'No passkey was given. Try again.' });
}
