import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { type Chain, type Chains, chainsOf } from '@florin/server/operator';
import type { ChainConditions, FinalityPolicy } from '@florin/server/parts';
import { getAddress } from 'viem';
import { type CallContext, type CircleContext, type ContractState, funded } from './contract-state.ts';
import { leastReclaimAfterSeconds, type Scenario } from './scenario.ts';
import { fakePayoutSignature, modelWallet, orderSigner, payerSignature } from './signing-model.ts';

/** The merchant's wallet. */
export const merchantAddress: Hex = getAddress(`0x${'c3'.repeat(20)}`);
/** Fills vaults, and sends what has no other sender. */
export const operatorAddress: Hex = getAddress(`0x${'aa'.repeat(20)}`);

/** Long enough that no deposit address begins with it by chance. One byte would match one address in 256. */
const unlimitedPayerPrefix = `0x${'aa'.repeat(8)}`;

/** The address of a payer with enough tokens, derived from a hash. */
export function unlimitedPayerAddress(hash: Hex): Hex {
  return getAddress(`${unlimitedPayerPrefix}${hash.slice(2, 42 - unlimitedPayerPrefix.length + 2)}`);
}

function hasUnlimitedTokens(holder: string): boolean {
  return (
    holder.toLowerCase().startsWith(unlimitedPayerPrefix) ||
    holder.toLowerCase() === merchantAddress.toLowerCase()
  );
}

/** A contract that makes several calls at once for any caller. It holds enough tokens for them. */
export const batcherAddress: Hex = unlimitedPayerAddress(`0x${'ba'.repeat(32)}`);

/** More than all payments together. */
export const unlimited = 10n ** 30n;

const cctpDomains = new Map([
  [31_337n, 0],
  [31_338n, 6],
]);

function token(chainName: string, chainId: number, decimals: number): Token {
  const address = getAddress(`0x${(chainId * 100).toString(16).padStart(40, '7')}`);
  const names = { tokenId: `${chainName}::usdc`, chainName, chainId, name: 'USDC', symbol: 'USDC' };
  return { ...names, address, decimals };
}

function contractAddress(index: number, byte: string): Hex {
  return getAddress(`0x${byte.repeat(19)}0${index + 1}`);
}

/** Sessions cost 1 to 50 dollars, so half of them exceed it and need a vault. */
const limitBelowSomePrices = microUsd(25_000_000n);

/** The chains of a scenario, as the service's configuration has them. */
export function chainsFor(scenario: Scenario, finality: FinalityPolicy | undefined): Chains {
  const hasCctp = scenario.crossChainMethod !== 'vault';
  const hasVaults = scenario.crossChainMethod !== 'cctp';
  const networks = [
    ['ethereum', 31_337, 6],
    // CCTP mints exactly the units that it burnt.
    ['base', 31_338, hasCctp ? 6 : 18],
  ] as const;
  const all = networks.slice(0, scenario.chainCount).map(([name, chainId, decimals], index): Chain => {
    const usdc = token(name, chainId, decimals);
    const cctp = {
      domain: cctpDomains.get(BigInt(chainId)) ?? 0,
      transmitter: contractAddress(index, 'd4'),
      messenger: contractAddress(0, 'd5'),
      route: contractAddress(index, 'd6'),
      tokenId: usdc.tokenId,
      maxPerOrder: hasVaults ? limitBelowSomePrices : microUsd(10_000_000_000_000n),
    };
    return {
      name,
      chainId,
      rpcUrls: [],
      gateway: contractAddress(index, 'a1'),
      vault: contractAddress(index, 'b2'),
      startBlock: 1n,
      finality: finality ?? { tag: 'finalized', depth: 1, quorum: 1 },
      pollIntervalMs: scenario.pollIntervalMs,
      tokens: [usdc],
      proofs: scenario.isProven ? 'required' : 'quorum',
      ...(hasCctp ? { cctp } : {}),
    };
  });
  const chains = chainsOf(all);
  return hasVaults ? chains : { ...chains, conditions: withoutVaults };
}

/** Conditions of chains whose vaults pay nothing, so that payments cross by CCTP alone. */
const withoutVaults: ChainConditions = {
  version: () => 0,
  of: () => ({ status: 'available', reason: '', secondsToFinal: 12 }),
  payoutCap: () => microUsd(0n),
};

export function circleContextOf(chain: Chain): CircleContext | undefined {
  const { cctp } = chain;
  const [first] = chain.tokens;
  if (cctp === undefined || first === undefined) return undefined;
  const { domain, transmitter, messenger, route } = cctp;
  return {
    domain,
    transmitter,
    messenger,
    route,
    token: first.address,
    domains: cctpDomains,
    burnLimit: unlimited,
  };
}

/** Roles on a chain of the simulation, and the accepted signers. */
export function callContextOf(
  chain: Chain,
  { isVaultFeeRecipient }: Pick<Scenario, 'isVaultFeeRecipient'>,
  isIdempotent: boolean,
): Omit<CallContext, 'timeSeconds'> {
  const { chainId, gateway, vault } = chain;
  return {
    chainId,
    gateway,
    vault,
    orderSigner: orderSigner.address,
    settler: modelWallet.address,
    otherSettlers: [],
    admin: operatorAddress,
    guardian: operatorAddress,
    feeRecipient: isVaultFeeRecipient ? vault : `0x${'fe'.repeat(20)}`,
    batcher: batcherAddress,
    tokens: chain.tokens.map(({ address }) => address),
    circle: circleContextOf(chain),
    // Histories last minutes.
    leastSecondsToSettle: leastReclaimAfterSeconds,
    settlersOnlySeconds: 6,
    isIdempotent,
    hasUnlimitedTokens,
    isOrderSigned: (_orderId, order, signature) =>
      signature === orderSigner.expectedSignature(chainId, gateway, order),
    isPayoutSigned: (payout, signature) => signature === fakePayoutSignature(payout),
    isConsentSigned: ({ method, orderId, order, nonce, signature }) =>
      signature === payerSignature(chain, method, { orderId, order }, nonce),
  };
}

/** The address at which the scenario's merchant receives money. */
export function accountAddressOf(
  { all: [chain] }: Chains,
  { accountContract }: Pick<Scenario, 'accountContract'>,
): Hex {
  if (accountContract === undefined || chain === undefined) return merchantAddress;
  const [token] = chain.tokens;
  return accountContract === 'token' ? (token?.address ?? merchantAddress) : chain[accountContract];
}

/** The initial balance of the service's wallet, from which it adds to short deposits: two dollars. */
export function initialWalletBalance({ decimals }: Token): bigint {
  return 2n * 10n ** BigInt(decimals);
}

/** The balances of a chain's contracts at the start of a history. */
export function initialContractState(
  chain: Chain,
  scenario: Scenario,
): (state: ContractState) => ContractState {
  const vaultFloat = scenario.isVaultEmpty ? 0n : unlimited;
  const caps = new Map(
    chain.tokens.map(({ address }) => [
      address.toLowerCase(),
      { perOrder: unlimited, hourly: unlimited, daily: unlimited },
    ]),
  );
  return (empty) => {
    let state: ContractState = { ...empty, caps };
    for (const token of chain.tokens) {
      state = funded(state, chain.vault, token.address, vaultFloat);
      state = funded(state, modelWallet.address, token.address, initialWalletBalance(token));
    }
    return state;
  };
}
