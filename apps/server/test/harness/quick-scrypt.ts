import assert from 'node:assert/strict';
import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** What production asks for: 32 MiB for a password, and 256 MiB for the key of a keystore, as geth does. */
const costs = [
  { N: 16_384, r: 16, p: 1 },
  { N: 262_144, r: 8, p: 1 },
];
const original = { scrypt: crypto.scrypt, scryptSync: crypto.scryptSync };
let users = 0;

function quick({ N, r, p }: ScryptOptions): ScryptOptions {
  assert.ok(
    costs.some((cost) => cost.N === N && cost.r === r && cost.p === p),
    `production does not ask for ${JSON.stringify({ N, r, p })}`,
  );
  return { N: 2, r: 1, p: 1 };
}

/**
 * Until the returned function is called, scrypt takes production's costs alone, and calculates with a low one. A password
 * takes an eighth of a processor second, and a keystore a whole one.
 */
export function quickenScrypt(): () => void {
  users += 1;
  Object.assign(crypto, {
    scrypt: (
      password: BinaryLike,
      salt: BinaryLike,
      length: number,
      options: ScryptOptions,
      done: (error: Error | null, key: Buffer) => void,
    ) => original.scrypt(password, salt, length, quick(options), done),
    scryptSync: (password: BinaryLike, salt: BinaryLike, length: number, options: ScryptOptions) =>
      original.scryptSync(password, salt, length, quick(options)),
  });
  syncBuiltinESMExports();
  return () => {
    users -= 1;
    if (users > 0) return;
    Object.assign(crypto, original);
    syncBuiltinESMExports();
  };
}
