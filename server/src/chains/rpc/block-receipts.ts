import { type BlockHeader, calls, parseReceipt, type Receipt } from './actions.ts';
import { parseArray } from './parse.ts';
import { methodNotFound, type Rpc, RpcAnswerInvalid, resultOf } from './rpc.ts';

/** Most receipts asked for at once, unless one block has more. */
const receiptsAtOnce = 1_000;
/** A block of a fast chain, full of logs, comes to some 20 MB. */
const maxAnswerBytes = 64_000_000;
/** Most receipts asked for by transaction in one batch. */
const receiptBatch = 100;

/**
 * All receipts of each block, in the order of the headers. Nodes without `eth_getBlockReceipts` are asked for each
 * transaction. Throws `RpcAnswerInvalid` when the node has not got a block.
 */
export async function getReceiptsOfBlocks(
  rpc: Rpc,
  headers: readonly BlockHeader[],
): Promise<readonly (readonly Receipt[])[]> {
  const all: (readonly Receipt[])[] = [];
  for (const group of groupsOf(headers)) {
    const outcomes = await rpc.batch(
      group.map((header) => calls.blockReceipts(header.hash)),
      { maxAnswerBytes },
    );
    for (const [index, header] of group.entries()) {
      const outcome = outcomes[index];
      const isUnknown = outcome !== undefined && 'error' in outcome && outcome.error.code === methodNotFound;
      all.push(isUnknown ? await receiptsOneByOne(rpc, header) : parseReceipts(resultOf(outcome)));
    }
  }
  return all;
}

function groupsOf(headers: readonly BlockHeader[]): BlockHeader[][] {
  const groups: BlockHeader[][] = [];
  let size = receiptsAtOnce;
  for (const header of headers) {
    const group = groups.at(-1);
    size += header.transactionHashes.length;
    if (group !== undefined && size <= receiptsAtOnce) {
      group.push(header);
    } else {
      groups.push([header]);
      size = header.transactionHashes.length;
    }
  }
  return groups;
}

function parseReceipts(answer: unknown): readonly Receipt[] {
  if (answer === null) throw new RpcAnswerInvalid('the node has no receipts of the block');
  return parseArray('receipts', answer).map(requireReceipt);
}

async function receiptsOneByOne(rpc: Rpc, header: BlockHeader): Promise<readonly Receipt[]> {
  const receipts: Receipt[] = [];
  for (let start = 0; start < header.transactionHashes.length; start += receiptBatch) {
    const hashes = header.transactionHashes.slice(start, start + receiptBatch);
    const outcomes = await rpc.batch(hashes.map((hash) => calls.receipt(hash)));
    receipts.push(...outcomes.map((outcome) => requireReceipt(resultOf(outcome))));
  }
  return receipts;
}

function requireReceipt(value: unknown): Receipt {
  const receipt = parseReceipt(value);
  if (receipt === undefined) throw new RpcAnswerInvalid('a receipt of the block is missing');
  return receipt;
}
