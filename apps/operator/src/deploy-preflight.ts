import { CommandError } from '@florin/cli';
import { circleContracts, findKnownChain } from '@florin/protocol/known-chain.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type CctpSettings, create2Deployer, permit2Address } from '@florin/server/operator';
import { toFunctionSelector, toHex } from 'viem';

/** A node, the chain that it serves, and what is to be deployed there. */
interface Candidate {
  readonly request: (method: string, params: readonly unknown[]) => Promise<unknown>;
  readonly chainId: number;
  /** Absent: no route is deployed. */
  readonly cctp?: CctpSettings;
  readonly log: (sentence: string) => void;
}

/** What Arachnid's deployer runs: CREATE2 of the calldata after its first word, which is the salt. */
const create2DeployerCode =
  '0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3';

/**
 * Creation code that stores 1 in transient storage, reads it, copies it in memory and answers it: PUSH1 1, PUSH0, TSTORE,
 * PUSH0, TLOAD, PUSH0, MSTORE, then MCOPY of the word to 0x20 and RETURN. The contracts use all of these instructions.
 */
const probe = '0x60015f5d5f5c5f5260205f60205e60206020f3';
const one = `0x${'1'.padStart(64, '0')}`;

/** The factory is the largest deployment: about 8 million gas. */
const leastBlockGas = 10_000_000n;

/**
 * What a chain must have before anything is deployed there. Throws a CommandError with one sentence for the first that it has
 * not. A chain without Permit2 is told, and taken.
 */
export async function checkChainFitness({ request, chainId, cctp, log }: Candidate): Promise<void> {
  const known = findKnownChain(chainId);
  if (known?.unfit !== undefined)
    throw new CommandError(`Florin cannot be deployed to chain ${chainId}: ${known.unfit}`);
  const codeOf = async (address: string) =>
    String((await request('eth_getCode', [address, 'latest'])) ?? '0x');
  const deployer = await codeOf(create2Deployer);
  if (deployer === '0x') {
    throw new CommandError(
      `chain ${chainId} has no CREATE2 deployer at ${create2Deployer}: have it deployed there first (github.com/Arachnid/deterministic-deployment-proxy)`,
    );
  }
  if (deployer.toLowerCase() !== create2DeployerCode) {
    throw new CommandError(
      `the code at ${create2Deployer} on chain ${chainId} is not Arachnid's CREATE2 deployer: contracts would have other addresses there`,
    );
  }
  if (!(await runsOurCode(request))) {
    throw new CommandError(
      `chain ${chainId} does not run the instructions of the contracts (PUSH0, TSTORE, TLOAD, MCOPY): it needs the rules of Ethereum's Cancun`,
    );
  }
  const block = (await request('eth_getBlockByNumber', ['latest', false])) as { gasLimit: Hex } | null;
  if (block === null || BigInt(block.gasLimit) < leastBlockGas) {
    throw new CommandError(
      `a block of chain ${chainId} holds ${BigInt(block?.gasLimit ?? 0)} gas, and the factory needs about 8,000,000: the chain is too small`,
    );
  }
  if (known !== undefined && cctp !== undefined) await checkCircle(request, chainId, cctp);
  if ((await codeOf(permit2Address)) === '0x')
    log(`chain ${chainId} has no Permit2 at ${permit2Address}: payers cannot pay by it there`);
}

async function runsOurCode(request: Candidate['request']): Promise<boolean> {
  try {
    return (await request('eth_call', [{ data: probe }, 'latest'])) === one;
  } catch {
    // A node refuses an instruction that it does not know with an error.
    return false;
  }
}

/** A route to contracts that are not Circle's, or that count chains or write messages otherwise, would burn what nothing mints. */
async function checkCircle(
  request: Candidate['request'],
  chainId: number,
  { tokenMessenger, domains }: CctpSettings,
): Promise<void> {
  const circle = Object.values(circleContracts).find(
    (each) => each.tokenMessenger.toLowerCase() === tokenMessenger.toLowerCase(),
  );
  const domain = domains.find((each) => each.chainId === chainId)?.domain;
  if (circle === undefined || domain === undefined) {
    throw new CommandError(`Circle's CCTP has no domain for chain ${chainId}: give --cctp none`);
  }
  const { messageTransmitter } = circle;
  // The tests know Circle's contracts by records of what these versions sent.
  const facts = [
    [messageTransmitter, 'localDomain()', `${domain}`],
    [messageTransmitter, 'version()', '1'],
    [tokenMessenger, 'messageBodyVersion()', '1'],
    [tokenMessenger, 'localMessageTransmitter()', messageTransmitter],
  ] as const;
  for (const [to, signature, wanted] of facts) {
    const call = { to, data: toFunctionSelector(signature) };
    const answer = await request('eth_call', [call, 'latest']).catch(() => '0x');
    const found = typeof answer === 'string' && answer.length === 66 ? BigInt(answer) : undefined;
    if (found === BigInt(wanted)) continue;
    const says =
      found === undefined ? 'nothing' : wanted.startsWith('0x') ? toHex(found, { size: 20 }) : found;
    throw new CommandError(
      `${signature} of Circle's CCTP ${to} on chain ${chainId} says ${says}, not ${wanted}: inspect the chain, or give --cctp none`,
    );
  }
}
