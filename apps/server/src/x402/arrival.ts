import { getBlock, parseLogs, toQuantity } from '@florin/evm';
import { erc20Abi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeEventTopics, encodeFunctionData } from 'viem';
import { asking } from '#submissions/signed-order.ts';
import type { X402Context } from './context.ts';

/** A transfer that a third party may have sent to the address of an order. */
export interface ExpectedTransfer {
  readonly token: Token;
  readonly payer: Hex;
  readonly payTo: Hex;
  /** In units of the token. */
  readonly total: bigint;
  /** Whether the address was shown to this payer alone. */
  readonly isPrivate: boolean;
}

/**
 * Whether the money of a payment is at its address although our transaction did not bring it. foreign: money is there,
 * and nothing shows that it is this payer's. A used nonce proves nothing, because any transfer may have used it.
 */
export async function findArrival(
  deps: Pick<X402Context, 'payerChain' | 'rpcOf'>,
  expected: ExpectedTransfer,
): Promise<'there' | 'foreign' | 'none'> {
  const { token, payTo, total } = expected;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [payTo] });
  const answer = await deps.payerChain.callAt(token.chainId, { to: token.address, data, gas: balanceGas });
  if (answer?.length !== 66 || BigInt(answer) < total) return 'none';
  return expected.isPrivate || (await isTransferred(deps, expected)) ? 'there' : 'foreign';
}

/** Far above what any token needs for the read. */
const balanceGas = 500_000n;

/** How many blocks, back from the newest one, are searched for a transfer. */
const searchedBlocks = 200n;

/** Whether a recent block has a transfer of the whole amount from the payer to the address. */
export async function isTransferred(
  { rpcOf }: Pick<X402Context, 'rpcOf'>,
  { token, payer, payTo, total }: ExpectedTransfer,
): Promise<boolean> {
  const rpc = rpcOf(token.chainId);
  const topics = encodeEventTopics({
    abi: erc20Abi,
    eventName: 'Transfer',
    args: { from: payer, to: payTo },
  });
  const answer = await asking(token.chainName, async () => {
    const head = (await getBlock(rpc, 'latest'))?.number ?? 0n;
    const from = head > searchedBlocks ? head - searchedBlocks : 0n;
    const range = { fromBlock: toQuantity(from), toBlock: 'latest' };
    return rpc.request('eth_getLogs', [{ ...range, address: token.address, topics }]);
  });
  return parseLogs(answer).some((log) => log.data.length === 66 && BigInt(log.data) >= total);
}
