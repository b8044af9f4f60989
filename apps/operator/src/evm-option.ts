import { type Options, UsageError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { getAddress, isAddress, zeroAddress } from 'viem';

/** A required option that is an address and not zero; mixed case must be its checksum. */
export function addressOption(options: Options, name: string): Hex {
  const text = options.required(name);
  if (!isAddress(text) || text === zeroAddress) {
    throw new UsageError(`--${name} is ${text}: give an EVM address with its checksum`);
  }
  return getAddress(text);
}
