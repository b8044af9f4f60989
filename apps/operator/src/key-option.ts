import { readFileSync } from 'node:fs';
import { CommandError, type Options, optional, UsageError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { decryptKeystore } from '@florin/signing';
import { readSecretFile } from './secret-file.ts';

/** The options for the keystore of a role, such as `controller`, and for its password. */
export function keystoreOptions(role: string, does: string) {
  return [
    optional(`--${role}-keystore <file>`, `a keystore with ${does}`),
    optional(`--${role}-password-file <file>`, `holds the password of --${role}-keystore`),
  ];
}

/** The private key in a role's keystore; undefined when none is named. Throws for a file or a password that is wrong. */
export function keystoreKey(options: Options, role: string): Hex | undefined {
  const file = options.optional(`${role}-keystore`);
  const passwordFile = options.optional(`${role}-password-file`);
  if (file === undefined && passwordFile === undefined) return undefined;
  if (file === undefined || passwordFile === undefined)
    throw new UsageError(`--${role}-keystore and --${role}-password-file need each other`);
  const password = readSecretFile(passwordFile);
  let keystore: unknown;
  try {
    keystore = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CommandError(`${file} is no keystore: ${(error as Error).message}`);
  }
  try {
    return decryptKeystore(keystore, password);
  } catch (error) {
    throw new CommandError(`${file} cannot be opened: ${(error as Error).message}`);
  }
}
