import type { FinalityRule, FollowedChain } from '@florin/evm';
import type { MicroUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { getContractAddress, zeroAddress } from 'viem';
import { create2Deployer, permit2Address } from './shared-contract.ts';

/** When a block of a chain counts as final, and how long that takes. */
export interface FinalityPolicy extends FinalityRule {
  /** The usual seconds to finality, shown to payers until a measurement exists; absent: the default of the chain. */
  readonly expectedSeconds?: number | undefined;
}

/** A gateway and a vault that have been replaced in the configuration. */
export interface PreviousContracts {
  readonly gateway: Hex;
  readonly vault: Hex;
  /** The gateway's CCTP route; absent when it had none. */
  readonly cctpRoute?: Hex | undefined;
}

/** Circle's CCTP v2 on one chain, and our route into it. */
export interface CctpContracts {
  /** Circle's number of the chain. */
  readonly domain: number;
  readonly transmitter: Hex;
  readonly messenger: Hex;
  /** The gateway's CctpRoute contract. */
  readonly route: Hex;
  /** The one token that is burnt and minted, such as `base::usdc`. */
  readonly tokenId: string;
  /** The most that one order may send from here: no more than Circle burns at once. */
  readonly maxPerOrder: MicroUsd;
}

/** The contracts whose burns count for our orders. Addresses in lower case. */
export interface MintSource {
  readonly domain: number;
  readonly messenger: string;
  /** The source chain's routes, the previous ones included. */
  readonly routes: readonly string[];
}

/** The gateways and vaults of a chain. */
export interface ContractAddresses {
  readonly gateway: Hex;
  readonly vault: Hex;
  /** Replaced contracts, newest first: open orders still use them. */
  readonly previousContracts?: readonly PreviousContracts[] | undefined;
}

/** One configured EVM chain. */
export interface Chain extends FollowedChain, ContractAddresses {
  /** Lower-case name, the first half of its token ids. */
  readonly name: string;
  readonly rpcUrls: readonly string[];
  /** WebSocket addresses of nodes that announce new blocks. */
  readonly wsUrls?: readonly string[] | undefined;
  /** Circle's CCTP on this chain; absent: the service neither burns nor mints here. */
  readonly cctp?: CctpContracts | undefined;
  /** The sources on other chains whose burns may be minted here, from the other chains' `cctp`. */
  readonly mintSources?: readonly MintSource[];
  readonly finality: FinalityPolicy;
  readonly tokens: readonly Token[];
}

/** The present state of a chain, for payers and merchants. */
export interface ChainCondition {
  /** delayed: payments are accepted and take longer. unavailable: new payments are refused. */
  readonly status: 'available' | 'delayed' | 'unavailable';
  /** Empty while available. */
  readonly reason:
    | ''
    | 'chain_halted'
    | 'chain_lagging'
    | 'chain_not_followed'
    | 'chain_unreachable'
    | 'chain_unverified';
  /** Seconds from a transaction until it is final: measured over the last minutes, or the default. */
  readonly secondsToFinal: number;
}

/** The present states of the chains. Kept in memory, so a read costs nothing. */
export interface ChainConditions {
  /** Grows with every change of any answer. */
  version(): number;
  of(chainId: number): ChainCondition;
  /** The most that the vault of the token's chain pays in it for one order, in Micro-USD; 0 while unknown. */
  payoutCap(tokenId: string): MicroUsd;
  /** The amount that the vault could pay in it now, in Micro-USD; absent where no process reads it. */
  payoutLiquidity?(tokenId: string): MicroUsd;
  /** When the vault last said what it may pay in the token; undefined before its first answer. */
  vaultReadAt?(tokenId: string): Date | undefined;
  /** Whether the operator takes no new orders in the token; absent where no process reads it. */
  isStopped?(tokenId: string): boolean;
  /** Whether the issuer has paused the token, as it last said; absent where no process reads it. */
  isPaused?(tokenId: string): boolean;
}

/** The configured chains and tokens, looked up by every key that the service uses. */
export interface Chains {
  readonly all: readonly Chain[];
  byId(chainId: number): Chain | undefined;
  byName(name: string): Chain | undefined;
  /** By `<chain>::<token>`. */
  token(tokenId: string): Token | undefined;
  /** By chain and contract address, in any letter case. */
  tokenAt(chainId: number, address: string): Token | undefined;
  readonly tokens: readonly Token[];
  /**
   * The contract of the installation at an address, in any letter case, on any chain: `the vault of base`. Undefined
   * for every other address. Deposit addresses are not included (`merchants/own-address.ts`).
   */
  contractAt(address: string): string | undefined;
  /** Absent where no process watches the chains. Every chain then counts as available, and vaults have no limit. */
  readonly conditions?: ChainConditions;
}

/** Indexes the configured chains. The configuration has already refused duplicates. */
export function chainsOf(given: readonly Chain[]): Chains {
  const all = given.map((chain) => withMintSources(chain, given));
  const tokens = all.flatMap((chain) => chain.tokens);
  const ids = new Map(all.map((chain) => [chain.chainId, chain]));
  const names = new Map(all.map((chain) => [chain.name, chain]));
  const tokenIds = new Map(tokens.map((token) => [token.tokenId, token]));
  const addresses = new Map(
    tokens.map((token) => [`${token.chainId}:${token.address.toLowerCase()}`, token]),
  );
  const contracts = ownContracts(all);
  return {
    all,
    tokens,
    contractAt: (address) => contracts.get(address.toLowerCase()),
    byId: (chainId) => ids.get(chainId),
    byName: (name) => names.get(name),
    token: (tokenId) => tokenIds.get(tokenId),
    tokenAt: (chainId, address) => addresses.get(`${chainId}:${address.toLowerCase()}`),
  };
}

/**
 * Why money sent to an address, in any letter case, would be lost, in words; undefined where it has an owner. Tokens
 * refuse transfers to the zero address, so the contracts could neither collect nor return such an order. Deposit
 * addresses are not included (`merchants/own-address.ts`). One list for settlement wallets and for payers, to whom refunds go.
 */
export function ownerlessAt(chains: Pick<Chains, 'contractAt'>, address: string): string | undefined {
  const lower = address.toLowerCase();
  if (lower === zeroAddress) return 'the zero address';
  if (BigInt(lower) < leastHeld) return 'an address without a key, such as 0x…dEaD or a precompile';
  const shared = sharedContracts.get(lower);
  if (shared !== undefined) return shared;
  const contract = chains.contractAt(address);
  return contract === undefined ? undefined : `${contract}, a contract of this installation`;
}

/** Below are precompiles and addresses to burn tokens at. A key's own address is this small once in 2^128 keys. */
const leastHeld = 2n ** 32n;

/** Contracts at the same address on most chains. Tokens there are lost, or for anyone to take. In lower case. */
const sharedContracts: ReadonlyMap<string, string> = new Map([
  [permit2Address.toLowerCase(), 'Permit2, a contract that all share'],
  ['0xca11bde05977b3631167028862be2a173976ca11', 'Multicall3, a contract that all share'],
  [create2Deployer.toLowerCase(), 'the CREATE2 deployer, a contract that all share'],
  ['0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee', 'the sign for a chain’s own coin, an address without a key'],
]);

/** All contracts of the installation, in words, by address in lower case: see `Chains.contractAt`. */
export function ownContracts(all: readonly Chain[]): ReadonlyMap<string, string> {
  return new Map(all.toReversed().flatMap(ownContractsOn));
}

/** If several contracts share one address, the last one counts. */
function ownContractsOn(chain: Chain): readonly (readonly [string, string])[] {
  const { name, cctp, previousContracts = [] } = chain;
  const named: (readonly [Hex | undefined, string])[] = [
    ...contractsOf(chain).gateways.map(
      (gateway) =>
        [receiverImplementationOf(gateway), `the deposit receiver of a gateway of ${name}`] as const,
    ),
    [cctp?.messenger, `the CCTP messenger of ${name}`],
    [cctp?.transmitter, `the CCTP transmitter of ${name}`],
    ...chain.tokens.map(({ address, tokenId }) => [address, `the token ${tokenId}`] as const),
    ...previousContracts.flatMap(({ gateway, vault, cctpRoute }) => [
      [cctpRoute, `a previous CCTP route of ${name}`] as const,
      [vault, `a previous vault of ${name}`] as const,
      [gateway, `a previous gateway of ${name}`] as const,
    ]),
    [cctp?.route, `the CCTP route of ${name}`],
    [chain.vault, `the vault of ${name}`],
    [chain.gateway, `the gateway of ${name}`],
  ];
  return named.flatMap(([address, what]) => (address === undefined ? [] : [[address.toLowerCase(), what]]));
}

/** The code behind a gateway's deposit addresses: the first contract that its constructor creates (EIP-161). */
export function receiverImplementationOf(gateway: Hex): Hex {
  return getContractAddress({ from: gateway, nonce: 1n });
}

function withMintSources(chain: Chain, all: readonly Chain[]): Chain {
  if (chain.cctp === undefined) return chain;
  const mintSources = all.flatMap((source): MintSource[] => {
    if (source.cctp === undefined || source.chainId === chain.chainId) return [];
    const { domain, messenger } = source.cctp;
    const routes = cctpRoutesOf(source).map((address) => address.toLowerCase());
    return [{ domain, messenger: messenger.toLowerCase(), routes }];
  });
  return { ...chain, mintSources };
}

/** Every gateway and vault of a chain whose events count, each once, the configured ones first. */
export function contractsOf(chain: ContractAddresses): {
  readonly gateways: readonly Hex[];
  readonly vaults: readonly Hex[];
} {
  const previous = chain.previousContracts ?? [];
  return {
    gateways: [...new Set([chain.gateway, ...previous.map(({ gateway }) => gateway)])],
    vaults: [...new Set([chain.vault, ...previous.map(({ vault }) => vault)])],
  };
}

/** Every CCTP route of a chain, the configured one first. Empty without CCTP. */
export function cctpRoutesOf({
  cctp,
  previousContracts = [],
}: Pick<Chain, 'cctp' | 'previousContracts'>): readonly Hex[] {
  return [cctp?.route, ...previousContracts.map(({ cctpRoute }) => cctpRoute)].flatMap(
    (route) => route ?? [],
  );
}

/** Whether an address is a vault of the chain, configured or previous: money that arrives there is float. */
export function isVault(chain: ContractAddresses, address: string | undefined): boolean {
  return address !== undefined && isAmong(contractsOf(chain).vaults, address);
}

/** Whether an address is one of these, in any letter case. */
export function isAmong(addresses: readonly Hex[], address: string): boolean {
  return addresses.some((known) => known.toLowerCase() === address.toLowerCase());
}

/** A finality policy in words for callers: `finalized`, or `finalized, 16 blocks deep, 2 nodes agree`. */
export function finalityText({ tag, depth, quorum }: FinalityPolicy): string {
  const parts = [
    ...(tag === 'latest' && depth > 0 ? [] : [tag]),
    ...(depth > 0 ? [`${depth} block${depth === 1 ? '' : 's'} deep`] : []),
    ...(quorum > 1 ? [`${quorum} nodes agree`] : []),
  ];
  return parts.join(', ');
}
