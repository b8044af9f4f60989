import { readFileSync } from 'node:fs';
import { CommandError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { isHex, size } from 'viem';

/** The text of a file with one secret, without the final line end. */
export function readSecretFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** A private key from a file: 64 hexadecimal digits, with or without 0x. */
export function readKeyFile(path: string): Hex {
  const text = readSecretFile(path).trim();
  const key = text.startsWith('0x') ? text : `0x${text}`;
  if (!isHex(key) || size(key) !== 32 || key.length !== 66) {
    throw new CommandError(`${path} must hold one private key of 64 hexadecimal digits`);
  }
  return key;
}
