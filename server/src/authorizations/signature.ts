import type { Hex } from '@florin/protocol/order.ts';
import { encodeFunctionData, parseAbi, size, slice } from 'viem';
import type { Cryptography } from './cryptography.ts';

/** What the service reads from a payer's chain. Both throw the refusal chain_unavailable when the chain cannot be asked. */
export interface PayerChain {
  /** The code at an address at the newest block; `0x` when there is none. */
  codeAt(chainId: number, address: Hex): Promise<Hex>;
  /** The result of an eth_call at the newest block; undefined when the call reverts or runs out of gas. */
  callAt(chainId: number, call: { to: Hex; data: Hex; gas: bigint }): Promise<Hex | undefined>;
}

/** What a signature must prove. */
export interface SignatureClaim {
  readonly chainId: number;
  readonly payer: Hex;
  readonly digest: Hex;
  /** Lower-case hex. */
  readonly signature: Hex;
}

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
]);
/** The magic value in a whole word. Longer, shorter and dirty answers are not it. */
const erc1271Answer: Hex = `0x1626ba7e${'0'.repeat(56)}`;
const erc6492Suffix = '6492'.repeat(16);

/** Enough for passkey accounts and large multisigs; a hostile wallet can burn no more than this. */
const erc1271Gas = 2_000_000n;

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Whether a signature has the one form that is taken from plain accounts: 65 bytes, r in range, low s, v 27 or 28. */
export function isCanonicalSignature(signature: Hex): boolean {
  if (size(signature) !== 65) return false;
  const r = BigInt(slice(signature, 0, 32));
  const s = BigInt(slice(signature, 32, 64));
  const v = BigInt(slice(signature, 64, 65));
  return r > 0n && r < curveOrder && s > 0n && s <= curveOrder / 2n && (v === 27n || v === 28n);
}

/**
 * Whether the payer authorized a digest. The code at the payer's address decides how it is checked: none is ecrecover
 * in canonical form only; any code, an EIP-7702 delegation too, is EIP-1271 with no other way in. Wrapped signatures
 * of accounts that are not deployed yet (ERC-6492) are refused.
 */
export async function isAuthorizedBy(
  cryptography: Cryptography,
  payerChain: PayerChain,
  claim: SignatureClaim,
): Promise<boolean> {
  const { chainId, payer, digest, signature } = claim;
  if (signature.endsWith(erc6492Suffix)) return false;
  const code = await payerChain.codeAt(chainId, payer);
  if (code === '0x') {
    if (!isCanonicalSignature(signature)) return false;
    const signer = await cryptography.recover(digest, signature);
    return signer?.toLowerCase() === payer.toLowerCase();
  }
  const data = encodeFunctionData({
    abi: erc1271Abi,
    functionName: 'isValidSignature',
    args: [digest, signature],
  });
  const answer = await payerChain.callAt(chainId, { to: payer, data, gas: erc1271Gas });
  return answer?.toLowerCase() === erc1271Answer;
}
