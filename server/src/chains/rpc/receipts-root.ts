import type { Hex } from '@florin/protocol/order.ts';
import { hexToBytes, keccak256, toHex } from 'viem';
import type { Receipt, RpcLog } from './actions.ts';
import { listRoot } from './list-root.ts';
import { hexBytes, hexList, integerDigits } from './rlp.ts';

/** Receipts of deposits from the first layer on chains of the OP stack. */
const depositType = 0x7e;

/**
 * A receipt as its block commits to it: status, gas used so far, bloom and logs, after its type unless it is a legacy
 * one (EIP-2718, EIP-658). Types without a rule of their own are encoded like those of Ethereum: where that is wrong,
 * the root comes out as another and proves nothing.
 */
export function encodeReceipt(receipt: Receipt): Uint8Array {
  return Buffer.from(receiptDigits(receipt, receipt.logs.map(logDigits).join('')), 'hex');
}

/** The same as hexadecimal digits, of a receipt whose logs are encoded already, one behind the other. */
export function receiptDigits(receipt: Omit<Receipt, 'logs'>, logs: string): string {
  let fields =
    hexBytes(receipt.succeeded ? '01' : '') +
    hexBytes(integerDigits(receipt.cumulativeGasUsed)) +
    hexBytes(receipt.logsBloom.slice(2)) +
    hexList(logs);
  // Since Canyon the two are part of the receipt; before it the first was known to nodes and not committed to.
  if (receipt.type === depositType && receipt.deposit?.version !== undefined) {
    fields +=
      hexBytes(integerDigits(receipt.deposit.nonce)) + hexBytes(integerDigits(receipt.deposit.version));
  }
  return (receipt.type === 0 ? '' : integerDigits(receipt.type)) + hexList(fields);
}

/** A log as its receipt has it, in RLP, as hexadecimal digits. */
export function logDigits({ address, topics, data }: Pick<RpcLog, 'address' | 'topics' | 'data'>): string {
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
