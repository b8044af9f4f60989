import type { Hex } from 'viem';
import { keccak256 } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { canonicalSignature, type Signer, SignerFailure } from './signer.ts';
import type { SignerHttp } from './signer-http.ts';

/** A Web3Signer in its eth1 mode, and the address of one of its keys. */
export interface Web3SignerSettings {
  /** Without a slash at its end. */
  readonly url: string;
  readonly address: Hex;
}

const signaturePattern = /^0x[0-9a-fA-F]{130}$/;
const publicKeyPattern = /^0x[0-9a-fA-F]{128}$/;

/**
 * Signs by Consensys' Web3Signer (`web3signer eth1`): POST /api/v1/eth1/sign/{public key} with the data, which the
 * service hashes with Keccak-256 itself. The first signature looks up the public key of the address.
 */
export function web3Signer(http: SignerHttp, { url, address }: Web3SignerSettings): Signer {
  let identifier: string | undefined;
  return {
    address,
    async sign(preimage) {
      identifier ??= await findIdentifier(http, url, address);
      const { status, text } = await http.ask({
        method: 'POST',
        url: `${url}/api/v1/eth1/sign/${identifier}`,
        headers: () => ({ 'content-type': 'application/json', accept: 'text/plain, application/json' }),
        body: JSON.stringify({ data: preimage }),
      });
      // The service has lost the key since; the next signature looks it up again.
      if (status === 404) identifier = undefined;
      if (status !== 200) throw new SignerFailure(`Web3Signer answers with HTTP status ${status}`);
      // Plain text, in quotes by some versions.
      const signature = text.trim().replace(/^"(.*)"$/, '$1');
      if (!signaturePattern.test(signature)) throw new SignerFailure('malformed signature');
      const r = BigInt(signature.slice(0, 66));
      const s = BigInt(`0x${signature.slice(66, 130)}`);
      return canonicalSignature(keccak256(preimage), { r, s }, address);
    },
  };
}

async function findIdentifier(http: SignerHttp, url: string, address: Hex): Promise<string> {
  const { status, text } = await http.ask({
    method: 'GET',
    url: `${url}/api/v1/eth1/publicKeys`,
    headers: () => ({ accept: 'application/json' }),
    body: '',
  });
  if (status !== 200) throw new SignerFailure(`Web3Signer answers with HTTP status ${status}`);
  const found = listOf(text).find((key) => isKeyOf(key, address));
  if (found === undefined) throw new SignerFailure(`Web3Signer has no key of ${address}`);
  return found;
}

function listOf(text: string): readonly string[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list))
      return list.filter((key) => typeof key === 'string' && publicKeyPattern.test(key));
  } catch {
    // Not JSON: handled below like every other answer that is not a list.
  }
  throw new SignerFailure('malformed list of public keys');
}

/** The service lists both coordinates, without the leading type byte. */
function isKeyOf(publicKey: string, address: Hex): boolean {
  return publicKeyToAddress(`0x04${publicKey.slice(2)}`) === address;
}
