import { type NodeAnswer, pollNodes, type Rpc, type RpcCall, RpcUnavailable, wordsIn } from '@florin/evm';
import { erc20Abi, paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeFunctionData } from 'viem';
import { type Chain, contractsOf } from '#chains/chain.ts';

/**
 * The holder of a balance: all gateways of a chain, all its vaults, or the fees that settled orders left in the
 * gateways.
 */
export type Holder = 'gateway' | 'vault' | 'fees';

/** One balance that both books and chain have, in the token's own units. */
export interface Balance {
  readonly holder: Holder;
  /** A tokenId. */
  readonly asset: string;
  readonly amount: bigint;
}

interface Question {
  readonly holder: Holder;
  readonly asset: string;
  readonly call: RpcCall;
}

function questionsOf(chain: Chain, blockHash: Hex): readonly Question[] {
  const { gateways, vaults } = contractsOf(chain);
  return chain.tokens.flatMap(({ tokenId: asset, address }) => {
    const ask = (holder: Holder, to: Hex, data: Hex): Question => ({
      holder,
      asset,
      // By hash (EIP-1898): after a reorg the height alone could mean another block.
      call: { method: 'eth_call', params: [{ to, data }, { blockHash }] },
    });
    const balanceOf = (owner: Hex) =>
      encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [owner] });
    const fees = encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'accruedFees', args: [address] });
    return [
      ...gateways.map((gateway) => ask('gateway', address, balanceOf(gateway))),
      ...vaults.map((vault) => ask('vault', address, balanceOf(vault))),
      ...gateways.map((gateway) => ask('fees', gateway, fees)),
    ];
  });
}

/** The words of a node's answer; undefined when one is missing. */
function wordsOf(answer: NodeAnswer, count: number): readonly Hex[] | undefined {
  const words = wordsIn(answer.outcomes);
  return words.length === count ? words : undefined;
}

/**
 * The balances of our contracts on a chain at one block. Asks every node that knows the block, and all must agree.
 * Throws `RpcUnavailable` when none answers, or two differ.
 */
export async function readContractBalances(
  rpc: Rpc,
  chain: Chain,
  blockHash: Hex,
): Promise<readonly Balance[]> {
  const questions = questionsOf(chain, blockHash);
  if (questions.length === 0) return [];
  const answers = await pollNodes(
    rpc,
    questions.map(({ call }) => call),
  );
  const told = answers.flatMap((answer) => {
    const words = wordsOf(answer, questions.length);
    return words === undefined ? [] : [words];
  });
  const [words] = told;
  if (words === undefined) throw new RpcUnavailable(`no node tells the balances at block ${blockHash}`);
  const textOf = (all: readonly Hex[]) => all.join().toLowerCase();
  if (told.some((other) => textOf(other) !== textOf(words)))
    throw new RpcUnavailable(`the nodes differ about the balances at block ${blockHash}`);
  const sums = new Map<string, Balance>();
  for (const [index, { holder, asset }] of questions.entries()) {
    const key = `${holder} ${asset}`;
    const amount = (sums.get(key)?.amount ?? 0n) + BigInt(words[index] ?? '0x');
    sums.set(key, { holder, asset, amount });
  }
  return [...sums.values()];
}
