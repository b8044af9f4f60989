import type { Hex } from '@florin/protocol/order.ts';
import type { RpcLog } from './actions.ts';

/** What of a log says whose it is. */
export type LogContent = Pick<RpcLog, 'address' | 'topics' | 'data'>;

/** Where the fields of a log begin in bytes that have them: 20 of its address, 32 of each topic, and its data. */
export interface LogPlaces {
  readonly address: number;
  readonly topics: readonly number[];
  readonly data: number;
  readonly dataEnd: number;
}

/** A log in bytes, and where it stands in its block. */
export interface PlacedLog {
  readonly bytes: Buffer;
  readonly places: LogPlaces;
  readonly logIndex: number;
  readonly transactionHash: Hex;
}

/** Bytes as lower-case hexadecimal. */
export function hexAt(bytes: Buffer, start: number, end: number): Hex {
  return `0x${bytes.toString('hex', start, end)}`;
}

/** Whether these bytes stand at a place in others. */
export function isAt(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index += 1) {
    if (bytes[at + index] !== wanted[index]) return false;
  }
  return true;
}

/** The log as text. */
export function contentOf(bytes: Buffer, { address, topics, data, dataEnd }: LogPlaces): LogContent {
  return {
    address: hexAt(bytes, address, address + 20),
    topics: topics.map((topic) => hexAt(bytes, topic, topic + 32)),
    data: hexAt(bytes, data, dataEnd),
  };
}

/** The log in bytes. */
export function placedLogOf({ address, topics, data, logIndex, transactionHash }: RpcLog): PlacedLog {
  const bytes = Buffer.from([address, ...topics, data].map((digits) => digits.slice(2)).join(''), 'hex');
  const begin = 20 + 32 * topics.length;
  const places = {
    ...{
      address: 0,
      topics: topics.map((_topic, index) => 20 + 32 * index),
      data: begin,
      dataEnd: bytes.length,
    },
  };
  return { bytes, places, logIndex, transactionHash };
}
