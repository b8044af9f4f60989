import type { Hex } from '@florin/protocol/order.ts';
import { type BlockHeader, parseReceiptHead, type RpcLog } from './actions.ts';
import { listRoot } from './list-root.ts';
import { parseRecord } from './parse.ts';
import { logDigits, receiptDigits } from './receipts-root.ts';

/** What of a log says whose it is. */
export type LogContent = Pick<RpcLog, 'address' | 'topics' | 'data'>;

/** A log as a node tells it, of the right shape; whether its texts are hexadecimal is not known yet. */
interface PlainLog extends LogContent {
  readonly transactionHash: string;
  readonly logIndex: string;
}

/**
 * The wanted logs of a block out of its receipts as a node told them, proven by the root in a header that is proven
 * itself. The logs are not read field by field first: all of them go into the bytes that are hashed, and a text that is
 * not the one hexadecimal form of these bytes is found by looking at all at once, so that what hashes to the root is what
 * the block has. That takes a fifth of the time. Undefined for whatever is not plainly so, be it proven, a lie or the way
 * of a chain: that is for the reader of every field to judge. Throws `RpcAnswerInvalid` for a malformed receipt.
 */
export function provenLogs(
  header: BlockHeader,
  receipts: readonly unknown[],
  isWanted: (log: LogContent) => boolean,
): readonly RpcLog[] | undefined {
  if (header.isProven !== true || receipts.length !== header.transactionHashes.length) return undefined;
  const wanted: RpcLog[] = [];
  const encoded: Uint8Array[] = [];
  let place = 0;
  for (const [index, value] of receipts.entries()) {
    const receipt = parseRecord('receipt', value);
    const head = parseReceiptHead(receipt);
    const logs = receipt['logs'];
    const txHash = header.transactionHashes[index];
    if (head.transactionHash !== txHash || head.blockHash !== header.hash || !Array.isArray(logs)) {
      return undefined;
    }
    let digits = '';
    for (const log of logs) {
      // The root commits neither to hashes of transactions nor to places of logs.
      if (!isPlain(log) || log.transactionHash !== txHash || log.logIndex !== placeText(place)) {
        return undefined;
      }
      digits += logDigits(log);
      if (isWanted(log)) wanted.push(logOf(header, log, { txHash, place }));
      place += 1;
    }
    const bytes = bytesOf(receiptDigits(head, digits));
    if (bytes === undefined) return undefined;
    encoded.push(bytes);
  }
  return listRoot(encoded) === header.receiptsRoot ? wanted : undefined;
}

function logOf(
  header: BlockHeader,
  { address, topics, data }: LogContent,
  { txHash, place }: { readonly txHash: Hex; readonly place: number },
): RpcLog {
  const { hash: blockHash, number: blockNumber } = header;
  const at = { blockHash, blockNumber, logIndex: place, transactionHash: txHash, removed: false };
  return { address, topics, data, ...at };
}

function isPlain(value: unknown): value is PlainLog {
  if (typeof value !== 'object' || value === null) return false;
  const { address, topics, data, removed, transactionHash, logIndex } = value as Partial<
    Record<'address' | 'topics' | 'data' | 'removed' | 'transactionHash' | 'logIndex', unknown>
  >;
  return (
    isPrefixed(address) &&
    address.length === 42 &&
    isPrefixed(data) &&
    data.length % 2 === 0 &&
    Array.isArray(topics) &&
    topics.length <= 4 &&
    topics.every((topic) => isPrefixed(topic) && topic.length === 66) &&
    (removed === undefined || removed === false) &&
    typeof transactionHash === 'string' &&
    typeof logIndex === 'string'
  );
}

function isPrefixed(value: unknown): value is Hex {
  return typeof value === 'string' && value.charCodeAt(0) === 0x30 && value.charCodeAt(1) === 0x78;
}

const usualPlaces = Array.from({ length: 4_096 }, (_, place) => `0x${place.toString(16)}`);

function placeText(place: number): string {
  return usualPlaces[place] ?? `0x${place.toString(16)}`;
}

/**
 * The bytes of hexadecimal digits; undefined unless every one is a digit, in lower case. Node stops at most characters
 * that are none, but takes some beyond ASCII for the digit that shares their last eight bits.
 */
function bytesOf(digits: string): Uint8Array | undefined {
  if (digits.toLowerCase() !== digits || Buffer.byteLength(digits) !== digits.length) return undefined;
  const bytes = Buffer.from(digits, 'hex');
  return bytes.length * 2 === digits.length ? bytes : undefined;
}
