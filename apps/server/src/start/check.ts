import {
  countProviders,
  getCode,
  type HttpRpc,
  type Rpc,
  RpcError,
  RpcUnavailable,
  readContract,
  unprovenPart,
} from '@florin/evm';
import { openDatabase } from '@florin/pg';
import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { parseAbi, zeroAddress } from 'viem';
import type { Chain, Chains } from '#chains/chain.ts';
import { ConfigError } from '#config/setting.ts';
import { isAcceptedBuild } from '#contracts/accepted-build.ts';
import { readTokenSigning, signingProblem } from '#contracts/token-signing.ts';
import { schema } from '#db/schema.ts';
import { findScopeProblems } from '#db/scope-check.ts';

/**
 * Checks that the database separates merchants, with a connection like the service's own. Throws a ConfigError with the
 * first problem. The schema must be current.
 */
export async function checkDatabase(url: string): Promise<void> {
  const db = openDatabase({ schema, url, connections: 1 });
  try {
    const [problem] = await findScopeProblems(db);
    if (problem !== undefined) throw new ConfigError(problem);
  } finally {
    await db.close();
  }
}

/** The service's own wallets. The contracts must know their roles. */
export interface ServiceWallets {
  readonly orderSigner: Hex;
  readonly settler: Hex;
  /** The sender's other wallets; none when absent. */
  readonly otherSettlers?: readonly Hex[];
}

/** Providers that must agree on a payment that another chain's vault pays out. */
const leastQuorum = 2;

/**
 * Why another chain's vault must not pay out a chain's payments; undefined when it may, or there is no other chain.
 * Vault money is the operator's own, and the only trusted node could forge payments. CCTP mints are exempt: Circle
 * attests the burn, so a lie costs only the gas of a refused call.
 */
export function singleProviderProblem(
  { name, rpcUrls, finality }: Chain,
  { all }: Pick<Chains, 'all'>,
): string | undefined {
  const { quorum } = finality;
  const isShared = quorum >= leastQuorum && countProviders(rpcUrls) >= leastQuorum;
  if (isShared || all.length === 1) return undefined;
  return (
    `chain ${name}: vaults on other chains would pay out on the word of one provider: give rpcUrls nodes of two providers ` +
    '(hosts of different domains), and omit finality.quorum or set it to 2'
  );
}

/** No node of the chain gave a usable answer. A retry may help. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable';
}

/**
 * All differences between a chain and its configuration, one sentence each; empty when there are none. Throws
 * ChainUnreachable when no node answers.
 */
export async function findChainProblems(
  rpc: HttpRpc,
  chain: Chain,
  wallets: ServiceWallets,
): Promise<string[]> {
  const nodes = await rpc.verifyChainId();
  const strays = nodes.filter(({ state }) => state === 'wrong_chain');
  if (strays.length > 0) {
    return strays.map(
      ({ node }) =>
        `chain ${chain.name}: the node ${node} is not of chain ${chain.chainId}: correct rpcUrls or chainId`,
    );
  }
  const names = nodes.map(({ node }) => node).join(', ');
  const silence = `chain ${chain.name}: no node gives a valid answer (tried ${names}): correct rpcUrls or start the node`;
  if (!nodes.some(({ state }) => state === 'verified')) throw new ChainUnreachable(silence);
  try {
    const groups = await Promise.all([
      proofProblems(rpc, chain),
      gatewayProblems(rpc, chain, wallets),
      vaultProblems(rpc, chain, wallets),
      cctpProblems(rpc, chain),
      previousProblems(rpc, chain),
      ...chain.tokens.map((token) => tokenProblems(rpc, token)),
    ]);
    return groups.flat();
  } catch (error) {
    // A node that is still starting may also answer with its own errors.
    if (!(error instanceof RpcUnavailable || error instanceof RpcError)) throw error;
    throw new ChainUnreachable(silence, { cause: error });
  }
}

async function proofProblems(rpc: Rpc, chain: Chain): Promise<string[]> {
  if (chain.proofs !== 'required') return [];
  const unproven = await unprovenPart(rpc);
  if (unproven === undefined) return [];
  const what =
    unproven === 'headers'
      ? 'the headers that this node reports do not match their block hashes'
      : 'the receipts that this node reports do not match the root in their block';
  return [
    `chain ${chain.name}: ${what}: use a node that reports all fields, or set proofs to quorum if the chain has its own format`,
  ];
}

