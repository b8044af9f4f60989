import {
  calls,
  parseData,
  parseHeader,
  parseLogs,
  pollNodes,
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
import type { Chain } from '#chains/chain.ts';
import type { StoredOrder } from '#orders/stored-order.ts';

export function collectCall({ order, signature }: Pick<StoredOrder, 'order' | 'signature'>): Hex {
  return encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'collect', args: [order, signature] });
}

export function additionCall(to: Hex, amount: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] });
}

/** A balance to read: a token at an address. */
export interface DepositBalance {
  readonly token: Hex;
  readonly holder: Hex;
}

/** Reads in one request. */
const batchSize = 100;

/** Reads balances at a block, in the given order, in units of each token. A refused or malformed answer counts as 0. */
export async function readDepositBalances(
  rpc: Rpc,
  balances: readonly DepositBalance[],
  block: bigint | 'latest',
): Promise<bigint[]> {
  const amounts: bigint[] = [];
  for (let start = 0; start < balances.length; start += batchSize) {
    const part = balances.slice(start, start + batchSize);
    const outcomes = await rpc.batch(part.map((balance) => balanceCall(balance, block)));
    for (const outcome of outcomes) amounts.push(balanceIn(resultUnlessReverted(outcome)));
  }
  return amounts;
}

/** How long one node may take: a silent one holds up the deposits after this one for so long. */
const timeLimitMs = 4_000;

/**
 * The balance at the newest block, on which all answering providers agree, and at least as many as the chain's finality
 * asks for; undefined otherwise.
 */
export async function readAgreedBalance(
  rpc: Rpc,
  { finality: { quorum } }: Pick<Chain, 'finality'>,
  balance: DepositBalance,
): Promise<bigint | undefined> {
  const answers = await pollNodes(rpc, [balanceCall(balance, 'latest')], { timeLimitMs });
  const amounts = answers.flatMap(({ outcomes: [outcome] }) =>
    outcome !== undefined && 'result' in outcome ? [balanceIn(outcome.result)] : [],
  );
  const [first] = amounts;
  return amounts.length >= quorum && amounts.every((amount) => amount === first) ? first : undefined;
}

function resultUnlessReverted(outcome: Parameters<typeof resultOf>[0]): unknown {
  try {
    return resultOf(outcome);
  } catch (error) {
    // A token that refuses to be read holds up no other.
    if (error instanceof RpcError) return '0x';
    throw error;
  }
}

function balanceIn(result: unknown): bigint {
  const data = parseData('balance', result);
  return data.length === 66 ? BigInt(data) : 0n;
}

function balanceCall({ token, holder }: DepositBalance, block: bigint | 'latest'): RpcCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
  const at = typeof block === 'bigint' ? toQuantity(block) : block;
  return { method: 'eth_call', params: [{ to: token, data }, at] };
}

const [transferTopic] = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer' });

/** One transfer of a token. Addresses are in lower case. */
export interface ShownTransfer {
  readonly receiver: string;
  readonly token: string;
  readonly amount: bigint;
  readonly txHash: Hex;
  readonly logIndex: number;
  readonly blockNumber: bigint;
}

/** The transfers of a range of blocks, according to one node. */
interface ShownTransfers {
  readonly transfers: readonly ShownTransfer[];
  /** The hash of the last block. */
  readonly lastHash: Hex;
}

/**
 * These tokens' transfers in a range of blocks: those to the named addresses, or all when no names are given. A hint and no proof: a node that omits logs only delays a deposit until its balance is read. Refuses
 * the answer of a node that lacks the last block.
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
  const transfers = parseLogs(resultOf(outcomes[1])).map(
    (log): ShownTransfer => ({
      receiver: `0x${(log.topics[2] ?? '').slice(26)}`.toLowerCase(),
      token: log.address.toLowerCase(),
      amount: log.data.length === 66 ? BigInt(log.data) : 0n,
      txHash: log.transactionHash,
      logIndex: log.logIndex,
      blockNumber: log.blockNumber,
    }),
  );
  return { transfers, lastHash: last.hash };
}
