import type { Hex } from '@florin/protocol/order.ts';
import { getAddress } from 'viem';

/**
 * CCTP v2 messages, as Circle documents them (developers.circle.com/cctp, "message format"): a header of 148 bytes, a
 * burn's body of 228, and the hook data. In our messages the hook data is the order's id.
 */

/** A burn, as its message describes it. It does not prove a mint. */
export interface BurnBody {
  readonly orderId: Hex;
  /** Lower case, like all addresses here except `to`. */
  readonly burnToken: string;
  /** Checksummed. */
  readonly to: Hex;
  readonly amount: bigint;
  /** The burning contract. Only burns by our routes count. */
  readonly messageSender: string;
  readonly feeExecuted: bigint;
}

/** A message with its header, in the form of the attestation service. */
export interface BurnMessage extends BurnBody {
  readonly sourceDomain: number;
  readonly destinationDomain: number;
  /** The messenger of the source chain. */
  readonly sender: string;
}

const headerBytes = 148;
const hookDataStart = 228;
const bodyBytes = hookDataStart + 32;

/** Reads a burn's body with an order's id; undefined for all other CCTP messages. */
export function parseBurnBody(body: Hex): BurnBody | undefined {
  if (body.length !== 2 + 2 * bodyBytes) return undefined;
  const [burnToken, recipient, messageSender] = [4, 36, 100].map((start) => addressAt(body, start));
  if (burnToken === undefined || recipient === undefined || messageSender === undefined) return undefined;
  return {
    orderId: `0x${bytesAt(body, hookDataStart, 32)}`,
    burnToken,
    to: getAddress(recipient),
    amount: BigInt(`0x${bytesAt(body, 68, 32)}`),
    messageSender,
    feeExecuted: BigInt(`0x${bytesAt(body, 164, 32)}`),
  };
}

/** Reads a whole message; undefined unless it is a burn with an order's id. */
export function parseBurnMessage(message: Hex): BurnMessage | undefined {
  const lower = message.toLowerCase() as Hex;
  if (lower.length < 2 + 2 * headerBytes) return undefined;
  const body = parseBurnBody(`0x${lower.slice(2 + 2 * headerBytes)}`);
  const sender = addressAt(lower, 44);
  if (body === undefined || sender === undefined) return undefined;
  return {
    ...body,
    sender,
    sourceDomain: Number(`0x${bytesAt(lower, 4, 4)}`),
    destinationDomain: Number(`0x${bytesAt(lower, 8, 4)}`),
  };
}

function bytesAt(text: Hex, start: number, count: number): string {
  return text.slice(2 + 2 * start, 2 + 2 * (start + count));
}

/** An address in a word of 32 bytes; undefined when the word holds more than an address. */
function addressAt(text: Hex, start: number): Hex | undefined {
  const word = bytesAt(text, start, 32);
  return word.startsWith('0'.repeat(24)) ? `0x${word.slice(24)}` : undefined;
}
