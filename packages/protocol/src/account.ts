import Type, { type Static } from 'typebox';
import { timestampText } from './schema.ts';

export const account = Type.Object({
  accountId: Type.String({ description: 'Prefix `acc_`' }),
  accountName: Type.String({ description: 'Name given by the merchant or the operator' }),
  accountAddress: Type.String({ description: 'Wallet that settlements go to' }),
  accountType: Type.Literal('EVM::ADDR'),
  settlementCurrencies: Type.Array(Type.String()),
  version: Type.String({ description: 'Distinguishes an account from a later one with the same address' }),
  status: Type.Literal('normal'),
  /** Additive. */
  settlementMode: Type.Union([Type.Literal(''), Type.Literal('escrow'), Type.Literal('direct')], {
    description:
      'How payments in the settlement token reach the wallet: `escrow`, settled after they are final; `direct`, in ' +
      'the payer’s own transaction. Empty: the installation’s default',
  }),
  createAt: timestampText,
  updateAt: timestampText,
});
export type Account = Static<typeof account>;

/** Collection accounts per merchant. */
export const maxAccounts = 20;
