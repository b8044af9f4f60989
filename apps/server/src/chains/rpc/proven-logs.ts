import { type BlockHeader, parseReceiptHead } from './actions.ts';
import { listRoot } from './list-root.ts';
import type { LogPlaces, PlacedLog } from './log-bytes.ts';
import type { ScannedReceipt, ScannedReceipts } from './receipt-scan.ts';
import { aroundLogs } from './receipts-root.ts';

/**
 * The wanted logs of a block out of its receipts as a node told them, proven by the root in a header that is proven
 * itself. Of a log nothing is made but the bytes that are hashed: what hashes to the root is what the block has. Undefined
 * for whatever is not plainly so, be it proven, a lie or the way of a chain: that is for the reader of every field to
 * judge. Throws `RpcAnswerInvalid` for a malformed receipt.
 */
export function provenLogs(
  header: BlockHeader,
  { receipts, encoded }: ScannedReceipts,
  isWanted: (bytes: Buffer, places: LogPlaces) => boolean,
): readonly PlacedLog[] | undefined {
  if (header.isProven !== true || receipts.length !== header.transactionHashes.length) return undefined;
  const values: Uint8Array[] = [];
  const wanted: PlacedLog[] = [];
  let logIndex = 0;
  for (const [index, receipt] of receipts.entries()) {
    const head = parseReceiptHead(receipt.fields);
    const transactionHash = header.transactionHashes[index];
    if (head.transactionHash !== transactionHash || head.blockHash !== header.hash) return undefined;
    values.push(encodeAround(encoded, receipt, aroundLogs(head, receipt.end - receipt.start)));
    for (const places of receipt.logs) {
      if (isWanted(encoded, places)) wanted.push({ bytes: encoded, places, logIndex, transactionHash });
      logIndex += 1;
    }
  }
  return listRoot(values) === header.receiptsRoot ? wanted : undefined;
}

/** Writes what a receipt has around its logs to where these are, and gives all of it. */
function encodeAround(
  encoded: Buffer,
  { start, end }: ScannedReceipt,
  { before, behind }: ReturnType<typeof aroundLogs>,
): Uint8Array {
  const first = start - before.length / 2;
  encoded.write(before, first, 'hex');
  encoded.write(behind, end, 'hex');
  return encoded.subarray(first, end + behind.length / 2);
}
