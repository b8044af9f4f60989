import Type, { type Static } from 'typebox';
import { timestampText } from './schema.ts';

export const account = Type.Object({
  accountId: Type.String(),
  accountName: Type.String(),
  accountAddress: Type.String(),
  accountType: Type.Literal('EVM::ADDR'),
  settlementCurrencies: Type.Array(Type.String()),
  version: Type.String(),
  status: Type.Literal('normal'),
  createAt: timestampText,
  updateAt: timestampText,
});
export type Account = Static<typeof account>;

/** Collection accounts per merchant. */
export const maxAccounts = 20;
