import type { KMSClient } from '@aws-sdk/client-kms';
import { type Hex, keccak256 } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { parseEcdsaSignature, parsePublicKey } from './der.ts';
import { canonicalSignature, type Signer, SignerFailure } from './signer.ts';

/** A key of AWS KMS (ECC_SECG_P256K1, for signing). */
export interface AwsKmsSettings {
  readonly region: string;
  /** Id, ARN or alias of the key. */
  readonly keyId: string;
  readonly address: Hex;
  /** Replaces the region's endpoint; without a slash at its end. */
  readonly endpoint?: string | undefined;
  /** Replaces the machine's credentials: the environment, shared files, or the role of its container or instance. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
  /** Limit for one request; 3 seconds when absent. */
  readonly timeoutMs?: number | undefined;
}

/** Database rows are locked while a transaction is signed: fail early and let the caller retry. */
const defaultTimeoutMs = 3_000;
const maxAttempts = 3;

/**
 * Signs by AWS KMS (docs.aws.amazon.com/kms, Sign and GetPublicKey). KMS gets the Keccak-256 as a digest; "SHA_256"
 * only names its length. KMS answers in DER, with any s and no recovery id. The public key is compared with the
 * address before the first signature. Throttled, failed and unanswered requests are sent up to three times; then
 * `sign` throws `SignerFailure`.
 */
export function awsKmsSigner(settings: AwsKmsSettings): Signer {
  const { region, keyId, address, endpoint, credentials, timeoutMs = defaultTimeoutMs } = settings;
  // Loaded here, so that installations with other signers save its 26 MB of memory.
  const opened = import('@aws-sdk/client-kms').then((sdk) => ({
    sdk,
    client: new sdk.KMSClient({
      region,
      maxAttempts,
      requestHandler: {
        connectionTimeout: timeoutMs,
        requestTimeout: timeoutMs,
        throwOnRequestTimeout: true,
      },
      ...(endpoint !== undefined && { endpoint }),
      ...(credentials !== undefined && { credentials }),
    }),
  }));
  let isChecked = false;
  return {
    address,
    async sign(preimage) {
      const { sdk, client } = await opened;
      if (!isChecked) await checkPublicKey(await opened, settings);
      isChecked = true;
      const hash = keccak256(preimage);
      const { Signature } = await asked(() =>
        client.send(
          new sdk.SignCommand({
            KeyId: keyId,
            Message: Buffer.from(hash.slice(2), 'hex'),
            MessageType: 'DIGEST',
            SigningAlgorithm: 'ECDSA_SHA_256',
          }),
        ),
      );
      const signature = parseEcdsaSignature(bytesOf(Signature, 'signature'));
      if (signature === undefined) throw new SignerFailure('malformed signature');
      return canonicalSignature(hash, signature, address);
    },
  };
}

interface Opened {
  readonly sdk: typeof import('@aws-sdk/client-kms');
  readonly client: KMSClient;
}

async function checkPublicKey({ sdk, client }: Opened, { keyId, address }: AwsKmsSettings): Promise<void> {
  const { PublicKey } = await asked(() => client.send(new sdk.GetPublicKeyCommand({ KeyId: keyId })));
  const publicKey = parsePublicKey(bytesOf(PublicKey, 'public key'));
  if (publicKey === undefined) throw new SignerFailure('the key of KMS is not on secp256k1');
  const found = publicKeyToAddress(publicKey);
  if (found !== address)
    throw new SignerFailure(`the key of KMS is of ${found}, the configuration says ${address}`);
}

/** Only the error's name is reported, because its message may quote the data to be signed. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    const name = cause instanceof Error ? cause.name : '';
    throw new SignerFailure(`KMS refuses: ${/^[A-Za-z]{1,60}$/.test(name) ? name : 'unknown error'}`);
  }
}

function bytesOf(bytes: Uint8Array | undefined, name: string): Uint8Array {
  if (bytes === undefined) throw new SignerFailure(`KMS gave no ${name}`);
  return bytes;
}
