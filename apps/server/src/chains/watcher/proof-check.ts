import { getBlock, getReceiptsOfBlocks, type Rpc, RpcUnavailable } from '@florin/evm';
import { areProvenReceipts } from './log-check.ts';

/** Whether the newest block of a chain can be proven from what its nodes tell, and if not, what of it cannot. */
export async function unprovenPart(rpc: Rpc): Promise<'headers' | 'receipts' | undefined> {
  const header = await getBlock(rpc, 'latest');
  if (header === undefined) throw new RpcUnavailable('a node without a latest block');
  if (header.isProven !== true) return 'headers';
  const [receipts = []] = await getReceiptsOfBlocks(rpc, [header]);
  return areProvenReceipts(header, receipts) ? undefined : 'receipts';
}
