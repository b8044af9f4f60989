import type { BlockHeader, RpcLog, TransactionReceipt } from '../nodes/actions.ts';
import { bloomBitsOf, bloomOf, isSubset, mayContain, unionOf } from '../nodes/bloom.ts';
import { isBorReceipt, receiptsRootOf } from '../nodes/receipts-root.ts';
import { RpcAnswerInvalid } from '../nodes/rpc.ts';
import type { LogSource } from './event.ts';

/**
 * Checks a node's logs of a block against its header. Throws `RpcAnswerInvalid` for a log that cannot be of this
 * block: the whole answer is then refused.
 */
export function checkLogs(header: BlockHeader, logs: readonly RpcLog[]): void {
  let lastIndex = -1;
  for (const log of logs) {
    checkPlace(header, log, lastIndex);
    lastIndex = log.logIndex;
  }
}

function checkPlace(header: BlockHeader, log: RpcLog, lastIndex: number): void {
  if (log.removed) throw new RpcAnswerInvalid('a removed log');
  if (log.blockHash !== header.hash || log.blockNumber !== header.number) {
    throw new RpcAnswerInvalid('a log of another block than asked for');
  }
  if (log.logIndex <= lastIndex) throw new RpcAnswerInvalid('logs out of order, or one twice');
  if (!header.transactionHashes.includes(log.transactionHash)) {
    throw new RpcAnswerInvalid('a log of a transaction that is not in its block');
  }
  if (![log.address, ...log.topics].every((value) => mayContain(header.logsBloom, bloomBitsOf(value)))) {
    throw new RpcAnswerInvalid("a log that the block's bloom excludes");
  }
}

/**
 * Whether a proven header commits to exactly these receipts, in this order. False proves nothing: either the node
 * lies, or the chain has its own encoding of receipts.
 */
export function areProvenReceipts(header: BlockHeader, receipts: readonly TransactionReceipt[]): boolean {
  return header.isProven === true && receiptsRootOf(committed(receipts)) === header.receiptsRoot;
}

/** The receipts without those that nodes add outside the root. */
function committed(receipts: readonly TransactionReceipt[]): readonly TransactionReceipt[] {
  const last = receipts.at(-1);
  return last !== undefined && isBorReceipt(last) ? receipts.slice(0, -1) : receipts;
}

/**
 * Takes the wanted logs out of proven receipts. The root contains neither transaction hashes nor log positions. These
 * must agree with the header's list and with the order of the receipts.
 */
export function logsOfProvenReceipts(
  source: Pick<LogSource, 'isWanted'>,
  header: BlockHeader,
  receipts: readonly TransactionReceipt[],
): readonly RpcLog[] {
  const logs: RpcLog[] = [];
  let place = 0;
  for (const [index, receipt] of committed(receipts).entries()) {
    const txHash = header.transactionHashes[index];
    if (receipt.transactionHash !== txHash || receipt.blockHash !== header.hash) {
      throw new RpcAnswerInvalid('a receipt in the place of another');
    }
    for (const log of receipt.logs) {
      if (log.transactionHash !== txHash || log.logIndex !== place) {
        throw new RpcAnswerInvalid('a log in the place of another');
      }
      if (source.isWanted(log)) logs.push(log);
      place += 1;
    }
  }
  return logs;
}

/**
 * Takes the wanted logs out of all receipts of a block, after checking that the receipts explain the header's bloom.
 * This detects a missing receipt or wanted log. The exception is the first or last log of a transaction whose other
 * logs set the same bits.
 */
export function logsOfReceipts(
  source: Pick<LogSource, 'isWanted' | 'mayHaveEvents'>,
  header: BlockHeader,
  receipts: readonly TransactionReceipt[],
): readonly RpcLog[] {
  if (receipts.some((receipt) => receipt.blockHash !== header.hash)) {
    throw new RpcAnswerInvalid('a receipt of another block than asked for');
  }
  if (!isSubset(header.logsBloom, unionOf(receipts.map((receipt) => receipt.logsBloom)))) {
    throw new RpcAnswerInvalid("receipts that do not account for the block's bloom");
  }
  const candidates = receipts.filter((receipt) => source.mayHaveEvents(receipt.logsBloom));
  for (const receipt of candidates) {
    const values = receipt.logs.flatMap((log) => [log.address, ...log.topics]);
    if (!isSubset(receipt.logsBloom, bloomOf(values))) {
      throw new RpcAnswerInvalid("logs that do not account for their receipt's bloom");
    }
    requireConsecutive(receipt);
  }
  return candidates
    .flatMap((receipt) => receipt.logs)
    .filter((log) => source.isWanted(log))
    .toSorted((first, second) => first.logIndex - second.logIndex);
}

/** The bloom does not reveal a missing log whose bits the transaction's other logs also set. The log numbers do. */
function requireConsecutive({ logs }: TransactionReceipt): void {
  const places = logs.map(({ logIndex }) => logIndex).toSorted((first, second) => first - second);
  if (places.some((place, index) => index > 0 && place !== (places[index - 1] ?? place) + 1)) {
    throw new RpcAnswerInvalid('logs of one transaction whose numbers do not follow each other');
  }
}
