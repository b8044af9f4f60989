import { writeFileSync } from 'node:fs';
import { CommandError, mandatory, optional } from '@florin/cli';
import { encryptKeystore } from '@florin/signing';
import { bytesToHex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { Commands } from './command.ts';
import { readKeyFile, readSecretFile } from './secret-file.ts';

const leastPasswordLength = 12;

export const keystoreCommands: Commands = {
  'keystore create': {
    does: 'writes an encrypted keystore with a new or a given private key',
    examples: ['keystore create --out settler.json --password-file settler.password'],
    options: [
      mandatory('--out <file>', 'the keystore to write; it must not exist'),
      mandatory('--password-file <file>', 'holds the password'),
      optional('--key-file <file>', 'holds the private key to encrypt (default: a new key)'),
    ],
    async run(options, outside) {
      const out = options.required('out');
      const password = readSecretFile(options.required('password-file'));
      if (password.length < leastPasswordLength) {
        throw new CommandError(
          `the password is shorter than ${leastPasswordLength} characters: choose a longer one`,
        );
      }
      const keyFile = options.optional('key-file');
      const privateKey = keyFile === undefined ? bytesToHex(outside.random.bytes(32)) : readKeyFile(keyFile);
      const address = privateKeyToAddress(privateKey);
      const text = encryptKeystore(outside.random, { privateKey, password });
      try {
        // Never over an existing file: it may be the only copy of a key.
        writeFileSync(out, text, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        throw new CommandError(`${out} cannot be written: ${(error as Error).message}`);
      }
      return { text: `wrote ${out} with the key of ${address}`, json: { file: out, address } };
    },
  },
};
