import { readFileSync } from 'node:fs';
import { gatewayFactoryAbi } from '@florin/protocol/contract.gen.ts';
import { circleContracts, findKnownChain, knownChains } from '@florin/protocol/known-chain.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  type Abi,
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  keccak256,
  zeroHash,
} from 'viem';
import { create2Deployer } from '#chains/shared-contract.ts';

/** Circle's side of the CCTP route. */
export interface CctpSettings {
  /** Circle's TokenMessengerV2, at one address on every chain. */
  readonly tokenMessenger: Hex;
  /** Circle's domain of each chain id. Part of the route's address: the same list on every chain. */
  readonly domains: readonly { readonly chainId: number; readonly domain: number }[];
}

/** The parts of a compiled contract that scripts/generate-contracts.ts keeps. */
export interface Artifact {
  readonly abi: Abi;
  readonly bytecode: Hex;
  readonly deployedBytecode: Hex;
  /** The positions of the constructor's values in the code, in bytes. */
  readonly immutableReferences: readonly { readonly start: number; readonly length: number }[];
}

/** A transaction without its sender. */
export interface ContractCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** A contract that is deployed by CREATE2 with salt zero. */
export interface PlannedContract {
  readonly name: string;
  /** Who runs CREATE2: Arachnid's deployer, or the factory for gateway and vault. */
  readonly creator: Hex;
  readonly address: Hex;
  readonly artifact: Artifact;
  readonly initCode: Hex;
  readonly initCodeHash: Hex;
  /** The constructor's arguments by name, as text. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** The contracts of a chain, in the order of deployment. */
export interface ContractPlan {
  readonly factory: PlannedContract;
  readonly gateway: PlannedContract;
  readonly vault: PlannedContract;
  /** Absent where there is no CCTP route. */
  readonly cctpRoute?: PlannedContract;
}

/** Circle's main network. */
export const circleMainnet = circleOf(false);

/** The CCTP of a chain's network; undefined where the chain is known and has none. */
export function circleFor(chainId: number): CctpSettings | undefined {
  const known = findKnownChain(chainId);
  if (known !== undefined && known.cctpDomain === undefined) return undefined;
  return known?.isTestnet === true ? circleOf(true) : circleMainnet;
}

function circleOf(isTestnet: boolean): CctpSettings {
  const domains = knownChains.flatMap(({ chainId, cctpDomain, isTestnet: isTest = false }) =>
    cctpDomain === undefined || isTest !== isTestnet ? [] : [{ chainId, domain: cctpDomain }],
  );
  return {
    tokenMessenger: circleContracts[isTestnet ? 'test' : 'main'].tokenMessenger,
    // Sorted, because their order is in the route's code and therefore in its address.
    domains: domains.toSorted((a, b) => a.domain - b.domain),
  };
}

/**
 * The contracts of an operator on any chain. The operator's id is the address that controls gateway and vault at first:
 * nothing else changes their addresses. The factory makes both in one transaction.
 */
export function planContracts(operatorId: Hex, cctp?: CctpSettings): ContractPlan {
  const factory = planContract('GatewayFactory', {});
  const gateway = planContract('PaymentGateway', { operatorId }, factory.address);
  const vault = planContract('PayoutVault', { operatorId }, factory.address);
  if (cctp === undefined) return { factory, gateway, vault };
  const cctpRoute = planContract('CctpRoute', {
    tokenMessenger: cctp.tokenMessenger,
    chains: cctp.domains.map(({ chainId }) => BigInt(chainId)),
    domains: cctp.domains.map(({ domain }) => domain),
    gateway: gateway.address,
  });
  return { factory, gateway, vault, cctpRoute };
}

/** The transaction that makes a contract of the plan. The factory's one makes gateway and vault. */
export function deploymentCall({ creator, initCode, parameters }: PlannedContract): ContractCall {
  if (creator === create2Deployer) return { to: create2Deployer, data: concat([zeroHash, initCode]) };
  const args = [parameters['operatorId'] as Hex] as const;
  return { to: creator, data: encodeFunctionData({ abi: gatewayFactoryAbi, functionName: 'deploy', args }) };
}

/**
 * A contract of contracts/artifacts with its constructor's arguments by name. Positional arguments could swap two
 * addresses unnoticed. Throws for a missing or extra argument.
 */
export function planContract(
  name: string,
  values: Readonly<Record<string, unknown>>,
  creator: Hex = create2Deployer,
): PlannedContract {
  const artifact = readArtifact(name);
  const found = artifact.abi.find(({ type }) => type === 'constructor');
  const inputs = found?.type === 'constructor' ? found.inputs : [];
  const names = inputs.map((input) => (input.name ?? '').replace(/_$/, ''));
  const given = Object.keys(values);
  if (names.toSorted().join() !== given.toSorted().join()) {
    throw new Error(`${name} is constructed from ${names.join(', ')}, and was given ${given.join(', ')}`);
  }
  const args = names.map((input) => values[input]);
  const initCode = encodeDeployData({ abi: artifact.abi, bytecode: artifact.bytecode, args });
  const address = getContractAddress({
    opcode: 'CREATE2',
    from: creator,
    salt: zeroHash,
    bytecode: initCode,
  });
  const parameters = Object.fromEntries(names.map((input) => [input, String(values[input])]));
  return { name, creator, address, artifact, initCode, initCodeHash: keccak256(initCode), parameters };
}

/** Whether code of a chain is a contract's, whatever values its constructor put there. */
export function isCodeOf({ deployedBytecode, immutableReferences }: Artifact, code: Hex): boolean {
  return maskImmutables(code, immutableReferences) === maskImmutables(deployedBytecode, immutableReferences);
}

/** The code with zeros in place of the constructor's values, in hex without 0x. */
export function maskImmutables(code: Hex, references: Artifact['immutableReferences']): string {
  const bytes = Buffer.from(code.slice(2), 'hex');
  for (const { start, length } of references) bytes.subarray(start, start + length).fill(0);
  return bytes.toString('hex');
}

/** Reads a file that scripts/generate-contracts.ts has written. */
export function readArtifact(name: string): Artifact {
  const url = new URL(`../../../../contracts/artifacts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Artifact;
}
