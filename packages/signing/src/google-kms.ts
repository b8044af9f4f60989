import { createPublicKey } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type Hex, keccak256 } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { parseEcdsaSignature, parsePublicKey } from './der.ts';
import { canonicalSignature, type Signer, SignerFailure } from './signer.ts';
import type { SignerAnswer, SignerHttp } from './signer-http.ts';

/** A version of a key of Google Cloud KMS (EC_SIGN_SECP256K1_SHA256, which exists at protection level HSM alone). */
export interface GoogleKmsSettings {
  /** projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/… */
  readonly keyVersion: string;
  readonly address: Hex;
  /** Replaces Google's endpoint; without a slash at its end. */
  readonly endpoint?: string | undefined;
  /** Limit for the request for a token; 3 seconds when absent. */
  readonly timeoutMs?: number | undefined;
}

/** Database rows are locked while a transaction is signed: fail early and let the caller retry. */
const defaultTimeoutMs = 3_000;
const defaultEndpoint = 'https://cloudkms.googleapis.com';
const scope = 'https://www.googleapis.com/auth/cloudkms';

/** The parts of google-auth-library that are used. */
interface GoogleAuthModule {
  readonly GoogleAuth: new (settings: {
    readonly scopes: string;
    readonly projectId: string | undefined;
  }) => { getAccessToken(): Promise<string | null | undefined> };
}

// Not a literal: an installation without Google's keys builds and runs without the package, which brings 12 MB.
const packageName: string = 'google-auth-library';

/**
 * Signs by Google Cloud KMS (cloud.google.com/kms/docs/reference/rest, asymmetricSign and getPublicKey). Credentials are
 * those that Google's own library finds: the service account of the machine, a federated identity or a file. The library
 * renews their tokens. KMS gets the Keccak-256 as a digest; "sha256" only names its length. The public key is compared
 * with the address before the first signature.
 */
export function googleKmsSigner(http: SignerHttp, settings: GoogleKmsSettings): Signer {
  const { keyVersion, address, endpoint = defaultEndpoint, timeoutMs = defaultTimeoutMs } = settings;
  const url = `${endpoint}/v1/${keyVersion}`;
  let auth: InstanceType<GoogleAuthModule['GoogleAuth']> | undefined;
  let isChecked = false;
  const ask = async (method: 'GET' | 'POST', path: string, body: string) => {
    // Without a project the library starts `gcloud`, where that is installed, and waits seconds for what is not used here.
    auth ??= new (await loadAuth()).GoogleAuth({ scopes: scope, projectId: keyVersion.split('/')[1] });
    const token = await tokenOf(auth, timeoutMs);
    // The library waits for a request without an end, and so would every later caller of the same object.
    if (token === undefined) auth = undefined;
    if (typeof token !== 'string') throw new SignerFailure('no credentials for Google Cloud are found');
    const authorization = `Bearer ${token}`;
    const headers = () => ({ authorization, 'content-type': 'application/json' });
    return fieldsOf(await http.ask({ method, url: `${url}${path}`, headers, body }));
  };
  return {
    address,
    async sign(preimage) {
      if (!isChecked) checkPublicKey(await ask('GET', '/publicKey', ''), address);
      isChecked = true;
      const hash = keccak256(preimage);
      const digest = { sha256: Buffer.from(hash.slice(2), 'hex').toString('base64') };
      const { signature } = await ask('POST', ':asymmetricSign', JSON.stringify({ digest }));
      const parts =
        typeof signature === 'string' ? parseEcdsaSignature(Buffer.from(signature, 'base64')) : undefined;
      if (parts === undefined) throw new SignerFailure('malformed signature');
      return canonicalSignature(hash, parts, address);
    },
  };
}

async function loadAuth(): Promise<GoogleAuthModule> {
  try {
    const loaded: GoogleAuthModule = await import(packageName);
    return loaded;
  } catch {
    throw new SignerFailure(
      `Google Cloud KMS needs the optional package ${packageName}, which is not installed`,
    );
  }
}

/** The library's own words are left out: they may contain parts of the credentials. */
async function tokenOf(
  auth: { getAccessToken(): Promise<string | null | undefined> },
  timeoutMs: number,
): Promise<string | null | undefined> {
  const ended = new AbortController();
  const late = setTimeout(timeoutMs, undefined, { signal: ended.signal }).catch(() => undefined);
  const token = await Promise.race([auth.getAccessToken().catch(() => undefined), late]);
  ended.abort();
  return token;
}

function fieldsOf({ status, text }: SignerAnswer): Readonly<Record<string, unknown>> {
  if (status !== 200) throw new SignerFailure(`Google Cloud KMS answers with HTTP status ${status}`);
  try {
    const answer: unknown = JSON.parse(text);
    if (typeof answer === 'object' && answer !== null) return { ...answer };
  } catch {
    // Not JSON: handled below like every other answer that is not an object.
  }
  throw new SignerFailure('malformed answer of Google Cloud KMS');
}

function checkPublicKey({ pem }: Readonly<Record<string, unknown>>, address: Hex): void {
  const publicKey = typeof pem === 'string' ? publicKeyIn(pem) : undefined;
  if (publicKey === undefined) throw new SignerFailure('the key of Google Cloud KMS is not on secp256k1');
  const found = publicKeyToAddress(publicKey);
  if (found !== address)
    throw new SignerFailure(`the key of Google Cloud KMS is of ${found}, the configuration says ${address}`);
}

function publicKeyIn(pem: string): Hex | undefined {
  try {
    return parsePublicKey(createPublicKey(pem).export({ type: 'spki', format: 'der' }));
  } catch {
    // No public key at all.
    return undefined;
  }
}
