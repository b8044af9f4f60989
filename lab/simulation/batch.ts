import type { Hex } from '@florin/protocol/order.ts';
import { concat, pad, size, slice, toHex } from 'viem';

/** One call of a batch. A batch makes its calls in order, in one transaction. */
export interface BatchedCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** Bytes of the address and of the data's length. */
const headSize = 22;

/** Data that makes the contract carry out these calls. A failed call changes nothing. */
export function batchData(calls: readonly BatchedCall[]): Hex {
  return concat(calls.flatMap(({ to, data }) => [to, pad(toHex(size(data)), { size: 2 }), data]));
}

/** The calls in a batch. */
export function callsIn(batch: Hex): readonly BatchedCall[] {
  const calls: BatchedCall[] = [];
  for (let at = 0; at < size(batch); ) {
    const end = at + headSize + Number(slice(batch, at + 20, at + headSize));
    const data = end === at + headSize ? '0x' : slice(batch, at + headSize, end);
    calls.push({ to: slice(batch, at, at + 20), data });
    at = end;
  }
  return calls;
}

/**
 * Bytecode of a contract that carries out batches for any caller. It reads an address and a length, copies that many
 * bytes and makes the call. It continues behind them until the data ends.
 */
export const batchCode: Hex = concat([
  // The offset of the next call, and whether it is before the end.
  '0x5f5b36811060095700',
  // The call's length and address, and the offset of its data.
  '0x5b80358060501c61ffff169060601c91601601',
  // Copies the data to memory and computes the offset of the following call.
  '0x81815f37810191',
  // Makes the call, ignores its result and continues with the next one.
  '0x905f5f825f5f865af1505050600156',
]);
