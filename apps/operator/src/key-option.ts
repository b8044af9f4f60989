import { readFileSync } from 'node:fs';
import { CommandError, type Options, optional, UsageError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { readRemoteSigner } from '@florin/server/operator';
import { decryptKeystore, type SigningKey } from '@florin/signing';
import type { CommandContext } from './command.ts';
import { readSecretFile } from './secret-file.ts';

/** The options for the key of a role, such as `controller`: a keystore with its password, or a remote signer. */
export function keyOptions(role: string, does: string) {
  return [
    optional(`--${role}-keystore <file>`, `a keystore with ${does}`),
    optional(`--${role}-password-file <file>`, `holds the password of --${role}-keystore`),
    optional(
      `--${role}-signer <file>`,
      `instead: a remote signer, as signer.order of the configuration has it`,
    ),
  ];
}

/** A role's key; undefined when none is named. Throws for a file or a password that is wrong. */
export function roleKey(options: Options, role: string, { clock }: CommandContext): SigningKey | undefined {
  const signer = options.optional(`${role}-signer`);
  if (signer === undefined) return keystoreKey(options, role);
  if (options.optional(`${role}-keystore`) !== undefined)
    throw new UsageError(`give --${role}-signer or --${role}-keystore, not both`);
  return readRemoteSigner(signer, clock);
}

function keystoreKey(options: Options, role: string): Hex | undefined {
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
