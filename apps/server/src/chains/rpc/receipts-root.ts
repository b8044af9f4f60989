import type { Hex } from '@florin/protocol/order.ts';
import { hexToBytes, keccak256, toHex } from 'viem';
import type { Receipt, RpcLog } from './actions.ts';
import { listRoot } from './list-root.ts';
import { hexBytes, hexList, hexListHead, integerDigits } from './rlp.ts';

/** Receipts of deposits from the first layer on chains of the OP stack. */
const depositType = 0x7e;

/**
 * A receipt as its block commits to it: status, gas used so far, bloom and logs, after its type unless it is a legacy
 * one (EIP-2718, EIP-658). Types without a rule of their own are encoded like those of Ethereum: where that is wrong,
 * the root comes out as another and proves nothing.
 */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  const logs = receipt.logs.map(logDigits).join('');
  const { before, behind } = aroundLogs(receipt, logs.length / 2);
  return Buffer.from(before + logs + behind, 'hex');
}

/** What such a receipt has before and behind its encoded logs of so many bytes, as hexadecimal digits. */
export function aroundLogs(
  receipt: Omit<Receipt, 'logs'>,
  logsSize: number,
): { readonly before: string; readonly behind: string } {
  const fields =
    hexBytes(receipt.succeeded ? '01' : '') +
    hexBytes(integerDigits(receipt.cumulativeGasUsed)) +
    hexBytes(receipt.logsBloom.slice(2)) +
    hexListHead(logsSize);
  // Since Canyon the two are part of the receipt; before it the first was known to nodes and not committed to.
  const behind =
    receipt.type === depositType && receipt.deposit?.version !== undefined
      ? hexBytes(integerDigits(receipt.deposit.nonce)) + hexBytes(integerDigits(receipt.deposit.version))
      : '';
  const size = (fields.length + behind.length) / 2 + logsSize;
  const type = receipt.type === 0 ? '' : integerDigits(receipt.type);
  return { before: type + hexListHead(size) + fields, behind };
}

/** A log as its receipt has it, in RLP, as hexadecimal digits. */
function logDigits({ address, topics, data }: Pick<RpcLog, 'address' | 'topics' | 'data'>): string {
  let encoded = '';
  for (const topic of topics) encoded += hexBytes(topic.slice(2));
  return hexList(hexBytes(address.slice(2)) + hexList(encoded) + hexBytes(data.slice(2)));
}

/** The root that a header commits to its block's receipts with. Receipts stand in the order of their transactions. */
export function receiptsRootOf(receipts: readonly Receipt[]): Hex {
  return listRoot(receipts.map(encodeReceipt));
}

/**
 * Nodes of Polygon add a receipt that no header commits to, for what bridges changed in the block. Its transaction's hash
 * says that it is one.
 */
export function isBorReceipt(receipt: Receipt): boolean {
  const number = receipt.blockNumber.toString(16).padStart(16, '0');
  const key = `${toHex('matic-bor-receipt-')}${number}${receipt.blockHash.slice(2)}` as const;
  return keccak256(hexToBytes(key)) === receipt.transactionHash;
}
