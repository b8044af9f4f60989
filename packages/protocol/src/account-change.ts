import Type, { type Static } from 'typebox';
import { timestampText } from './schema.ts';

/**
 * A wallet that a merchant adds, or another address of an account. It counts only from `effectiveAt` on, so that a thief cannot
 * redirect money at once.
 */
export const accountChange = Type.Object({
  changeId: Type.String({ description: 'Prefix `acg_`' }),
  kind: Type.Enum(['add', 'address'], { description: '`address`: the account gets another address' }),
  status: Type.Enum(['waiting', 'done', 'cancelled', 'refused'], {
    description: '`waiting` until `effectiveAt`; `refused`: it could not take effect any more',
  }),
  accountName: Type.String(),
  accountAddress: Type.String({ description: 'Wallet that settlements will go to' }),
  previousAddress: Type.String({
    description:
      'The address that the account has before; empty for a wallet that is added, or when it is not known',
  }),
  settlementCurrencies: Type.Array(Type.String()),
  settlementMode: Type.Enum(['', 'escrow', 'direct']),
  isProven: Type.Boolean({ description: 'Whether the wallet signed that settlements may go to it' }),
  accountId: Type.String({ description: 'The account; empty while a wallet waits to become one' }),
  effectiveAt: timestampText,
  createAt: timestampText,
});
export type AccountChange = Static<typeof accountChange>;

/** Changes of a merchant's wallets that their list shows. */
export const maxListedChanges = 100;
