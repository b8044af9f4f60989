import { createSessionBody, preparePaymentBody } from '@florin/protocol/agent-api.ts';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Secp256k1, secp256k1, wasmSecp256k1 } from '@florin/signing';
import { parseSignedMessage } from '#authorizations/authorization.ts';
import { type AgentMessage, cryptographyOf } from '#authorizations/cryptography.ts';
import { isAuthorizedBy } from '#authorizations/signature.ts';
import { compileCheck } from '#http/schema-check.ts';
import { type SignatureCase, signatureCase } from './signature-case.ts';
import { judge, type Library, type Verdict } from './signature-oracle.ts';

/** The result of a run. */
export interface FuzzFigures {
  readonly cases: number;
  readonly accepted: number;
  /** Cases in which a library and the service disagree, each with the seed that repeats it. */
  readonly differences: readonly string[];
  readonly byName: Readonly<Record<string, number>>;
}

const checks = {
  create_payment_session: compileCheck(createSessionBody, 'body'),
  prepare_payment: compileCheck(preparePaymentBody, 'body'),
};
const payerChain = {
  codeAt: async (): Promise<Hex> => '0x',
  callAt: async () => {
    throw new Error('a plain account has no code to call');
  },
};

/** The service's verdict on a request, from the schema to the signature, for a payer without code. */
async function verdictOf({ purpose, body }: SignatureCase, curve: Secp256k1): Promise<Verdict> {
  if (checks[purpose](body) !== undefined) return { digest: undefined, isAccepted: false };
  const deps = { serviceDomain: 'pay.example.com', cryptography: cryptographyOf(curve), payerChain };
  try {
    const agentMessage = { purpose, message: body.message } as unknown as AgentMessage;
    const signed = parseSignedMessage(deps, agentMessage, String(body.signature));
    const { digest, payer, signature } = signed;
    return { digest, isAccepted: await isAuthorizedBy(deps, { chainId: 1, payer, digest, signature }) };
  } catch (error) {
    if (error instanceof Refusal) return { digest: undefined, isAccepted: false };
    throw error;
  }
}

/** Every this many cases, both libraries and the other curve implementation judge the case. */
const thoroughEvery = 16;

/** The most differences that are listed; more probably have the same cause. */
const maxDifferences = 20;

/**
 * Compares the service's verdicts on `cases` requests with those of viem and ethers, in turn. Case `n` of a seed is
 * the case of `seed + n`, so that each can be repeated alone.
 */
export async function fuzzSignatures(
  options: { readonly seed: number; readonly cases: number },
  onProgress: (done: number, differences: number) => void = () => {},
): Promise<FuzzFigures> {
  const wasm = await wasmSecp256k1();
  const differences: string[] = [];
  const byName: Record<string, number> = {};
  let accepted = 0;
  for (let index = 0; index < options.cases && differences.length < maxDifferences; index += 1) {
    const seed = options.seed + index;
    const example = signatureCase(seed);
    const ours = await verdictOf(example, secp256k1);
    if (ours.isAccepted) accepted += 1;
    byName[example.name] = (byName[example.name] ?? 0) + 1;
    const isThorough = index % thoroughEvery === 0;
    const libraries: readonly Library[] = isThorough
      ? ['viem', 'ethers']
      : [index % 2 === 0 ? 'viem' : 'ethers'];
    for (const library of libraries) {
      if (isSame(ours, await judge(example, library))) continue;
      differences.push(`seed ${seed}: ${library} differs over "${example.name}"`);
    }
    if (isThorough && !isSame(ours, await verdictOf(example, wasm)))
      differences.push(`seed ${seed}: the two implementations differ over "${example.name}"`);
    if (index % 1_000 === 0) onProgress(index, differences.length);
  }
  return { cases: options.cases, accepted, differences, byName };
}

/**
 * The service hashes before it checks the form of a signature. The libraries need no digest for a signature with a
 * wrong form.
 */
function isSame(ours: Verdict, theirs: Verdict): boolean {
  if (ours.isAccepted !== theirs.isAccepted) return false;
  return theirs.digest === undefined || ours.digest === theirs.digest;
}
