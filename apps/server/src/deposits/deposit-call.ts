import {
  calls,
  parseData,
  parseHeader,
  parseLogs,
  type Rpc,
  RpcAnswerInvalid,
  type RpcCall,
  RpcError,
  resultOf,
  toQuantity,
} from '@florin/evm';
import { erc20Abi, paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeEventTopics, encodeFunctionData, pad } from 'viem';
import type { StoredOrder } from '#orders/stored-order.ts';

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

/** What blocks of a range show of transfers, as one node has them. */
interface ShownTransfers {
  /** Lower case, each once. */
  readonly receivers: readonly string[];
  /** Of the last block. */
  readonly lastHash: Hex;
}

/**
 * Where transfers of these tokens went in a range of blocks: those to the named addresses, or all of them where none are
 * named. A hint where to look, never proof: a node that leaves logs out delays a deposit until its balance is read anyway.
 * Refuses the answer of a node that does not have the last block: it would show nothing of it.
 */
export async function readTransfers(
  rpc: Rpc,
  range: { readonly from: bigint; readonly to: bigint; readonly names: readonly Hex[] | undefined },
  tokens: readonly Hex[],
): Promise<ShownTransfers> {
  const { from, to, names } = range;
  const named = names === undefined ? [] : [null, names.map((name) => pad(name).toLowerCase())];
  const filter = {
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
    address: tokens,
    topics: [transferTopic, ...named],
  };
  const outcomes = await rpc.batch([calls.block(to), { method: 'eth_getLogs', params: [filter] }]);
  const last = parseHeader(resultOf(outcomes[0]));
  if (last?.number !== to) {
    const reason = `a node that lacks block ${to}`;
    rpc.demote?.(reason);
    throw new RpcAnswerInvalid(reason);
  }
  const receivers = parseLogs(resultOf(outcomes[1])).map((log) => `0x${(log.topics[2] ?? '').slice(26)}`);
  return { receivers: [...new Set(receivers)], lastHash: last.hash };
}
