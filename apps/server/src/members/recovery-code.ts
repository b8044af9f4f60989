import { hash } from 'node:crypto';
import type { Transaction } from '@florin/pg';
import { randomBase62 } from '@florin/protocol/id.ts';
import type { MemberContext } from './context.ts';
import { deleteRecoveryCodes, insertRecoveryCodes } from './user.sql.ts';

const codeCount = 10;
/** Crockford's base32: no letter looks like a digit. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
/** 100 bits. */
const codeLength = 20;

/** Replaces a person's recovery codes. Each signs in once; they are shown this once. */
export async function renewRecoveryCodes(
  transaction: Transaction,
  deps: Pick<MemberContext, 'random'>,
  userId: string,
): Promise<string[]> {
  const codes = Array.from({ length: codeCount }, () => newCode(deps.random.bytes(codeLength)));
  await transaction.query(deleteRecoveryCodes, { userId });
  await transaction.query(insertRecoveryCodes, {
    userId,
    ids: codes.map(() => randomBase62(deps.random.bytes)),
    codeHashes: codes.map(hashOfRecoveryCode),
  });
  return codes;
}

/** Four groups of five characters. */
function newCode(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join('');
  return (letters.match(/.{5}/g) ?? []).join('-');
}

/** What is stored of a code. Spaces, dashes and the case of letters do not count. */
export function hashOfRecoveryCode(code: string): string {
  return hash('sha256', code.toLowerCase().replaceAll(/[\s-]/g, ''));
}
