import { erc20Abi, paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeEventTopics, encodeFunctionData, pad } from 'viem';
import { parseLogs, toQuantity } from '#chains/rpc/actions.ts';
import { parseData } from '#chains/rpc/parse.ts';
import { type Rpc, type RpcCall, RpcError, resultOf } from '#chains/rpc/rpc.ts';
import type { StoredOrder } from '#sessions/stored-session.ts';

export function collectCall({ order, signature }: Pick<StoredOrder, 'order' | 'signature'>): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'collect', args: [order, signature] });
}

export function transferCall(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
}

/** A token at an address. */
export interface Holding {
  readonly token: Hex;
  readonly holder: Hex;
}

/** Reads that are asked for together. */
const batchSize = 100;

/** What the holders have at a block, in the given order, in units of each token. Answers that are none count as 0. */
export async function readBalances(
  rpc: Rpc,
  holdings: readonly Holding[],
  block: bigint | 'latest',
): Promise<bigint[]> {
  const amounts: bigint[] = [];
  for (let start = 0; start < holdings.length; start += batchSize) {
    const outcomes = await rpc.batch(
      holdings.slice(start, start + batchSize).map((holding) => balanceCall(holding, block)),
    );
    for (const outcome of outcomes) amounts.push(balanceIn(resultUnlessReverted(outcome)));
  }
  return amounts;
}

function resultUnlessReverted(outcome: Parameters<typeof resultOf>[0]): unknown {
  try {
    return resultOf(outcome);
  } catch (error) {
    // A token that answers no balance holds up no other one.
    if (error instanceof RpcError) return '0x';
    throw error;
  }
}

function balanceIn(result: unknown): bigint {
  const data = parseData('balance', result);
  return data.length === 66 ? BigInt(data) : 0n;
}

function balanceCall({ token, holder }: Holding, block: bigint | 'latest'): RpcCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
  const at = typeof block === 'bigint' ? toQuantity(block) : block;
  return { method: 'eth_call', params: [{ to: token, data }, at] };
}

const [transferTopic] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' });

/**
 * Holders that blocks of a range show a transfer of these tokens to, in lower case. A hint where to look, never proof:
 * a node that leaves logs out delays a deposit until its balance is read anyway.
 */
export async function readReceivers(
  rpc: Rpc,
  range: { readonly from: bigint; readonly to: bigint },
  tokens: readonly Hex[],
  holders: readonly Hex[],
): Promise<ReadonlySet<string>> {
  const filter = {
    fromBlock: toQuantity(range.from),
    toBlock: toQuantity(range.to),
    address: tokens,
    topics: [transferTopic, null, holders.map((holder) => pad(holder).toLowerCase())],
  };
  const logs = parseLogs(await rpc.request('eth_getLogs', [filter]));
  return new Set(logs.map((log) => `0x${(log.topics[2] ?? '').slice(26)}`));
}
