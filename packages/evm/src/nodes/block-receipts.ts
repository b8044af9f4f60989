import { type BlockHeader, calls, parseTransactionReceipt, type TransactionReceipt } from './actions.ts';
import { parseArray } from './parse.ts';
import { methodNotFound, type Rpc, RpcAnswerInvalid, resultOf } from './rpc.ts';

/** A block of a fast chain, full of logs, takes some 20 MB. */
const maxAnswerBytes = 64_000_000;
/** The most receipts requested by transaction in one batch. */
const receiptBatch = 100;

/**
 * The receipts of each block, in the order of the headers, all in one request. A node without `eth_getBlockReceipts`
 * gets one request per transaction. Throws `RpcAnswerInvalid` when the node does not have a block, or a receipt is
 * malformed.
 */
export async function getReceiptsOfBlocks(
  rpc: Rpc,
  headers: readonly BlockHeader[],
): Promise<readonly (readonly TransactionReceipt[])[]> {
  const outcomes = await rpc.batch(
    headers.map((header) => calls.blockReceipts(header.hash)),
    { maxAnswerBytes },
  );
  const blocks: (readonly TransactionReceipt[])[] = [];
  for (const [index, header] of headers.entries()) {
    const outcome = outcomes[index];
    const isUnknown = outcome !== undefined && 'error' in outcome && outcome.error.code === methodNotFound;
    const answer = isUnknown ? await askOneByOne(rpc, header) : resultOf(outcome);
    if (answer === null) throw new RpcAnswerInvalid('the node has no receipts of the block');
    blocks.push(parseArray('receipts', answer).map(requireReceipt));
  }
  return blocks;
}

async function askOneByOne(rpc: Rpc, header: BlockHeader): Promise<readonly unknown[]> {
  const receipts: unknown[] = [];
  for (let start = 0; start < header.transactionHashes.length; start += receiptBatch) {
    const hashes = header.transactionHashes.slice(start, start + receiptBatch);
    const outcomes = await rpc.batch(hashes.map((hash) => calls.receipt(hash)));
    receipts.push(...outcomes.map(resultOf));
  }
  return receipts;
}

function requireReceipt(value: unknown): TransactionReceipt {
  const receipt = parseTransactionReceipt(value);
  if (receipt === undefined) throw new RpcAnswerInvalid('a receipt of the block is missing');
  return receipt;
}
