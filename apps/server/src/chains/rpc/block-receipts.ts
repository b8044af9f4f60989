import type { Hex } from '@florin/protocol/order.ts';
import { type BlockHeader, calls, parseReceipt, type Receipt } from './actions.ts';
import { parseArray } from './parse.ts';
import { isScanned, type ScannedReceipts } from './receipt-scan.ts';
import {
  methodNotFound,
  type Rpc,
  RpcAnswerInvalid,
  type RpcCall,
  type RpcOptions,
  type RpcOutcome,
  resultOf,
} from './rpc.ts';

/** A block of a fast chain, full of logs, comes to some 20 MB. */
const maxAnswerBytes = 64_000_000;
/** Most receipts asked for by transaction in one batch. */
const receiptBatch = 100;

/** The receipts of a block as a node told them: scanned where they are plain, else what `JSON.parse` made of them. */
export type ToldReceipts = ScannedReceipts | readonly unknown[];

/**
 * The receipts of each block as the nodes tell them, in the order of the headers, all in one request. Nodes without
 * `eth_getBlockReceipts` are asked for each transaction. Throws `RpcAnswerInvalid` when the node has not got a block.
 */
export async function askReceiptsOfBlocks(
  rpc: Rpc,
  headers: readonly BlockHeader[],
): Promise<readonly ToldReceipts[]> {
  const outcomes = await rpc.batch(
    headers.map((header) => calls.blockReceipts(header.hash)),
    { maxAnswerBytes },
  );
  const all: ToldReceipts[] = [];
  for (const [index, header] of headers.entries()) {
    const outcome = outcomes[index];
    const isUnknown = outcome !== undefined && 'error' in outcome && outcome.error.code === methodNotFound;
    all.push(isUnknown ? await askOneByOne(rpc, header) : receiptsIn(resultOf(outcome)));
  }
  return all;
}

/** The same for one block, with every field read. */
export async function getReceiptsOfBlock(rpc: Rpc, header: BlockHeader): Promise<readonly Receipt[]> {
  const [answers = []] = await askReceiptsOfBlocks(rpc, [header]);
  return parseReceipts(answers);
}

/** What a node that is asked for its head can be asked for besides: receipts of the block that it most likely is. */
export function receiptsBeside(blockHash: Hex): { readonly call: RpcCall; readonly options: RpcOptions } {
  return { call: calls.blockReceipts(blockHash), options: { maxAnswerBytes, isUrgent: true } };
}

/** The receipts in an answer that nothing hangs on; undefined where it has none. */
export function receiptsIfTold(outcome: RpcOutcome | undefined): ToldReceipts | undefined {
  if (outcome === undefined || 'error' in outcome) return undefined;
  const { result } = outcome;
  return isScanned(result) || Array.isArray(result) ? result : undefined;
}

function receiptsIn(answer: unknown): ToldReceipts {
  if (isScanned(answer)) return answer;
  if (answer === null) throw new RpcAnswerInvalid('the node has no receipts of the block');
  return parseArray('receipts', answer);
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

/** Reads every field of all receipts of a block. */
export function parseReceipts(told: ToldReceipts): readonly Receipt[] {
  const answers = isScanned(told) ? parseArray('receipts', told.values()) : told;
  return answers.map((value) => {
    const receipt = parseReceipt(value);
    if (receipt === undefined) throw new RpcAnswerInvalid('a receipt of the block is missing');
    return receipt;
  });
}
