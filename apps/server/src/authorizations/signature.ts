import type { Hex } from '@florin/protocol/order.ts';
import {
  BaseError,
  concat,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import type { AuthorizationContext } from './context.ts';
import { counterfactualSignatureCode } from './counterfactual.gen.ts';

/** What signature checks need. */
export type SignatureContext = Pick<AuthorizationContext, 'cryptography' | 'payerChain' | 'admitWalletCall'>;

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
/** The magic value as a whole word. Longer, shorter and dirty answers do not count. */
const erc1271Answer: Hex = `0x1626ba7e${'0'.repeat(56)}`;

/** Enough for passkey accounts and large multisigs. A hostile wallet can burn no more than this. */
const erc1271Gas = 2_000_000n;
/** The same, plus the deployment of the account. */
const erc6492Gas = 6_000_000n;

/**
 * Whether the payer authorized a digest. The code at the payer's address decides the check. Without code, it is
 * ecrecover in canonical form only. With code, an EIP-7702 delegation included, it is EIP-1271 only. A wrapped
 * signature (ERC-6492) of an account without code is checked in a call that deploys the account and leaves no state.
 */
export async function isAuthorizedBy(deps: SignatureContext, claim: SignatureClaim): Promise<boolean> {
  if (!isWrapped(claim.signature)) return isSignedByAccount(deps, claim);
  const wrapped = unwrap(claim.signature);
  if (wrapped === undefined) return false;
  const code = await deps.payerChain.codeAt(claim.chainId, claim.payer);
  // A deployed account needs no deployment, so no code of the sender's choice runs before the check.
  if (code !== '0x') return isTakenByCode(deps, { ...claim, signature: wrapped.signature });
  return isTakenOnceDeployed(deps, claim, wrapped);
}

/**
 * Whether the payer signed a payment in a form that the contracts accept as it is. Like `isAuthorizedBy`, without
 * undeployed accounts: their wrapped signatures are refused without asking the chain.
 */
export async function isPaymentSignedBy(deps: SignatureContext, claim: SignatureClaim): Promise<boolean> {
  return !isWrapped(claim.signature) && isSignedByAccount(deps, claim);
}

async function isSignedByAccount(deps: SignatureContext, claim: SignatureClaim): Promise<boolean> {
  const code = await deps.payerChain.codeAt(claim.chainId, claim.payer);
  if (code !== '0x') return isTakenByCode(deps, claim);
  return deps.cryptography.recover(claim.digest, claim.signature) === claim.payer.toLowerCase();
}

async function isTakenByCode(
  { payerChain, admitWalletCall }: SignatureContext,
  { chainId, payer, digest, signature }: SignatureClaim,
): Promise<boolean> {
  admitWalletCall?.();
  const question = { abi: erc1271Abi, functionName: 'isValidSignature', args: [digest, signature] } as const;
  const data = encodeFunctionData(question);
  const answer = await payerChain.callAt(chainId, { to: payer, data, gas: erc1271Gas });
  return answer?.toLowerCase() === erc1271Answer;
}

/** The content before the suffix of a wrapped signature. */
interface WrappedSignature {
  readonly factory: Hex;
  readonly factoryCall: Hex;
  readonly signature: Hex;
}

const erc6492Suffix = '6492'.repeat(16);
const wrapperParameters = parseAbiParameters('address factory, bytes factoryCall, bytes signature');

function isWrapped(signature: Hex): boolean {
  return signature.endsWith(erc6492Suffix);
}

/** The parts of a wrapped signature; undefined when they cannot be decoded, or hold another wrapper. */
function unwrap(wrapper: Hex): WrappedSignature | undefined {
  const body: Hex = `0x${wrapper.slice(2, -erc6492Suffix.length)}`;
  try {
    const [factory, factoryCall, signature] = decodeAbiParameters(wrapperParameters, body);
    return isWrapped(signature) ? undefined : { factory, factoryCall, signature };
  } catch (error) {
    // Bytes that do not decode are no signature, which is all that the caller asks.
    if (error instanceof BaseError) return undefined;
    throw error;
  }
}

const questionParameters = parseAbiParameters(
  'address account, bytes32 digest, address factory, bytes factoryCall, bytes signature',
);

async function isTakenOnceDeployed(
  { payerChain, admitWalletCall }: SignatureContext,
  { chainId, payer, digest }: SignatureClaim,
  { factory, factoryCall, signature }: WrappedSignature,
): Promise<boolean> {
  admitWalletCall?.();
  const values = [payer, digest, factory, factoryCall, signature] as const;
  const data = concat([counterfactualSignatureCode, encodeAbiParameters(questionParameters, values)]);
  const answer = await payerChain.callAt(chainId, { data, gas: erc6492Gas });
  return answer?.toLowerCase() === erc1271Answer;
}