async function hasCode(rpc: Rpc, address: Hex): Promise<boolean> {
  return (await getCode(rpc, address)) !== '0x';
}

async function gatewayProblems(rpc: Rpc, chain: Chain, wallets: ServiceWallets): Promise<string[]> {
  const { name, gateway } = chain;
  const { orderSigner, settler, otherSettlers = [] } = wallets;
  const code = await getCode(rpc, gateway);
  if (code === '0x') {
    return [
      `chain ${name}: there is no contract at the gateway's address ${gateway}: deploy it, or correct gateway`,
    ];
  }
  const abi = paymentGatewayAbi;
  const [feeRecipient, isSigner, isSettler] = await Promise.all([
    readContract(rpc, gateway, { abi, functionName: 'feeRecipient' }),
    readContract(rpc, gateway, { abi, functionName: 'isSigner', args: [orderSigner] }),
    readContract(rpc, gateway, { abi, functionName: 'isSettler', args: [settler] }),
  ]);
  if (feeRecipient === undefined || isSigner === undefined || isSettler === undefined) {
    return [`chain ${name}: the contract at ${gateway} is no Florin gateway: correct gateway`];
  }
  if (!isAcceptedBuild('PaymentGateway', code)) return [foreignCode(name, `gateway ${gateway}`)];
  const problems: string[] = [];
  if (feeRecipient === zeroAddress) {
    problems.push(
      `chain ${name}: the gateway ${gateway} has no fee recipient: its controller must set it up (florin deploy)`,
    );
  }
  const missing = missingRole(name, `gateway ${gateway}`);
  if (!isSigner) problems.push(missing('order signer', orderSigner, 'setSigner'));
  if (!isSettler) problems.push(missing('settler', settler, 'setSettler'));
  const strangers = await withoutRole(otherSettlers, (account) =>
    readContract(rpc, gateway, { abi, functionName: 'isSettler', args: [account] }),
  );
  for (const other of strangers) problems.push(missing('settler', other, 'setSettler'));
  return problems;
}

/** The accounts without the role, according to the contract. */
async function withoutRole(
  accounts: readonly Hex[],
  hasRole: (account: Hex) => Promise<boolean | undefined>,
): Promise<readonly Hex[]> {
  const answers = await Promise.all(accounts.map(hasRole));
  return accounts.filter((_, index) => answers[index] !== true);
}

async function vaultProblems(rpc: Rpc, chain: Chain, wallets: ServiceWallets): Promise<string[]> {
  const { name, vault } = chain;
  const { orderSigner, settler, otherSettlers = [] } = wallets;
  const code = await getCode(rpc, vault);
  if (code === '0x') {
    return [
      `chain ${name}: there is no contract at the vault's address ${vault}: deploy it, or correct vault`,
    ];
  }
  const abi = payoutVaultAbi;
  const [isSigner, isSettler] = await Promise.all([
    readContract(rpc, vault, { abi, functionName: 'isSigner', args: [orderSigner] }),
    readContract(rpc, vault, { abi, functionName: 'isSettler', args: [settler] }),
  ]);
  if (isSigner === undefined || isSettler === undefined) {
    return [`chain ${name}: the contract at ${vault} is no Florin vault: correct vault`];
  }
  if (!isAcceptedBuild('PayoutVault', code)) return [foreignCode(name, `vault ${vault}`)];
  const problems: string[] = [];
  const missing = missingRole(name, `vault ${vault}`);
  if (!isSigner) problems.push(missing('order signer', orderSigner, 'setSigner'));
  if (!isSettler) problems.push(missing('settler', settler, 'setSettler'));
  const strangers = await withoutRole(otherSettlers, (account) =>
    readContract(rpc, vault, { abi, functionName: 'isSettler', args: [account] }),
  );
  for (const other of strangers) problems.push(missing('settler', other, 'setSettler'));
  return problems;
}

