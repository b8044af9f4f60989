import { erc20Abi, paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  http,
  isAddressEqual,
  type PublicClient,
} from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { Chain, Chains } from '#chains/chain.ts';
import type { Clock } from '#outside/clock.ts';
import type { Log } from '#telemetry/log.ts';
import { ConfigError } from './config-field.ts';

/** How long one request to a chain may take at the start. */
const requestTimeoutMs = 5_000;
/** How long a chain may stay unreachable before the start is given up. */
const patienceMs = 30_000;
const pauseMs = 1_000;

export interface ChainCheckOptions {
  readonly chains: Chains;
  readonly orderKey: Hex;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Compares the configuration with what the chains say: chain ids, contracts, tokens, the order signer's right. Waits up
 * to 30 s for a chain that does not answer. Throws a ConfigError with the first difference, so that the service never
 * sells anything through a contract or token that is not the one meant.
 */
export async function checkChains(options: ChainCheckOptions): Promise<void> {
  const orderSigner = privateKeyToAddress(options.orderKey);
  await Promise.all(options.chains.all.map((chain) => checkChain(options, chain, orderSigner)));
}

async function checkChain(options: ChainCheckOptions, chain: Chain, orderSigner: Hex): Promise<void> {
  const { clock, log } = options;
  const deadline = clock.monotonicMs() + patienceMs;
  for (;;) {
    try {
      const [problem] = await findChainProblems(chain, orderSigner);
      if (problem !== undefined) throw new ConfigError(problem);
      return;
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error;
      if (clock.monotonicMs() >= deadline) throw new ConfigError(error.message);
      log.warn('start.chain_unreachable', { chain: chain.name });
      await clock.sleep(pauseMs);
    }
  }
}

/** No endpoint of the chain gave an answer; trying again may help. */
export class ChainUnreachable extends Error {
  override readonly name = 'ChainUnreachable';
}

/** Opens one endpoint of a chain for a handful of reads: no retries, no batches. */
export function openEndpoint(url: string): PublicClient {
  return createPublicClient({ transport: http(url, { timeout: requestTimeoutMs, retryCount: 0 }) });
}

/** An endpoint as people may see it: paths and queries of RPC URLs often are access keys. */
export function endpointName(url: string): string {
  return new URL(url).host;
}

/**
 * Everything in which a chain differs from its configuration, a sentence each; empty when all is well. Throws
 * ChainUnreachable when no endpoint answers.
 */
export async function findChainProblems(chain: Chain, orderSigner: Hex): Promise<string[]> {
  const endpoints = await Promise.all(
    chain.rpcUrls.map(async (url) => {
      const client = openEndpoint(url);
      // An endpoint that does not answer is the business of the others; that none does is told below.
      const chainId = await client.getChainId().catch(() => undefined);
      return { url, client, chainId };
    }),
  );
  const reachable = endpoints.filter((endpoint) => endpoint.chainId !== undefined);
  const strays = reachable.filter((endpoint) => endpoint.chainId !== chain.chainId);
  if (strays.length > 0) {
    return strays.map(
      ({ url, chainId }) =>
        `chain ${chain.name}: ${endpointName(url)} serves chain ${chainId}, the configuration says ${chain.chainId}: correct rpcUrls or chainId`,
    );
  }
  const [first] = reachable;
  if (first === undefined) throw unreachable(chain);
  const groups = await Promise.all([
    gatewayProblems(first.client, chain, orderSigner),
    vaultProblems(first.client, chain),
    ...chain.tokens.map((token) => tokenProblems(first.client, token)),
  ]);
  return groups.flat();
}

function unreachable(chain: Chain): ChainUnreachable {
  const names = chain.rpcUrls.map(endpointName).join(', ');
  return new ChainUnreachable(
    `chain ${chain.name}: no RPC endpoint answers (tried ${names}): correct rpcUrls or the network`,
  );
}

/** Runs a read. Undefined: the contract there does not know this function. No answer at all: ChainUnreachable. */
async function read<T>(work: Promise<T>, chainName: string): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const isRefused =
      error instanceof BaseError &&
      error.walk(
        (cause) =>
          cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError,
      ) !== null;
    if (isRefused) return undefined;
    const reason = error instanceof BaseError ? error.shortMessage : String(error);
    throw new ChainUnreachable(`chain ${chainName}: a read failed: ${reason.split('\n', 1)[0]}`);
  }
}

async function hasCode(client: PublicClient, address: Hex, chainName: string): Promise<boolean> {
  const code = await read(client.getCode({ address }), chainName);
  return code !== undefined && code !== '0x';
}

async function gatewayProblems(client: PublicClient, chain: Chain, orderSigner: Hex): Promise<string[]> {
  const { name, gateway } = chain;
  if (!(await hasCode(client, gateway, name))) {
    return [
      `chain ${name}: there is no contract at the gateway's address ${gateway}: deploy it, or correct gateway`,
    ];
  }
  const contract = { address: gateway, abi: paymentGatewayAbi } as const;
  const vault = await read(client.readContract({ ...contract, functionName: 'vault' }), name);
  if (vault === undefined) {
    return [`chain ${name}: the contract at ${gateway} is no Florin gateway: correct gateway`];
  }
  const problems: string[] = [];
  if (!isAddressEqual(vault, chain.vault)) {
    problems.push(
      `chain ${name}: the gateway's vault is ${vault}, the configuration says ${chain.vault}: correct vault or gateway`,
    );
  }
  const isRegistered = await read(
    client.readContract({ ...contract, functionName: 'isOrderSigner', args: [orderSigner] }),
    name,
  );
  if (isRegistered !== true) {
    problems.push(
      `chain ${name}: the gateway ${gateway} does not know the order signer ${orderSigner}: register it there (setOrderSigner), or configure the key that is`,
    );
  }
  return problems;
}

async function vaultProblems(client: PublicClient, chain: Chain): Promise<string[]> {
  if (await hasCode(client, chain.vault, chain.name)) return [];
  return [
    `chain ${chain.name}: there is no contract at the vault's address ${chain.vault}: deploy it, or correct vault`,
  ];
}

async function tokenProblems(client: PublicClient, token: Token): Promise<string[]> {
  const { address, chainName, tokenId } = token;
  if (!(await hasCode(client, address, chainName))) {
    return [`${tokenId}: there is no contract at ${address} on chain ${chainName}: correct its address`];
  }
  const contract = { address, abi: erc20Abi } as const;
  const [decimals, symbol] = await Promise.all([
    read(client.readContract({ ...contract, functionName: 'decimals' }), chainName),
    read(client.readContract({ ...contract, functionName: 'symbol' }), chainName),
  ]);
  const differences = [
    ['decimals', decimals, token.decimals],
    ['symbol', symbol, token.symbol],
  ] as const;
  return differences
    .filter(([, onChain, configured]) => onChain !== configured)
    .map(
      ([field, onChain, configured]) =>
        `${tokenId}: the contract at ${address} ${onChain === undefined ? `has no ${field}` : `says ${field} ${onChain}`}, the configuration says ${configured}: correct its address or ${field}`,
    );
}
