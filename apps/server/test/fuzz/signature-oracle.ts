import { paymentSessionCreationTypes, preparePaymentTypes } from '@florin/protocol/typed-data.ts';
import * as ethers from 'ethers';
import * as viem from 'viem';
import { domainName, type SignatureCase } from './signature-case.ts';

/** A verdict on a request: its digest, where the verdict needs it, and whether the payer signed it. */
export interface Verdict {
  readonly digest: string | undefined;
  readonly isAccepted: boolean;
}

export type Library = 'viem' | 'ethers';

const refused: Verdict = { digest: undefined, isAccepted: false };
const creation = paymentSessionCreationTypes.PaymentSessionCreationAuthorization;
const preparation = preparePaymentTypes.PreparePaymentAuthorization;

/** The wire's rules, written independently; a library hashes and recovers. */
export async function judge({ purpose, body }: SignatureCase, library: Library): Promise<Verdict> {
  const { message, signature } = body;
  const fields = purpose === 'prepare_payment' ? preparation : creation;
  if (!isMessage(message, fields) || !isBytes(signature) || !isCanonical(signature)) return refused;
  const primaryType =
    purpose === 'prepare_payment' ? 'PreparePaymentAuthorization' : 'PaymentSessionCreationAuthorization';
  const types = { [primaryType]: [...fields] };
  const domain = { name: domainName, version: '1', chainId: BigInt(message['paymentChainId'] ?? '') };
  // A library would refuse addresses in unusual letter case, which the code above checks.
  const values = Object.fromEntries(
    fields.map(({ name, type }) => {
      const text = message[name] ?? '';
      return [name, type === 'uint256' ? BigInt(text) : type === 'address' ? text.toLowerCase() : text];
    }),
  );
  const digest =
    library === 'viem'
      ? viem.hashTypedData({ domain, types, primaryType, message: values })
      : ethers.TypedDataEncoder.hash(domain, types, values);
  const signer = await recover(digest, signature, library);
  return { digest, isAccepted: signer?.toLowerCase() === message['payer']?.toLowerCase() };
}

async function recover(digest: string, signature: string, library: Library): Promise<string | undefined> {
  try {
    return library === 'viem'
      ? await viem.recoverAddress({ hash: digest as viem.Hex, signature: signature as viem.Hex })
      : ethers.recoverAddress(digest, signature);
  } catch {
    // Not a signature by any key: both libraries throw, each in many ways.
    return undefined;
  }
}

function isMessage(
  message: Readonly<Record<string, unknown>>,
  fields: readonly { readonly name: string; readonly type: string }[],
): message is Readonly<Record<string, string>> {
  if (Object.keys(message).length !== fields.length) return false;
  return fields.every(({ name, type }) => {
    const text = message[name];
    if (typeof text !== 'string') return false;
    if (type === 'uint256') return isInteger(text);
    if (type === 'address') return text.length === 42 && viem.isAddress(text, { strict: true });
    if (type === 'bytes32') return ethers.isHexString(text, 32);
    return isText(name, text);
  });
}

function isInteger(text: string): boolean {
  try {
    const value = BigInt(text);
    return value.toString() === text && value >= 0n && value <= viem.maxUint256;
  } catch {
    return false;
  }
}

function isText(name: string, text: string): boolean {
  const { length } = [...text];
  if (encodeURIComponentFails(text) || text.split('\0').length > 1) return false;
  if (name === 'payerEmail') {
    const [local = '', host = '', ...rest] = text.split('@');
    const isAddress = local !== '' && host !== '' && rest.length === 0 && text.split(/\s/).length === 1;
    return text === '' || (isAddress && length <= 254);
  }
  const least = name === 'linkId' || name === 'sessionId' ? 1 : 0;
  return length >= least && length <= 64;
}

/** Only texts with lone surrogates have no percent encoding. */
function encodeURIComponentFails(text: string): boolean {
  try {
    encodeURIComponent(text);
    return false;
  } catch {
    return true;
  }
}

function isBytes(signature: unknown): signature is string {
  return typeof signature === 'string' && ethers.isHexString(signature) && signature.length % 2 === 0;
}

/** The canonical form: the one that ethers writes for the signature that it reads. */
function isCanonical(signature: string): boolean {
  try {
    const { r, s, serialized } = ethers.Signature.from(signature);
    return serialized === signature.toLowerCase() && BigInt(r) > 0n && BigInt(s) > 0n && BigInt(r) < ethers.N;
  } catch {
    return false;
  }
}
