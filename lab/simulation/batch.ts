import type { Hex } from '@florin/protocol/order.ts';
import { concat, pad, size, slice, toHex } from 'viem';

/** One of the calls that a batch makes, one after the other, in one transaction. */
export interface BatchedCall {
  readonly to: Hex;
  readonly data: Hex;
}

/** Address, and length of the data. */
const headSize = 22;

/** What makes a contract carry out the calls in its own data; one that fails changes nothing. */
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
 * The code of a contract that does it, for anybody: reads an address and a length, copies so many bytes, calls, and goes on
 * behind them until the data ends.
 */
export const batchCode: Hex = concat([
  // The place of the next call, and whether it is before the end.
  '0x5f5b36811060095700',
  // The call's length and address, and where its data begins.
  '0x5b80358060501c61ffff169060601c91601601',
  // Its data into memory; where the call behind it begins.
  '0x81815f37810191',
  // The call, whatever becomes of it, and on to the next.
  '0x905f5f825f5f865af1505050600156',
]);