const routeAbi = parseAbi([
  'function gateway() view returns (address)',
  'function tokenMessenger() view returns (address)',
  'function domainOf(uint64 chain) view returns (uint32)',
]);
const transmitterAbi = parseAbi(['function localDomain() view returns (uint32)']);

/** An order burnt through the wrong CCTP contract would be minted to no recipient. */
async function cctpProblems(rpc: Rpc, chain: Chain): Promise<string[]> {
  const { name, gateway, cctp } = chain;
  if (cctp === undefined) return [];
  const [owner, messenger, domain] = await Promise.all([
    readContract(rpc, cctp.route, { abi: routeAbi, functionName: 'gateway' }),
    readContract(rpc, cctp.route, { abi: routeAbi, functionName: 'tokenMessenger' }),
    readContract(rpc, cctp.transmitter, { abi: transmitterAbi, functionName: 'localDomain' }),
  ]);
  const compared = [
    ["the route's gateway", 'gateway or cctp.route', owner, gateway],
    ["the route's messenger", 'cctp.messenger', messenger, cctp.messenger],
    ["the transmitter's domain", 'cctp.domain or cctp.transmitter', domain, cctp.domain],
  ] as const;
  const problems = compared
    .filter(([, , onChain, meant]) => String(onChain).toLowerCase() !== String(meant).toLowerCase())
    .map(
      ([what, field, onChain, meant]) =>
        `chain ${name}: ${what} is ${onChain ?? 'missing'}, the configuration says ${meant}: correct ${field}`,
    );
  if (problems.length > 0 || isAcceptedBuild('CctpRoute', await getCode(rpc, cctp.route))) return problems;
  return [foreignCode(name, `route ${cctp.route}`)];
}

/** Open orders of a previous gateway are settled there, so its code has to be ours too. */
async function previousProblems(rpc: Rpc, { name, previousContracts = [] }: Chain): Promise<string[]> {
  const contracts = previousContracts.flatMap(({ gateway, vault, cctpRoute }) => [
    { build: 'PaymentGateway', what: `previous gateway ${gateway}`, address: gateway } as const,
    { build: 'PayoutVault', what: `previous vault ${vault}`, address: vault } as const,
    ...(cctpRoute === undefined
      ? []
      : [{ build: 'CctpRoute', what: `previous route ${cctpRoute}`, address: cctpRoute } as const]),
  ]);
  const codes = await Promise.all(contracts.map(({ address }) => getCode(rpc, address)));
  return contracts
    .filter(({ build }, index) => !isAcceptedBuild(build, codes[index] ?? '0x'))
    .map(({ what }) => foreignCode(name, what));
}

/** A contract that answers as ours does could still do anything with the money. */
function foreignCode(chainName: string, contract: string): string {
  return `chain ${chainName}: the code of the ${contract} is not that of this release or an earlier one that it serves: configure what florin deploy has deployed`;
}

/** Builds the message that a contract does not know a wallet in its role. */
function missingRole(chainName: string, contract: string) {
  return (role: string, wallet: Hex, setter: string) =>
    `chain ${chainName}: the ${contract} does not know the ${role} ${wallet}: register it there (${setter}), or configure the registered key`;
}

async function tokenProblems(rpc: Rpc, token: Token): Promise<string[]> {
  const { address, chainName, tokenId } = token;
  if (!(await hasCode(rpc, address))) {
    return [`${tokenId}: there is no contract at ${address} on chain ${chainName}: correct its address`];
  }
  const [decimals, symbol] = await Promise.all([
    readContract(rpc, address, { abi: erc20Abi, functionName: 'decimals' }),
    readContract(rpc, address, { abi: erc20Abi, functionName: 'symbol' }),
  ]);
  const differences = [
    ['decimals', decimals, token.decimals],
    ['symbol', symbol, token.symbol],
  ] as const;
  const signing =
    token.permits === undefined ? undefined : signingProblem(token, await readTokenSigning(rpc, token));
  const problems = differences
    .filter(([, onChain, configured]) => onChain !== configured)
    .map(
      ([field, onChain, configured]) =>
        `${tokenId}: the contract at ${address} ${onChain === undefined ? `has no ${field}` : `says ${field} ${onChain}`}, the configuration says ${configured}: correct its address or ${field}`,
    );
  return signing === undefined ? problems : [...problems, signing];
}
