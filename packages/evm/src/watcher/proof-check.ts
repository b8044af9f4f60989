import { getBlock } from '../nodes/actions.ts';
import { getReceiptsOfBlocks } from '../nodes/block-receipts.ts';
import { type Rpc, RpcUnavailable } from '../nodes/rpc.ts';
import { areProvenReceipts } from './log-check.ts';

/** The part of a chain's newest block that the nodes' answers do not prove; undefined when they prove all of it. */
export async function unprovenPart(rpc: Rpc): Promise<'headers' | 'receipts' | undefined> {
  const header = await getBlock(rpc, 'latest');
  if (header === undefined) throw new RpcUnavailable('a node without a latest block');
  if (header.isProven !== true) return 'headers';
  const [receipts = []] = await getReceiptsOfBlocks(rpc, [header]);
  return areProvenReceipts(header, receipts) ? undefined : 'receipts';
}
