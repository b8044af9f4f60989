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
import { counterfactualSignatureCode } from './counterfactual.gen.ts';
import type { Cryptography } from './cryptography.ts';

/** What the service reads from a payer's chain. Both throw the refusal chain_unavailable when the chain cannot be asked. */
export interface PayerChain {
  /** The code at an address at the newest block; `0x` when there is none. */
  codeAt(chainId: number, address: Hex): Promise<Hex>;
  /**
   * The result of an eth_call at the newest block; undefined when the call reverts or runs out of gas. Without a
   * recipient the data are the code of a contract that is created for the call alone. Without an offer it has neither sender nor price.
   */
  callAt(
    chainId: number,
    call: { to?: Hex; data: Hex; gas: bigint; offer?: CallOffer },
  ): Promise<Hex | undefined>;
}

/** Whose transaction a call looks like to the code that it runs, and at which fees, in wei per gas. */
export interface CallOffer {
  readonly from: Hex;
  readonly maxFee: bigint;
  readonly priorityFee: bigint;
}

/** What signatures are checked with. */
export interface SignatureDeps {
  readonly cryptography: Cryptography;
  readonly payerChain: PayerChain;
  /** Refuses (900101) to run the code of one more account for a caller who has had much of it run; no limit when absent. */
  readonly admitWalletCall?: () => void;
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

/** Enough for passkey accounts and large multisigs; a hostile wallet can burn no more than this. */
const erc1271Gas = 2_000_000n;
/** The same, and the deployment of an account before it. */
const erc6492Gas = 6_000_000n;

/**
 * Whether the payer authorized a digest. The code at the payer's address decides how it is checked: none is ecrecover
 * in canonical form only; any code, an EIP-7702 delegation too, is EIP-1271 with no other way in. A wrapped signature
 * (ERC-6492) of an account without code is checked in a call that deploys the account first and leaves nothing behind.
 */
export async function isAuthorizedBy(deps: SignatureDeps, claim: SignatureClaim): Promise<boolean> {
  if (!isWrapped(claim.signature)) return isSignedByAccount(deps, claim);
  const wrapped = unwrap(claim.signature);
  if (wrapped === undefined) return false;
  const code = await deps.payerChain.codeAt(claim.chainId, claim.payer);
  // Once the account is there, nothing has to be deployed, and nothing of the sender's choice is called before it.
  if (code !== '0x') return isTakenByCode(deps, { ...claim, signature: wrapped.signature });
  return isTakenOnceDeployed(deps, claim, wrapped);
}

/**
 * Whether the payer signed a payment, in a form that the contracts on chain take as it is: as `isAuthorizedBy`, without
 * accounts that are not deployed. Their wrapped signatures are refused without asking the chain.
 */
export async function isPaymentSignedBy(deps: SignatureDeps, claim: SignatureClaim): Promise<boolean> {
  return !isWrapped(claim.signature) && isSignedByAccount(deps, claim);
}

async function isSignedByAccount(deps: SignatureDeps, claim: SignatureClaim): Promise<boolean> {
  const code = await deps.payerChain.codeAt(claim.chainId, claim.payer);
  if (code !== '0x') return isTakenByCode(deps, claim);
  return deps.cryptography.recover(claim.digest, claim.signature) === claim.payer.toLowerCase();
}

async function isTakenByCode(
  { payerChain, admitWalletCall }: SignatureDeps,
  { chainId, payer, digest, signature }: SignatureClaim,
): Promise<boolean> {
  admitWalletCall?.();
  const question = { abi: erc1271Abi, functionName: 'isValidSignature', args: [digest, signature] } as const;
  const data = encodeFunctionData(question);
  const answer = await payerChain.callAt(chainId, { to: payer, data, gas: erc1271Gas });
  return answer?.toLowerCase() === erc1271Answer;
}

/** What stands before the suffix of a wrapped signature. */
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

/** The parts of a wrapped signature; undefined when they cannot be told apart, or hold a wrapper once more. */
function unwrap(wrapper: Hex): WrappedSignature | undefined {
  const body: Hex = `0x${wrapper.slice(2, -erc6492Suffix.length)}`;
  try {
    const [factory, factoryCall, signature] = decodeAbiParameters(wrapperParameters, body);
    return isWrapped(signature) ? undefined : { factory, factoryCall, signature };
  } catch (error) {
    // Bytes of a stranger that are no such tuple: no signature, which is all that the caller asks.
    if (error instanceof BaseError) return undefined;
    throw error;
  }
}

const questionParameters = parseAbiParameters(
  'address account, bytes32 digest, address factory, bytes factoryCall, bytes signature',
);

async function isTakenOnceDeployed(
  { payerChain, admitWalletCall }: SignatureDeps,
  { chainId, payer, digest }: SignatureClaim,
  { factory, factoryCall, signature }: WrappedSignature,
): Promise<boolean> {
  admitWalletCall?.();
  const values = [payer, digest, factory, factoryCall, signature] as const;
  const data = concat([counterfactualSignatureCode, encodeAbiParameters(questionParameters, values)]);
  const answer = await payerChain.callAt(chainId, { data, gas: erc6492Gas });
  return answer?.toLowerCase() === erc1271Answer;
}
