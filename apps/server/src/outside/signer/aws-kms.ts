import type { Hex } from '@florin/protocol/order.ts';
import { keccak256 } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { type AwsCredentials, amzDate, authorizationOf, sha256Hex } from '../aws-signature.ts';
import type { Clock } from '../clock.ts';
import { parseEcdsaSignature, parsePublicKey } from './der.ts';
import { canonicalSignature, type Signer, SignerFailure } from './signer.ts';
import type { SignerAnswer, SignerHttp } from './signer-http.ts';

/** A key of AWS KMS (ECC_SECG_P256K1, for signing), and who may use it. */
export interface AwsKmsSettings {
  readonly region: string;
  /** Id, ARN or alias of the key. */
  readonly keyId: string;
  readonly address: Hex;
  readonly credentials: AwsCredentials & { readonly sessionToken?: string };
  /** Instead of the region's own; without a slash at its end. */
  readonly endpoint?: string;
}

const algorithm = 'ECDSA_SHA_256';
/** Answers with status 400 that mean "later". */
const throttling = /Throttling|LimitExceeded|RequestLimit|TooManyRequests/;

/**
 * Signs by AWS KMS, or what speaks as it does (docs.aws.amazon.com/kms, Sign and GetPublicKey). KMS is handed the
 * Keccak-256 as a digest; "SHA_256" only names its length. It answers in DER, with any s and no recovery id. Before the first
 * signature the public key is compared with the address.
 */
export function awsKmsSigner(http: SignerHttp, clock: Clock, settings: AwsKmsSettings): Signer {
  let isChecked = false;
  return {
    address: settings.address,
    async sign(preimage) {
      if (!isChecked) await checkPublicKey(http, clock, settings);
      isChecked = true;
      const hash = keccak256(preimage);
      const answer = await ask(http, clock, settings, 'Sign', {
        KeyId: settings.keyId,
        Message: Buffer.from(hash.slice(2), 'hex').toString('base64'),
        MessageType: 'DIGEST',
        SigningAlgorithm: algorithm,
      });
      const signature = parseEcdsaSignature(bytesOf(answer, 'Signature'));
      if (signature === undefined) throw new SignerFailure('malformed signature');
      return canonicalSignature(hash, signature, settings.address);
    },
  };
}

async function checkPublicKey(http: SignerHttp, clock: Clock, settings: AwsKmsSettings): Promise<void> {
  const answer = await ask(http, clock, settings, 'GetPublicKey', { KeyId: settings.keyId });
  const publicKey = parsePublicKey(bytesOf(answer, 'PublicKey'));
  if (publicKey === undefined) throw new SignerFailure('the key of KMS is not on secp256k1');
  const address = publicKeyToAddress(publicKey);
  if (address !== settings.address)
    throw new SignerFailure(`the key of KMS is of ${address}, the configuration says ${settings.address}`);
}

async function ask(
  http: SignerHttp,
  clock: Clock,
  settings: AwsKmsSettings,
  operation: 'Sign' | 'GetPublicKey',
  values: Readonly<Record<string, string>>,
): Promise<unknown> {
  const endpoint = settings.endpoint ?? `https://kms.${settings.region}.amazonaws.com`;
  const body = JSON.stringify(values);
  const answer = await http.ask({
    method: 'POST',
    url: `${endpoint}/`,
    headers: () => signedHeaders(settings, { endpoint, operation, body, now: clock.now() }),
    body,
    isThrottled: (given) => given.status === 400 && throttling.test(given.text),
  });
  if (answer.status !== 200) throw new SignerFailure(`KMS refuses: ${kindOf(answer)}`);
  return parseJson(answer);
}

function signedHeaders(
  { region, credentials }: AwsKmsSettings,
  request: { endpoint: string; operation: string; body: string; now: Date },
): Record<string, string> {
  const headers = {
    host: new URL(request.endpoint).host,
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-date': amzDate(request.now),
    'x-amz-target': `TrentService.${request.operation}`,
    ...(credentials.sessionToken === undefined ? {} : { 'x-amz-security-token': credentials.sessionToken }),
  };
  const signable = { method: 'POST', path: '/', headers, bodyHash: sha256Hex(request.body) };
  return { ...headers, authorization: authorizationOf(signable, { region, service: 'kms' }, credentials) };
}

/** The error's name alone: its message may say more than a log should hold. */
function kindOf(answer: SignerAnswer): string {
  const kind = /"__type"\s*:\s*"(?:[^"#]*#)?([A-Za-z]{1,60})"/.exec(answer.text)?.[1];
  return kind ?? `HTTP status ${answer.status}`;
}

function parseJson(answer: SignerAnswer): unknown {
  try {
    return JSON.parse(answer.text);
  } catch (cause) {
    throw new SignerFailure('malformed answer of KMS', { cause });
  }
}

function bytesOf(answer: unknown, name: string): Uint8Array {
  const text = typeof answer === 'object' && answer !== null ? Reflect.get(answer, name) : undefined;
  if (typeof text !== 'string') throw new SignerFailure(`KMS gave no ${name}`);
  return Buffer.from(text, 'base64');
}
